//! What developers do in their teams. Every function checks here whether the developer belongs to the team: to others the
//! team, and all that it owns, does not exist.

mod clients;
mod invitations;
mod members;
mod notices;
mod requests;
mod subscriptions;
mod webhooks;

use std::time::Duration;

use domain::{AccountId, ErrorCode, TeamId};
use store::{Actor, AuditContext, ListedMember, Status, Team, TeamMember, TeamRole};

use super::approval::ApprovalSettings;
use super::{Admin, AdminError, Permission, Result};

pub use clients::{RedirectUri, RedirectUriState, TeamClient};
pub use webhooks::{TeamWebhook, TeamWebhookFilter, TeamWebhookPage, WebhookContent};

/// The longest time for which a developer may leave a replaced key or secret valid.
pub const OVERLAP_MAX: Duration = Duration::from_hours(168);

/// A developer who acts in their teams.
#[derive(Clone, Debug)]
pub struct DeveloperAdmin {
    admin: Admin,
    context: AuditContext,
    developer: AccountId,
    approval: ApprovalSettings,
}

impl DeveloperAdmin {
    /// `context` has the address and the id of the developer's request.
    pub fn new(
        admin: &Admin,
        developer: AccountId,
        context: &AuditContext,
        approval: ApprovalSettings,
    ) -> Self {
        let context = context.by(Actor::Developer(developer.clone()));
        Self { admin: admin.clone(), context, developer, approval }
    }

    /// An operator who acts for a developer; the audit names the operator.
    pub fn on_behalf(admin: &Admin, developer: AccountId, approval: ApprovalSettings) -> Result<Self> {
        let context = admin.require(Permission::Keys)?.clone();
        Ok(Self { admin: admin.clone(), context, developer, approval })
    }

    pub(super) fn admin(&self) -> &Admin {
        &self.admin
    }

    pub(super) fn context(&self) -> &AuditContext {
        &self.context
    }

    /// The developer's teams, with the developer's role in each.
    pub async fn teams(&self) -> Result<Vec<(Team, TeamRole)>> {
        Ok(self.admin.store.developer_teams(&self.developer).await?)
    }

    /// A team of the developer.
    pub async fn team(&self, team: &str) -> Result<Team> {
        self.require_member(team).await?;
        self.admin.team(team).await
    }

    pub async fn members(&self, team: &str) -> Result<Vec<ListedMember>> {
        let member = self.require_member(team).await?;
        Ok(self.admin.store.team_members(&member.team).await?)
    }

    /// The developer is a member of the team.
    async fn require_member(&self, team: &str) -> Result<TeamMember> {
        let member = self.admin.store.find_team_member(&TeamId::new(team), &self.developer).await?;
        let account = self.admin.store.find_account(&self.developer).await?;
        let is_active = account.is_some_and(|account| account.status == Status::Active);
        member.filter(|_| is_active).ok_or_else(|| AdminError::NotFound(format!("team \"{team}\"")))
    }

    /// The developer is an owner of the team.
    async fn require_owner(&self, team: &str) -> Result<TeamMember> {
        let member = self.require_member(team).await?;
        if member.role == TeamRole::Owner {
            return Ok(member);
        }
        Err(AdminError::Forbidden(format!("only an owner of team \"{team}\" can do this")))
    }

    /// The developer is a member of the team that owns something; to others it does not exist.
    async fn require_member_of(
        &self,
        team: Option<&TeamId>,
        what: impl Fn() -> String,
    ) -> Result<TeamMember> {
        let Some(team) = team else { return Err(AdminError::NotFound(what())) };
        match self.require_member(team.as_str()).await {
            Err(AdminError::NotFound(_)) => Err(AdminError::NotFound(what())),
            found => found,
        }
    }

    /// A disabled team changes nothing.
    async fn require_active(&self, team: Option<&TeamId>) -> Result<()> {
        let Some(team) = team else { return Ok(()) };
        if self.admin.team(team.as_str()).await?.status == Status::Active {
            return Ok(());
        }
        let why = format!("team \"{team}\" is disabled; ask the operator");
        Err(AdminError::Conflict { code: ErrorCode::TeamDisabled, why })
    }
}

fn checked_overlap(overlap: Duration) -> Result<Duration> {
    if overlap <= OVERLAP_MAX {
        return Ok(overlap);
    }
    let hours = OVERLAP_MAX.as_secs() / 3600;
    Err(AdminError::Invalid(format!("the old one may stay valid for {hours} hours at most")))
}
