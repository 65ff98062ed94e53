//! What developers do in their teams. Every function checks here whether the developer belongs to the team: to others the
//! team, its members and its requests do not exist.

use domain::{AccountId, ClientId, Realm, RequestId, TeamId};
use store::{
    Actor, Approval, AskOutcome, AuditContext, Client, Consent, FIRST_REVISION, Invitation, InvitationState,
    ListPage, ListQuery, ListedMember, MemberStep, RequestDecision, RequestFilter, RequestKind, RequestState,
    Status, Team, TeamMember, TeamMemberChange, TeamRequest, TeamRole, TeamUpdate,
};

use super::approval::{ApprovalMode, ApprovalSettings, approval_mode};
use super::requests::{checked_text, no_request};
use super::teams::changed_member;
use super::{
    Admin, AdminError, NewInvitation, Permission, Result, SentInvitation, checked_products, updated,
};
use crate::checks::{check_redirect, checked_email, checked_name};

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

    pub async fn rename_team(&self, team: &str, name: &str) -> Result<Team> {
        self.require_owner(team).await?;
        let update = TeamUpdate { name: Some(checked_name(name)?), ..TeamUpdate::default() };
        let outcome = self.admin.store.update_team(&TeamId::new(team), &update, None, &self.context).await?;
        updated(outcome, || format!("team \"{team}\""))
    }

    pub async fn set_role(&self, team: &str, member: &AccountId, role: TeamRole) -> Result<TeamMember> {
        self.require_owner(team).await?;
        self.change_member(team, member, MemberStep::SetRole(role)).await
    }

    /// Removes a member. Everybody may leave; an owner may remove others.
    pub async fn remove_member(&self, team: &str, member: &AccountId) -> Result<TeamMember> {
        if *member == self.developer {
            self.require_member(team).await?;
        } else {
            self.require_owner(team).await?;
        }
        self.change_member(team, member, MemberStep::Remove).await
    }

    /// Invites a developer into the team. An invitation of somebody else for the same address stays.
    pub async fn invite(
        &self,
        team: &str,
        email: &str,
        lang: &str,
        role: TeamRole,
    ) -> Result<SentInvitation> {
        let member = self.require_owner(team).await?;
        let email = checked_email(email)?;
        let open = self.admin.store.find_open_invitation(Realm::Developers, &email).await?;
        let now = self.admin.now();
        let is_anothers = |open: &Invitation| {
            open.state(now) == InvitationState::Pending
                && open.team != member.team.as_str()
                && open.invited_by != Actor::Anonymous
        };
        if open.as_ref().is_some_and(is_anothers) {
            let why = format!("\"{email}\" is already invited; ask the operator to add them to the team");
            return Err(AdminError::Conflict { code: "already_invited", why });
        }
        let new = NewInvitation {
            realm: Realm::Developers,
            email,
            name: String::new(),
            lang: lang.to_owned(),
            tenants: Vec::new(),
            role: None,
            team: member.team.to_string(),
            is_team_owner: role == TeamRole::Owner,
        };
        self.admin.invite_as(new, &self.context).await
    }

    async fn change_member(&self, team: &str, member: &AccountId, step: MemberStep) -> Result<TeamMember> {
        let change = TeamMemberChange { team: TeamId::new(team), account: member.clone(), step };
        let outcome = self.admin.store.change_team_member(&change, &self.context).await?;
        changed_member(outcome, &change, member.as_str())
    }

    /// Asks for something in the name of the team. What is for the sandbox alone is approved at once where the configuration
    /// says so.
    pub async fn ask(&self, team: &str, kind: RequestKind, note: &str) -> Result<TeamRequest> {
        let member = self.require_member(team).await?;
        let request = TeamRequest {
            id: RequestId::from(self.admin.random.guid()),
            team: member.team,
            kind: checked_kind(kind)?,
            state: RequestState::Pending,
            note: checked_text("a note", note)?,
            asked_by: self.developer.clone(),
            created_at: self.admin.now(),
            decided_by: None,
            decided_at: None,
            reason: String::new(),
            result: None,
            revision: FIRST_REVISION,
        };
        asked(&self.admin.store.add_request(&request, &self.context).await?, &request)?;
        let client = self.named_client(&request.kind).await?;
        match approval_mode(&request.kind, self.approval, client.as_ref()) {
            ApprovalMode::NeedsOperator => Ok(request),
            ApprovalMode::Automatic => {
                let approval = Approval { is_automatic: true, ..self.admin.approval(Consent::Required) };
                let approval = RequestDecision::Approve(approval);
                let by_service = self.context.by(Actor::Service);
                let (id, expected) = (request.id.as_str(), Some(request.revision));
                // What the service cannot approve now waits for an operator.
                let decided = self.admin.decide_request(id, &approval, expected, &by_service).await;
                Ok(decided.unwrap_or(request))
            }
        }
    }

    async fn named_client(&self, kind: &RequestKind) -> Result<Option<Client>> {
        let RequestKind::RedirectUri { client, .. } = kind else { return Ok(None) };
        Ok(self.admin.store.find_client(client).await?)
    }

    /// Withdraws a pending request of one of the developer's teams.
    pub async fn withdraw(&self, id: &str) -> Result<TeamRequest> {
        self.request(id).await?;
        self.admin.decide_request(id, &RequestDecision::Withdraw, None, &self.context).await
    }

    /// A request of one of the developer's teams.
    pub async fn request(&self, id: &str) -> Result<TeamRequest> {
        let request = self.admin.request(id).await?;
        self.require_member(request.team.as_str()).await.map_err(|_| no_request(id))?;
        Ok(request)
    }

    /// The requests of a team, oldest first.
    pub async fn requests(
        &self,
        team: &str,
        state: Option<RequestState>,
        query: &ListQuery,
    ) -> Result<ListPage<TeamRequest>> {
        let member = self.require_member(team).await?;
        let filter = RequestFilter { team: Some(member.team), state };
        Ok(self.admin.store.list_requests(&filter, query).await?)
    }
}

