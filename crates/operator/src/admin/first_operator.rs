//! The invitation of the first operator, who has no account yet and whom nobody can invite.

use domain::{OperatorRole, Realm, Secret};
use store::{
    Account, INVITATION_LIFE, Invitation, InvitationFilter, InvitationLink, InvitationState, LIST_ROWS_MAX,
    ListQuery, Status, StoreError,
};

use super::{Admin, Permission, Result};

const MANY: ListQuery = ListQuery { after: None, rows_max: LIST_ROWS_MAX };

impl Admin {
    /// The link with which the first operator makes an account with the role `admin`. None where an admin can sign in, or
    /// somebody is invited by name. A link of this kind that nobody has used is replaced: it may be lost.
    pub async fn invite_first_operator(&self) -> Result<Option<Secret>> {
        let context = self.require(Permission::Accounts)?;
        let operators = self.store.list_accounts(Realm::Operators, &MANY).await?;
        let is_usable =
            |one: &Account| one.role == Some(OperatorRole::Admin) && one.status != Status::Disabled;
        let filter = InvitationFilter {
            realm: Some(Realm::Operators),
            state: Some(InvitationState::Pending),
            ..InvitationFilter::default()
        };
        let invited = self.store.list_invitations(&filter, self.now(), &MANY).await?;
        let is_named = |one: &Invitation| !one.email.is_empty();
        if operators.rows.iter().any(is_usable) || invited.rows.iter().any(is_named) {
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
        match self.store.make_invitation(&invitation, &link, context).await {
            // Another node was faster, and logs its link.
            Err(StoreError::Exists(_)) => return Ok(None),
            made => made?,
        }
        Ok(Some(self.links.invitation_url(Realm::Operators, &token)))
    }
}
