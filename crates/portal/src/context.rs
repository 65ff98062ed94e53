//! The context of a request for a team's page: who asks, for which team, in which language and format.

use std::sync::Arc;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::header::ACCEPT;
use axum::http::request::Parts;
use domain::Ticks;
use identity::Visitor;
use operator::admin::{DeveloperAdmin, SandboxAdmin};
use store::{Team, TeamRole};
use ui::Lang;

use crate::Portal;
use crate::error::PortalError;
use crate::params::Params;
use crate::response::Response;

/// How the response is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Html,
    Json,
    Csv,
    /// Server-sent events: one whenever the page has changed.
    Events,
}

impl Format {
    fn of(parts: &Parts, query: &Params) -> Self {
        let accept = parts.headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
        match query.get("format") {
            Some("csv") => Self::Csv,
            Some("json") => Self::Json,
            Some("events") => Self::Events,
            _ if accept.starts_with("application/json") => Self::Json,
            _ => Self::Html,
        }
    }
}

/// A signed-in developer's request for a page of one of their teams.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    pub(crate) portal: Arc<Portal>,
    pub(crate) visitor: Visitor,
    pub(crate) team: Team,
    pub(crate) role: TeamRole,
    /// All teams of the developer.
    pub(crate) teams: Vec<(Team, TeamRole)>,
    pub(crate) query: Params,
    pub(crate) format: Format,
    pub(crate) request_id: String,
    pub(crate) now: Ticks,
    /// Counted for pages with a navigation alone.
    pub(crate) unread_notices: usize,
    path_params: Vec<(String, String)>,
    pub(crate) parts: Parts,
}

impl FromRequestParts<Arc<Portal>> for Context {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, portal: &Arc<Portal>) -> Result<Self, Response> {
        let raw = RawPathParams::from_request_parts(parts, portal).await;
        let path_params: Vec<(String, String)> = raw
            .map(|params| params.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
            .unwrap_or_default();
        let query = Params::parse(parts.uri.query().unwrap_or_default().as_bytes());
        let format = Format::of(parts, &query);
        match Self::build(parts, portal, path_params, query, format).await {
            Ok(context) => Ok(context),
            Err(error) => Err(portal.anonymous_error(parts, format, error).await),
        }
    }
}

impl Context {
    async fn build(
        parts: &mut Parts,
        portal: &Arc<Portal>,
        path_params: Vec<(String, String)>,
        query: Params,
        format: Format,
    ) -> Result<Self, PortalError> {
        let visitor = portal.pages.visitor(parts).await?.ok_or(PortalError::SignIn)?;
        let teams = portal.developer(&visitor).teams().await?;
        let named = path_params.iter().find(|(name, _)| name == "team").map(|(_, id)| id.as_str());
        let own = teams.iter().find(|(team, _)| Some(team.id.as_str()) == named);
        let (team, role) = own.cloned().ok_or(PortalError::NotFound)?;
        let unread_notices = if format == Format::Html {
            portal.developer(&visitor).unread_notices(team.id.as_str()).await?
        } else {
            0
        };
        let request = parts.extensions.get::<web::RequestContext>();
        Ok(Self {
            portal: portal.clone(),
            visitor,
            team,
            role,
            teams,
            query,
            format,
            request_id: request.map(|request| request.id.as_str().to_owned()).unwrap_or_default(),
            now: portal.ports.clock.now(),
            unread_notices,
            path_params,
            parts: parts.clone(),
        })
    }

    pub(crate) fn lang(&self) -> Lang {
        self.visitor.lang
    }

    /// What the developer may do; every function of it checks the team again.
    pub(crate) fn developer(&self) -> DeveloperAdmin {
        self.portal.developer(&self.visitor)
    }

    /// The same for the sandboxes of the developer's teams.
    pub(crate) fn sandboxes(&self) -> SandboxAdmin {
        SandboxAdmin::new(&self.developer(), &self.portal.settings.sandbox)
    }

    pub(crate) fn is_owner(&self) -> bool {
        self.role == TeamRole::Owner
    }

    /// A segment of the path, by its name in the route.
    pub(crate) fn segment(&self, name: &str) -> &str {
        self.path_params.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value)
    }

    /// The path of a page of this team: `webhooks`, for example.
    pub(crate) fn team_path(&self, page: &str) -> String {
        team_path(&self.portal, &self.team, page)
    }

    /// This page's path.
    pub(crate) fn path(&self) -> &str {
        self.parts.uri.path()
    }

    /// This page with other parameters.
    pub(crate) fn here<'a>(
        &self,
        without: &[&str],
        plus: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> String {
        let query = self.query.with(&[without, &["done"]].concat(), plus);
        if query.is_empty() { self.path().to_owned() } else { format!("{}?{query}", self.path()) }
    }

    /// For actions that reveal or destroy.
    pub(crate) fn require_fresh(&self) -> Result<(), PortalError> {
        if self.visitor.is_fresh { Ok(()) } else { Err(PortalError::Reauthenticate) }
    }
}

pub(crate) fn team_path(portal: &Portal, team: &Team, page: &str) -> String {
    format!("{}/teams/{}/{page}", portal.base_path(), team.id)
}

impl Portal {
    pub(crate) fn developer(&self, visitor: &Visitor) -> DeveloperAdmin {
        let (account, audit) = (visitor.account.id.clone(), &visitor.audit);
        DeveloperAdmin::new(&self.ports.admin, account, audit, self.settings.approval)
    }
}
