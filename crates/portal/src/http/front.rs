//! `/`: the front page, open to everybody.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::request::Parts;
use pages::Response;

use crate::Portal;
use crate::views::front::FrontPage;

/// A store that does not answer for this long is not up.
const STORE_TIMEOUT: Duration = Duration::from_secs(2);

pub(crate) async fn get(State(portal): State<Arc<Portal>>, request: axum::extract::Request) -> Response {
    let (mut parts, _) = request.into_parts();
    let lang = portal.site.realm.lang(&mut parts).await;
    let page =
        FrontPage { is_up: is_up(&portal).await, is_signed_in: is_signed_in(&portal, &mut parts).await };
    pages::page(StatusCode::OK, portal.front_page(lang, &page))
}

async fn is_up(portal: &Portal) -> bool {
    tokio::time::timeout(STORE_TIMEOUT, portal.ports.store.health()).await.is_ok_and(|health| health.is_ok())
}

async fn is_signed_in(portal: &Portal, parts: &mut Parts) -> bool {
    portal.site.realm.visitor(parts).await.is_ok_and(|visitor| visitor.is_some())
}
