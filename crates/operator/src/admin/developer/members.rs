//! The members of a developer's team: roles, invitations, leaving.

use domain::{AccountId, ErrorCode, Realm, TeamId};
use store::{
    Actor, Invitation, InvitationState, MemberStep, Team, TeamMember, TeamMemberChange, TeamRole, TeamUpdate,
};

use super::DeveloperAdmin;
use crate::admin::teams::changed_member;
use crate::admin::{AdminError, NewInvitation, Result, SentInvitation, updated};
use crate::checks::{checked_email, checked_name};

impl DeveloperAdmin {
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
            return Err(AdminError::Conflict { code: ErrorCode::AlreadyInvited, why });
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
}
