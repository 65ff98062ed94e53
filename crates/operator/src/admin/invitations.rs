//! Invitations to accounts of every realm.

use domain::ids::InvitationId;
use domain::{ErrorCode, OperatorRole, Realm, Secret, TenantId};
use store::{
    AuditContext, INVITATION_LIFE, Invitation, InvitationFilter, InvitationLink, InvitationOutcome, ListPage,
    ListQuery,
};

use super::{Admin, AdminError, Permission, Result};
use crate::checks::{checked_email, checked_id, checked_lang, checked_name};

#[derive(Clone, Debug)]
pub struct NewInvitation {
    pub realm: Realm,
    pub email: String,
    /// May be empty.
    pub name: String,
    pub lang: String,
    /// For users.
    pub tenants: Vec<TenantId>,
    /// For operators; `admin` by default.
    pub role: Option<OperatorRole>,
    /// For developers; may be empty.
    pub team: String,
    pub is_team_owner: bool,
}

/// An invitation that was made or sent again.
#[derive(Clone, Debug)]
pub struct SentInvitation {
    pub invitation: Invitation,
    /// The link, where no mail carries it. It is shown this once.
    pub link: Option<Secret>,
}

impl Admin {
    /// Invites somebody. An open invitation for the same address is revoked.
    pub async fn invite(&self, new: NewInvitation) -> Result<SentInvitation> {
        self.invite_as(new, self.require(Permission::Accounts)?).await
    }

    /// The caller has checked that the actor may invite.
    pub(super) async fn invite_as(
        &self,
        new: NewInvitation,
        context: &AuditContext,
    ) -> Result<SentInvitation> {
        let now = self.now();
        let invitation = Invitation {
            id: InvitationId::from(self.random.guid()),
            invited_by: context.actor.clone(),
            created_at: now,
            expires_at: now + INVITATION_LIFE,
            accepted_at: None,
            revoked_at: None,
            ..checked(new)?
        };
        if !invitation.team.is_empty() {
            self.team(&invitation.team).await?;
        }
        for tenant in &invitation.tenants {
            let found = self.store.find_tenant(tenant).await?;
            if found.is_some_and(|tenant| tenant.sandbox_of.is_some()) {
                return Err(store::StoreError::SandboxApart.into());
            }
        }
        let sending = self.new_link(&invitation);
        let link = InvitationLink {
            token: &sending.token,
            expires_at: invitation.expires_at,
            mail: sending.mail.as_ref(),
        };
        self.store.make_invitation(&invitation, &link, context).await?;
        Ok(SentInvitation { invitation, link: sending.shown_link() })
    }

    pub async fn invitation(&self, id: &str) -> Result<Invitation> {
        let found = self.store.find_invitation(&InvitationId::new(id)).await?;
        found.ok_or_else(|| AdminError::NotFound(format!("invitation \"{id}\"")))
    }

    pub async fn invitations(
        &self,
        filter: &InvitationFilter,
        query: &ListQuery,
    ) -> Result<ListPage<Invitation>> {
        Ok(self.store.list_invitations(filter, self.now(), query).await?)
    }

    /// Sends an invitation with a new link, which works from now on; the old link is void.
    pub async fn resend_invitation(&self, id: &str) -> Result<SentInvitation> {
        self.resend_invitation_as(id, self.require(Permission::Accounts)?).await
    }

    /// The caller has checked that the actor may send it.
    pub(super) async fn resend_invitation_as(
        &self,
        id: &str,
        context: &AuditContext,
    ) -> Result<SentInvitation> {
        let expires_at = self.now() + INVITATION_LIFE;
        let invitation = Invitation { expires_at, ..self.invitation(id).await? };
        let sending = self.new_link(&invitation);
        let link = InvitationLink { token: &sending.token, expires_at, mail: sending.mail.as_ref() };
        let outcome = self.store.resend_invitation(&invitation.id, &link, context).await?;
        Ok(SentInvitation { invitation: changed(outcome, id)?, link: sending.shown_link() })
    }

    pub async fn revoke_invitation(&self, id: &str) -> Result<Invitation> {
        self.revoke_invitation_as(id, self.require(Permission::Accounts)?).await
    }

    /// The caller has checked that the actor may revoke it.
    pub(super) async fn revoke_invitation_as(&self, id: &str, context: &AuditContext) -> Result<Invitation> {
        changed(self.store.revoke_invitation(&InvitationId::new(id), context).await?, id)
    }

    fn new_link(&self, invitation: &Invitation) -> NewLink {
        let token = self.secret();
        let url = self.links.invitation_url(invitation.realm, &token);
        let mail = self.links.invitation_mail(invitation, &url, self.now());
        NewLink { token, url, mail }
    }
}

/// A link that is not stored yet.
struct NewLink {
    token: Secret,
    url: Secret,
    mail: Option<store::Mail>,
}

impl NewLink {
    /// The link, unless a mail carries it.
    fn shown_link(self) -> Option<Secret> {
        self.mail.is_none().then_some(self.url)
    }
}

/// The invitation with checked values; its id and times are the caller's.
fn checked(new: NewInvitation) -> Result<Invitation> {
    let NewInvitation { realm, email, name, lang, mut tenants, role, team, is_team_owner } = new;
    let only_for = |what: &str, people: &str| {
        Err(AdminError::Invalid(format!("{what} {people} alone; the invitation is for {}", realm.as_str())))
    };
    if realm != Realm::Users && !tenants.is_empty() {
        return only_for("tenants are for", "users");
    }
    if realm != Realm::Operators && role.is_some() {
        return only_for("a role is for", "operators");
    }
    if realm != Realm::Developers && (is_team_owner || !team.is_empty()) {
        return only_for("a team is for", "developers");
    }
    if is_team_owner && team.is_empty() {
        return Err(AdminError::Invalid("an owner needs the team that they own".into()));
    }
    tenants.sort_unstable();
    tenants.dedup();
    Ok(Invitation {
        id: InvitationId::new(""),
        realm,
        email: checked_email(&email)?,
        name: if name.trim().is_empty() { String::new() } else { checked_name(&name)? },
        lang: checked_lang(&lang)?,
        tenants,
        role: (realm == Realm::Operators).then_some(role.unwrap_or(OperatorRole::Admin)),
        team: if team.is_empty() { team } else { checked_id("a team's id", &team)? },
        is_team_owner,
        invited_by: store::Actor::default(),
        created_at: domain::Ticks(0),
        expires_at: domain::Ticks(0),
        accepted_at: None,
        revoked_at: None,
    })
}

fn changed(outcome: InvitationOutcome, id: &str) -> Result<Invitation> {
    match outcome {
        InvitationOutcome::Changed(invitation) => Ok(invitation),
        InvitationOutcome::NotFound => Err(AdminError::NotFound(format!("invitation \"{id}\""))),
        InvitationOutcome::Ended(invitation) => {
            let how = if invitation.accepted_at.is_some() { "accepted" } else { "revoked" };
            let why = format!("the invitation for \"{}\" was {how}; invite again instead", invitation.email);
            Err(AdminError::Conflict { code: ErrorCode::InvitationEnded, why })
        }
    }
}
