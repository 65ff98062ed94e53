//! The context of a request for a team's page: who asks, and for which team.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use identity::Visitor;
use operator::admin::{DeveloperAdmin, SandboxAdmin};
use pages::webhooks::{Reader, WebhookPages};
use pages::{Format, PageError, PageRequest, Response};
use store::{Team, TeamRole};

use crate::Portal;
use crate::shell::Section;

/// A signed-in developer's request for a page of one of their teams.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    request: PageRequest,
    pub(crate) portal: Arc<Portal>,
    pub(crate) team: Team,
    pub(crate) role: TeamRole,
    /// All teams of the developer.
    pub(crate) teams: Vec<(Team, TeamRole)>,
    /// Counted for pages with a navigation alone.
    pub(crate) unread_notices: usize,
}

impl Deref for Context {
    type Target = PageRequest;

    fn deref(&self) -> &PageRequest {
        &self.request
    }
}

impl DerefMut for Context {
    fn deref_mut(&mut self) -> &mut PageRequest {
        &mut self.request
    }
}

impl FromRequestParts<Arc<Portal>> for Context {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, portal: &Arc<Portal>) -> Result<Self, Response> {
        match Self::build(parts, portal).await {
            Ok(context) => Ok(context),
            Err(error) => Err(portal.anonymous_error(parts, error).await),
        }
    }
}

impl Context {
    async fn build(parts: &mut Parts, portal: &Arc<Portal>) -> Result<Self, PageError> {
        let request = PageRequest::read(parts, &portal.site).await?;
        let developer = portal.developer(&request.visitor);
        let teams = developer.teams().await?;
        let named = request.segment("team");
        let own = teams.iter().find(|(team, _)| team.id.as_str() == named);
        let (team, role) = own.cloned().ok_or(PageError::NotFound)?;
        let unread_notices = if request.format == Format::Html {
            developer.unread_notices(team.id.as_str()).await?
        } else {
            0
        };
        Ok(Self { request, portal: portal.clone(), team, role, teams, unread_notices })
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

    /// The path of a page of this team: `webhooks`, for example.
    pub(crate) fn team_path(&self, page: &str) -> String {
        team_path(&self.portal, &self.team, page)
    }
}

impl WebhookPages for Context {
    const READER: Reader = Reader::Developer;
    const WEBHOOKS: Section = Section::Webhooks;

    fn webhooks_path(&self) -> String {
        self.team_path("webhooks")
    }

    fn application_path(&self, client: &str) -> String {
        self.team_path(&format!("applications/{client}"))
    }

    fn may_act_on_webhooks(&self) -> bool {
        true
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
