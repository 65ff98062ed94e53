//! The home of a team, and the way to it.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;

use crate::Portal;
use crate::context::{Context, Format, team_path};
use crate::error::PortalError;
use crate::pages::home::Home;
use crate::response::{self, Response};

/// `/portal/`: the developer's first team, or what to do without one.
pub(crate) async fn choose_team(State(portal): State<Arc<Portal>>, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    let result = async {
        let visitor = portal.pages.visitor(&mut parts).await?.ok_or(PortalError::SignIn)?;
        let teams = portal.developer(&visitor).teams().await?;
        Ok::<_, PortalError>(match teams.first() {
            Some((team, _)) => response::see_other(&team_path(&portal, team, "")),
            None => response::page(StatusCode::OK, portal.no_team_page(&visitor)),
        })
    };
    match result.await {
        Ok(response) => response,
        Err(error) => portal.anonymous_error(&mut parts, Format::Html, error).await,
    }
}

pub(crate) async fn get(context: &Context) -> Result<Response, PortalError> {
    Ok(context.show(&Home { team: context.team.name.clone() }))
}