/// What is asked for follows the rules that the operator's own clients and subscriptions follow.
fn checked_kind(kind: RequestKind) -> Result<RequestKind> {
    Ok(match kind {
        RequestKind::Client { name, redirect_uris, products, pkce, is_sandbox } => {
            if !(1..=store::REDIRECT_URIS_MAX).contains(&redirect_uris.len()) {
                let why = format!("a client has 1 to {} redirect addresses", store::REDIRECT_URIS_MAX);
                return Err(AdminError::Invalid(why));
            }
            redirect_uris.iter().try_for_each(|uri| check_redirect(uri))?;
            let (name, products) = (checked_name(&name)?, checked_products(products)?);
            RequestKind::Client { name, redirect_uris, products, pkce, is_sandbox }
        }
        RequestKind::RedirectUri { client, uri } => {
            check_redirect(&uri)?;
            RequestKind::RedirectUri { client: ClientId::new(client.as_str()), uri }
        }
        RequestKind::Subscription { name, product, is_sandbox } => {
            RequestKind::Subscription { name: checked_name(&name)?, product, is_sandbox }
        }
    })
}

fn asked(outcome: &AskOutcome, request: &TeamRequest) -> Result<()> {
    let team = &request.team;
    let conflict = |code, why: String| Err(AdminError::Conflict { code, why });
    match outcome {
        AskOutcome::Asked => Ok(()),
        AskOutcome::TeamNotFound => Err(AdminError::NotFound(format!("team \"{team}\""))),
        AskOutcome::TeamDisabled => {
            conflict("team_disabled", format!("team \"{team}\" is disabled; ask the operator"))
        }
        AskOutcome::ClientNotFound => {
            let RequestKind::RedirectUri { client, .. } = &request.kind else {
                return Err(AdminError::NotFound("client".into()));
            };
            Err(AdminError::NotFound(format!("client \"{client}\" of team \"{team}\"")))
        }
        AskOutcome::AlreadyRegistered => {
            conflict("exists", "the client has this redirect address already".into())
        }
        AskOutcome::TooMany => conflict(
            "too_many_requests",
            format!(
                "team \"{team}\" has {} pending requests; wait for a decision, or withdraw one",
                store::PENDING_REQUESTS_MAX
            ),
        ),
    }
}
