//! The open invitations of a developer's team. An owner sends one again or revokes it.

use domain::TeamId;
use store::{Invitation, InvitationFilter, ListPage, ListQuery};

use super::DeveloperAdmin;
use crate::admin::{AdminError, Result, SentInvitation};

impl DeveloperAdmin {
    /// The invitations into the team that nobody has accepted or revoked, oldest first; the link of some may have expired.
    pub async fn invitations(&self, team: &str, query: &ListQuery) -> Result<ListPage<Invitation>> {
        let member = self.require_member(team).await?;
        let filter = InvitationFilter { team: Some(member.team), ..InvitationFilter::default() };
        let mut page = self.admin.invitations(&filter, query).await?;
        page.rows.retain(Invitation::is_open);
        Ok(page)
    }

    /// Sends an invitation into the team with a new link; the old one is void.
    pub async fn resend_invitation(&self, team: &str, id: &str) -> Result<SentInvitation> {
        self.require_invitation(team, id).await?;
        self.admin.resend_invitation_as(id, &self.context).await
    }

    pub async fn revoke_invitation(&self, team: &str, id: &str) -> Result<Invitation> {
        self.require_invitation(team, id).await?;
        self.admin.revoke_invitation_as(id, &self.context).await
    }

    /// The developer is an owner of the team, and the invitation is into it.
    async fn require_invitation(&self, team: &str, id: &str) -> Result<()> {
        let member = self.require_owner(team).await?;
        let invitation = self.admin.invitation(id).await?;
        if TeamId::new(invitation.team.as_str()) == member.team {
            return Ok(());
        }
        Err(AdminError::NotFound(format!("invitation \"{id}\"")))
    }
}
