//! The invitation of the first operator, who has no account yet and whom nobody can invite.

use domain::{OperatorRole, Realm, Secret};
use store::{INVITATION_LIFE, Invitation, InvitationFilter, InvitationLink, InvitationState, ListQuery};

use super::{Admin, Permission, Result};

const ONE: ListQuery = ListQuery { after: None, rows_max: 1 };

impl Admin {
    /// The link with which the first operator makes an account with the role `admin`. None where an operator exists or is
    /// invited already.
    pub async fn invite_first_operator(&self) -> Result<Option<Secret>> {
        let context = self.require(Permission::Accounts)?;
        let operators = self.store.list_accounts(Realm::Operators, &ONE).await?;
        let filter =
            InvitationFilter { realm: Some(Realm::Operators), state: Some(InvitationState::Pending) };
        let invited = self.store.list_invitations(filter, self.now(), &ONE).await?;
        if !operators.rows.is_empty() || !invited.rows.is_empty() {
            return Ok(None);
        }
        let (now, token) = (self.now(), self.secret());
        let invitation = Invitation {
            id: self.random.guid().into(),
            realm: Realm::Operators,
            // Nobody knows it yet: the person chooses it.
            email: String::new(),
            name: String::new(),
            lang: "es".into(),
            tenants: Vec::new(),
            role: Some(OperatorRole::Admin),
            team: String::new(),
            is_team_owner: false,
            invited_by: context.actor.clone(),
            created_at: now,
            expires_at: now + INVITATION_LIFE,
            accepted_at: None,
            revoked_at: None,
        };
        let link = InvitationLink { token: &token, expires_at: invitation.expires_at, mail: None };
        self.store.make_invitation(&invitation, &link, context).await?;
        Ok(Some(self.links.invitation_url(Realm::Operators, &token)))
    }
}
