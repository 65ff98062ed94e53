//! Teams of developers, as the operator manages them.

use domain::{AccountId, ErrorCode, Realm, TeamId};
use store::{
    Account, FIRST_REVISION, ListFilter, ListPage, ListQuery, ListedMember, MemberStep, Status, Team,
    TeamMember, TeamMemberChange, TeamMemberOutcome, TeamRole, TeamUpdate,
};

use super::{Admin, AdminError, Permission, Result, check_revision, updated};
use crate::checks::{checked_id, checked_name};

impl Admin {
    /// Adds a team. It has no members yet.
    pub async fn add_team(&self, id: Option<&str>, name: &str) -> Result<Team> {
        let context = self.require(Permission::Accounts)?;
        let id = match id {
            Some(id) => TeamId::new(checked_id("a team id", id)?),
            None => TeamId::from(self.random.guid()),
        };
        let team = Team {
            id,
            name: checked_name(name)?,
            status: Status::Active,
            created_at: self.now(),
            revision: FIRST_REVISION,
        };
        self.store.add_team(&team, context).await?;
        Ok(team)
    }

    pub async fn teams(&self, filter: &ListFilter, query: &ListQuery) -> Result<ListPage<Team>> {
        Ok(self.store.list_teams(filter, query).await?)
    }

    pub async fn team(&self, id: &str) -> Result<Team> {
        let team = self.store.find_team(&TeamId::new(id)).await?;
        team.ok_or_else(|| AdminError::NotFound(format!("team \"{id}\"")))
    }

    /// The id of a team that exists.
    pub(super) async fn existing_team(&self, id: Option<&str>) -> Result<Option<TeamId>> {
        match id {
            Some(id) => Ok(Some(self.team(id).await?.id)),
            None => Ok(None),
        }
    }

    /// Changes a team, if it has the expected revision (any by default).
    pub async fn update_team(
        &self,
        id: &str,
        mut update: TeamUpdate,
        expected_revision: Option<u64>,
    ) -> Result<Team> {
        let context = self.require(Permission::Accounts)?;
        let what = || format!("team \"{id}\"");
        if update == TeamUpdate::default() {
            let team = self.team(id).await?;
            check_revision(team.revision, expected_revision, what)?;
            return Ok(team);
        }
        update.name = update.name.as_deref().map(checked_name).transpose()?;
        let id = TeamId::new(id);
        updated(self.store.update_team(&id, &update, expected_revision, context).await?, what)
    }

    pub async fn set_team_status(&self, id: &str, status: Status) -> Result<Team> {
        self.update_team(id, TeamUpdate { status: Some(status), ..TeamUpdate::default() }, None).await
    }

    pub async fn team_members(&self, id: &str) -> Result<Vec<ListedMember>> {
        let team = self.team(id).await?;
        Ok(self.store.team_members(&team.id).await?)
    }

    /// Adds a developer to a team.
    pub async fn add_team_member(&self, team: &str, developer: &str, role: TeamRole) -> Result<TeamMember> {
        self.change_team_member(team, developer, MemberStep::Add(role)).await
    }

    pub async fn set_team_role(&self, team: &str, developer: &str, role: TeamRole) -> Result<TeamMember> {
        self.change_team_member(team, developer, MemberStep::SetRole(role)).await
    }

    pub async fn remove_team_member(&self, team: &str, developer: &str) -> Result<TeamMember> {
        self.change_team_member(team, developer, MemberStep::Remove).await
    }

    async fn change_team_member(&self, team: &str, developer: &str, step: MemberStep) -> Result<TeamMember> {
        let context = self.require(Permission::Accounts)?;
        let account = self.find_developer(developer).await?;
        let change = TeamMemberChange { team: TeamId::new(team), account: account.id.clone(), step };
        let outcome = self.store.change_team_member(&change, context).await?;
        changed_member(outcome, &change, &account.email)
    }

    /// The developer with this id or e-mail address.
    pub async fn find_developer(&self, name: &str) -> Result<Account> {
        let account = if name.contains('@') {
            self.store.find_account_by_email(Realm::Developers, &name.to_lowercase()).await?
        } else {
            let found = self.store.find_account(&AccountId::new(name)).await?;
            found.filter(|account| account.realm == Realm::Developers)
        };
        account.ok_or_else(|| AdminError::NotFound(format!("developer \"{name}\"")))
    }

    /// The teams of a developer.
    pub async fn developer_teams(&self, developer: &Account) -> Result<Vec<(Team, TeamRole)>> {
        Ok(self.store.developer_teams(&developer.id).await?)
    }
}

/// The member after a change, or why nothing changed.
pub(super) fn changed_member(
    outcome: TeamMemberOutcome,
    change: &TeamMemberChange,
    developer: &str,
) -> Result<TeamMember> {
    let team = &change.team;
    let conflict = |code, why: String| Err(AdminError::Conflict { code, why });
    match outcome {
        TeamMemberOutcome::Done(member) => Ok(member),
        TeamMemberOutcome::TeamNotFound => Err(AdminError::NotFound(format!("team \"{team}\""))),
        TeamMemberOutcome::AccountNotFound => Err(AdminError::NotFound(format!("developer \"{developer}\""))),
        TeamMemberOutcome::NotMember => {
            Err(AdminError::NotFound(format!("member \"{developer}\" of team \"{team}\"")))
        }
        TeamMemberOutcome::AlreadyMember => {
            conflict(ErrorCode::Exists, format!("\"{developer}\" is a member of team \"{team}\" already"))
        }
        TeamMemberOutcome::LastOwner => conflict(
            ErrorCode::LastOwner,
            format!(
                "\"{developer}\" is the last owner of team \"{team}\"; make another member an owner first"
            ),
        ),
        TeamMemberOutcome::Full => conflict(
            ErrorCode::TooManyMembers,
            format!("team \"{team}\" has {} members, as many as it may have", store::TEAM_MEMBERS_MAX),
        ),
    }
}
