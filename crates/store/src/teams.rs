//! Teams of developers. A team owns clients and subscriptions; a subscription of a team opens only for its clients.

use async_trait::async_trait;
use domain::subscription::Products;
use domain::{AccountId, ClientId, TeamId, Ticks};

use crate::{AuditContext, ListFilter, ListPage, ListQuery, Result, Status, UpdateOutcome};

/// The largest number of members that a team may have.
pub const TEAM_MEMBERS_MAX: usize = 100;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Team {
    pub id: TeamId,
    pub name: String,
    /// The subscriptions of a disabled team open nothing, and its clients' webhooks are suspended.
    pub status: Status,
    pub created_at: Ticks,
    /// Incremented by every update.
    pub revision: u64,
}

/// Changes to a team; `None` leaves a property as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TeamUpdate {
    pub name: Option<String>,
    pub status: Option<Status>,
}

/// What a developer may do in a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TeamRole {
    /// Also changes the team and its members.
    Owner,
    Member,
}

impl TeamRole {
    pub const ALL: [Self; 2] = [Self::Owner, Self::Member];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Member => "member",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == name)
    }

    pub(crate) fn code(self) -> i64 {
        i64::from(self == Self::Owner)
    }

    pub(crate) fn from_code(code: i64) -> Self {
        if code == 1 { Self::Owner } else { Self::Member }
    }
}

/// A developer in a team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamMember {
    pub team: TeamId,
    pub account: AccountId,
    pub role: TeamRole,
    pub created_at: Ticks,
}

/// A member, and what a list shows of the account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedMember {
    pub member: TeamMember,
    pub email: String,
    pub given_name: String,
    pub status: Status,
}

/// What happens to a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberStep {
    Add(TeamRole),
    SetRole(TeamRole),
    Remove,
}

/// A change of a team's members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamMemberChange {
    pub team: TeamId,
    pub account: AccountId,
    pub step: MemberStep,
}

/// The outcome of a change of a team's members.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum TeamMemberOutcome {
    /// The member after the change; before it, where the member was removed.
    Done(TeamMember),
    TeamNotFound,
    /// There is no developer with this id.
    AccountNotFound,
    /// The developer is not a member of the team.
    NotMember,
    AlreadyMember,
    /// The team would be left without an owner; nothing changed.
    LastOwner,
    /// The team has as many members as it may have.
    Full,
}

/// What a store writes for a change of members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MemberWrite {
    Insert(TeamMember),
    Update {
        before: TeamMember,
        after: TeamMember,
    },
    Delete(TeamMember),
    /// Nothing is written.
    Nothing(TeamMemberOutcome),
}

/// Decides on a change, from all members of the team. A team that has an owner keeps one.
pub(crate) fn decide_member(members: &[TeamMember], change: &TeamMemberChange, now: Ticks) -> MemberWrite {
    let current = members.iter().find(|member| member.account == change.account);
    let is_other_owner =
        |member: &&TeamMember| member.role == TeamRole::Owner && member.account != change.account;
    let is_last_owner = current.is_some_and(|member| member.role == TeamRole::Owner)
        && !members.iter().any(|member| is_other_owner(&member));
    let refused = MemberWrite::Nothing;
    match (change.step, current) {
        (MemberStep::Add(_), Some(_)) => refused(TeamMemberOutcome::AlreadyMember),
        (MemberStep::Add(_), None) if members.len() >= TEAM_MEMBERS_MAX => refused(TeamMemberOutcome::Full),
        (MemberStep::Add(role), None) => MemberWrite::Insert(TeamMember {
            team: change.team.clone(),
            account: change.account.clone(),
            role,
            created_at: now,
        }),
        (MemberStep::SetRole(_) | MemberStep::Remove, None) => refused(TeamMemberOutcome::NotMember),
        (MemberStep::SetRole(role), Some(member)) if role == member.role => {
            refused(TeamMemberOutcome::Done(member.clone()))
        }
        (MemberStep::SetRole(_) | MemberStep::Remove, Some(_)) if is_last_owner => {
            refused(TeamMemberOutcome::LastOwner)
        }
        (MemberStep::SetRole(role), Some(before)) => {
            MemberWrite::Update { before: before.clone(), after: TeamMember { role, ..before.clone() } }
        }
        (MemberStep::Remove, Some(member)) => MemberWrite::Delete(member.clone()),
    }
}

/// The products that open for clients of teams, from rows of a client and the products of one of its team's active
/// subscriptions. Rows of one client are neighbours. Clients with all products are left out.
pub(crate) fn limited_by_team(
    rows: impl IntoIterator<Item = (ClientId, Option<Products>)>,
) -> Vec<(ClientId, Products)> {
    let mut clients: Vec<(ClientId, Products)> = Vec::new();
    for (client, products) in rows {
        let products = products.unwrap_or_default();
        match clients.last_mut().filter(|(last, _)| *last == client) {
            Some((_, sum)) => *sum = sum.union(products),
            None => clients.push((client, products)),
        }
    }
    clients.retain(|(_, products)| *products != Products::all());
    clients
}

