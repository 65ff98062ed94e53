//! Teams and their members in memory.

use async_trait::async_trait;
use domain::subscription::Products;
use domain::{AccountId, Random, Realm, TeamId};

use super::{MemoryStore, State};
use crate::audit::Act;
use crate::teams::{MemberWrite, decide_member};
use crate::{
    AuditContext, Client, LIST_ROWS_MAX, ListFilter, ListPage, ListQuery, ListedMember, MemberStep, Result,
    SandboxClients, Status, StoreError, Subscription, Team, TeamMember, TeamMemberChange, TeamMemberOutcome,
    TeamRole, TeamUpdate, Teams, UpdateOutcome,
};

impl State {
    pub(super) fn is_team_active(&self, id: &TeamId) -> bool {
        self.teams.get(id.as_str()).is_some_and(|team| team.status == Status::Active)
    }

    /// All sandboxes by tenant, with the clients that they are open to.
    pub(super) fn sandbox_clients(&self) -> Vec<SandboxClients> {
        let sandboxes = self.tenants.values().filter_map(|one| Some((one, one.sandbox_of.as_ref()?)));
        let clients_of = |team: &TeamId| {
            let clients = self.clients.values().map(|stored| &stored.client);
            let own = clients.filter(|client| client.team.as_ref() == Some(team));
            own.map(|client| (client.id.clone(), self.sandbox_products(team))).collect()
        };
        let mut all: Vec<SandboxClients> = sandboxes
            .map(|(tenant, team)| {
                let clients = if self.is_team_active(team) { clients_of(team) } else { Vec::new() };
                SandboxClients { tenant: tenant.id.clone(), clients }
            })
            .collect();
        all.sort_by(|one, other| one.tenant.cmp(&other.tenant));
        all
    }

    /// The products of all active subscriptions of a team.
    fn sandbox_products(&self, team: &TeamId) -> Products {
        let active = self.subscriptions.values().filter(|one| {
            one.team.as_ref() == Some(team) && one.status == Status::Active && one.cancelled_at.is_none()
        });
        active.fold(Products::default(), |sum, one| sum.union(one.products))
    }

    /// The products of the active subscriptions of the client's team that open a tenant that is no sandbox; None: the client
    /// belongs to no team.
    pub(super) fn team_products(&self, client: &Client) -> Option<Products> {
        if client.is_sandbox {
            return Some(Products::default());
        }
        let team = client.team.as_ref()?;
        if !self.is_team_active(team) {
            return Some(Products::default());
        }
        let is_active = |one: &&Subscription| {
            one.team.as_ref() == Some(team)
                && one.status == Status::Active
                && one.cancelled_at.is_none()
                && !one.is_sandbox
        };
        let active = self.subscriptions.values().filter(is_active);
        Some(active.fold(Products::default(), |sum, one| sum.union(one.products)))
    }

    /// Changes the members of a team, and audits it.
    pub(super) fn change_member(
        &mut self,
        random: &dyn Random,
        one: &TeamMemberChange,
        act: &Act,
    ) -> TeamMemberOutcome {
        if !self.teams.contains_key(one.team.as_str()) {
            return TeamMemberOutcome::TeamNotFound;
        }
        let account = self.accounts.get(one.account.as_str());
        let is_developer = account.is_some_and(|account| account.realm == Realm::Developers);
        if matches!(one.step, MemberStep::Add(_)) && !is_developer {
            return TeamMemberOutcome::AccountNotFound;
        }
        let members: Vec<TeamMember> =
            self.team_members.values().filter(|member| member.team == one.team).cloned().collect();
        let key = (one.team.clone(), one.account.clone());
        let (after, entry) = match decide_member(&members, one, act.at) {
            MemberWrite::Nothing(outcome) => return outcome,
            MemberWrite::Insert(new) => {
                self.team_members.insert(key, new.clone());
                let entry = act.team_member_added(&new);
                (new, entry)
            }
            MemberWrite::Update { before, after } => {
                self.team_members.insert(key, after.clone());
                let entry = act.team_member_changed(&before, &after);
                (after, entry)
            }
            MemberWrite::Delete(gone) => {
                self.team_members.remove(&key);
                self.notice_settings.remove(&key);
                let entry = act.team_member_removed(&gone);
                (gone, entry)
            }
        };
        self.append_audit(random, entry);
        TeamMemberOutcome::Done(after)
    }
}

#[async_trait]
impl Teams for MemoryStore {
    async fn add_team(&self, team: &Team, context: &AuditContext) -> Result<()> {
        let mut state = self.state_mut()?;
        if state.teams.contains_key(team.id.as_str()) {
            return Err(StoreError::Exists(format!("a team \"{}\"", team.id)));
        }
        state.teams.insert(team.id.as_str().into(), team.clone());
        state.append_audit(&*self.ports.random, self.act(context).team_added(team));
        Ok(())
    }

    async fn find_team(&self, id: &TeamId) -> Result<Option<Team>> {
        Ok(self.state().teams.get(id.as_str()).cloned())
    }

    async fn list_teams(&self, filter: &ListFilter, query: &ListQuery) -> Result<ListPage<Team>> {
        Ok(filter.page_of_all(query, self.state().teams.values()))
    }

    async fn update_team(
        &self,
        id: &TeamId,
        update: &TeamUpdate,
        expected_revision: Option<u64>,
        context: &AuditContext,
    ) -> Result<UpdateOutcome<Team>> {
        let mut state = self.state_mut()?;
        self.invalidation.access_changed();
        let Some(team) = state.teams.get_mut(id.as_str()) else {
            return Ok(UpdateOutcome::NotFound);
        };
        if expected_revision.is_some_and(|expected| expected != team.revision) {
            return Ok(UpdateOutcome::RevisionConflict);
        }
        let before = team.clone();
        team.name = update.name.clone().unwrap_or_else(|| team.name.clone());
        team.status = update.status.unwrap_or(team.status);
        team.revision += 1;
        let after = team.clone();
        state.append_audit(&*self.ports.random, self.act(context).team_changed(&before, &after));
        Ok(UpdateOutcome::Updated(after))
    }

    async fn change_team_member(
        &self,
        change: &TeamMemberChange,
        context: &AuditContext,
    ) -> Result<TeamMemberOutcome> {
        let act = self.act(context);
        Ok(self.state_mut()?.change_member(&*self.ports.random, change, &act))
    }

    async fn find_team_member(&self, team: &TeamId, account: &AccountId) -> Result<Option<TeamMember>> {
        Ok(self.state().team_members.get(&(team.clone(), account.clone())).cloned())
    }

    async fn team_members(&self, team: &TeamId) -> Result<Vec<ListedMember>> {
        let state = self.state();
        let of_team = state.team_members.values().filter(|member| member.team == *team);
        let mut listed: Vec<ListedMember> = of_team
            .filter_map(|member| {
                let account = state.accounts.get(member.account.as_str())?;
                Some(ListedMember {
                    member: member.clone(),
                    email: account.email.clone(),
                    given_name: account.given_name.clone(),
                    status: account.status,
                })
            })
            .collect();
        listed.sort_by_key(|listed| (listed.member.created_at, listed.member.account.clone()));
        Ok(listed)
    }

    async fn developer_teams(&self, account: &AccountId) -> Result<Vec<(Team, TeamRole)>> {
        let state = self.state();
        let of_account = state.team_members.values().filter(|member| member.account == *account);
        let teams = of_account
            .filter_map(|member| Some((state.teams.get(member.team.as_str())?.clone(), member.role)));
        Ok(teams.take(LIST_ROWS_MAX).collect())
    }
}