/// Every mutation and its audit entry are one transaction.
#[async_trait]
pub trait Teams: Send + Sync + 'static {
    async fn add_team(&self, team: &Team, context: &AuditContext) -> Result<()>;
    async fn find_team(&self, id: &TeamId) -> Result<Option<Team>>;
    async fn list_teams(&self, filter: &ListFilter, query: &ListQuery) -> Result<ListPage<Team>>;
    /// Changes a team, if it has the expected revision (any by default).
    async fn update_team(
        &self,
        id: &TeamId,
        update: &TeamUpdate,
        expected_revision: Option<u64>,
        context: &AuditContext,
    ) -> Result<UpdateOutcome<Team>>;

    /// Adds, changes or removes a member. A team that has an owner keeps one.
    async fn change_team_member(
        &self,
        change: &TeamMemberChange,
        context: &AuditContext,
    ) -> Result<TeamMemberOutcome>;
    async fn find_team_member(&self, team: &TeamId, account: &AccountId) -> Result<Option<TeamMember>>;
    /// All members of a team, oldest first.
    async fn team_members(&self, team: &TeamId) -> Result<Vec<ListedMember>>;
    /// The teams of a developer, by id.
    async fn developer_teams(&self, account: &AccountId) -> Result<Vec<(Team, TeamRole)>>;
}

#[cfg(test)]
mod tests {
    use domain::subscription::Product;

    use super::*;

    fn member(account: &str, role: TeamRole) -> TeamMember {
        let (team, account) = (TeamId::new("panel"), AccountId::new(account));
        TeamMember { team, account, role, created_at: Ticks(1) }
    }

    fn decide(members: &[TeamMember], account: &str, step: MemberStep) -> MemberWrite {
        let change = TeamMemberChange { team: TeamId::new("panel"), account: AccountId::new(account), step };
        decide_member(members, &change, Ticks(9))
    }

    #[test]
    fn team_with_an_owner_keeps_one() {
        use MemberStep::{Add, Remove, SetRole};
        use TeamRole::{Member, Owner};
        let refused = MemberWrite::Nothing;
        let one = [member("ana", Owner), member("leo", Member)];
        assert_eq!(decide(&one, "ana", Remove), refused(TeamMemberOutcome::LastOwner));
        assert_eq!(decide(&one, "ana", SetRole(Member)), refused(TeamMemberOutcome::LastOwner));
        assert_eq!(decide(&one, "leo", Remove), MemberWrite::Delete(member("leo", Member)));
        let two = [member("ana", Owner), member("leo", Owner)];
        assert_eq!(decide(&two, "ana", Remove), MemberWrite::Delete(member("ana", Owner)));
        let update = MemberWrite::Update { before: member("leo", Owner), after: member("leo", Member) };
        assert_eq!(decide(&two, "leo", SetRole(Member)), update);
        // A team that has no owner yet may lose its members.
        assert_eq!(decide(&one[1..], "leo", Remove), MemberWrite::Delete(member("leo", Member)));
        assert_eq!(decide(&one, "ana", Add(Member)), refused(TeamMemberOutcome::AlreadyMember));
        assert_eq!(decide(&one, "eva", Remove), refused(TeamMemberOutcome::NotMember));
        assert_eq!(decide(&one, "eva", SetRole(Owner)), refused(TeamMemberOutcome::NotMember));
        let same = TeamMemberOutcome::Done(member("ana", Owner));
        assert_eq!(decide(&one, "ana", SetRole(Owner)), refused(same));
        let new = TeamMember { created_at: Ticks(9), ..member("eva", Member) };
        assert_eq!(decide(&one, "eva", Add(Member)), MemberWrite::Insert(new));
        let full: Vec<TeamMember> =
            (0..TEAM_MEMBERS_MAX).map(|number| member(&number.to_string(), Member)).collect();
        assert_eq!(decide(&full, "eva", Add(Member)), refused(TeamMemberOutcome::Full));
    }

    #[test]
    fn products_of_a_teams_subscriptions_are_joined() {
        let of = |list: &[Product]| Some(list.iter().copied().collect::<Products>());
        let id = ClientId::new;
        let rows = [
            (id("a"), of(&[Product::Accounting])),
            (id("a"), of(&[Product::Payroll])),
            (id("b"), None),
            (id("c"), of(&Product::ALL)),
        ];
        let expected = [
            (id("a"), Products::from_iter([Product::Accounting, Product::Payroll])),
            (id("b"), Products::default()),
        ];
        assert_eq!(limited_by_team(rows), expected);
    }
}
