//! Teams and their members: stored unchanged, and never without an owner once there is one.

use domain::{AccountId, Realm, TeamId};
use store::{
    Account, FIRST_REVISION, ListFilter, ListQuery, MemberStep, Status, StoreError, Team, TeamMember,
    TeamMemberChange, TeamMemberOutcome, TeamRole, TeamUpdate, UpdateOutcome,
};

use super::directory::user;
use super::fixture::{Fixture, by, concurrently};

pub(crate) fn team(fixture: &Fixture, id: &str) -> Team {
    Team {
        id: TeamId::new(id),
        name: "Panel \"Ñ\"".into(),
        status: Status::Active,
        created_at: fixture.now(),
        revision: FIRST_REVISION,
    }
}

pub(crate) async fn add_developer(fixture: &Fixture, id: &str) -> Account {
    let account = Account { realm: Realm::Developers, ..user(fixture, id) };
    fixture.store.add_account(&account, &[], &by()).await.unwrap();
    account
}

/// A team with one owner.
pub(crate) async fn add_team(fixture: &Fixture, id: &str, owner: &str) -> Team {
    let team = team(fixture, id);
    fixture.store.add_team(&team, &by()).await.unwrap();
    add_developer(fixture, owner).await;
    let added = change(fixture, id, owner, MemberStep::Add(TeamRole::Owner)).await;
    assert!(matches!(added, TeamMemberOutcome::Done(_)), "{added:?}");
    team
}

pub(crate) fn member_change(team: &str, account: &str, step: MemberStep) -> TeamMemberChange {
    TeamMemberChange { team: TeamId::new(team), account: AccountId::new(account), step }
}

async fn change(fixture: &Fixture, team: &str, account: &str, step: MemberStep) -> TeamMemberOutcome {
    fixture.store.change_team_member(&member_change(team, account, step), &by()).await.unwrap()
}

pub(crate) async fn teams_are_stored_unchanged(fixture: Fixture) {
    let store = &fixture.store;
    let (panel, other) = (team(&fixture, "panel"), team(&fixture, "z"));
    for team in [&panel, &other] {
        store.add_team(team, &by()).await.unwrap();
        assert_eq!(store.find_team(&team.id).await, Ok(Some(team.clone())));
    }
    let exists = StoreError::Exists("a team \"panel\"".into());
    assert_eq!(store.add_team(&panel, &by()).await, Err(exists));
    for unknown in ["", "Panel", "panel\0"] {
        assert_eq!(store.find_team(&TeamId::new(unknown)).await, Ok(None), "{unknown:?}");
    }
    let listed = store.list_teams(&ListFilter::default(), &ListQuery::default()).await.unwrap();
    assert_eq!(listed.rows, [panel.clone(), other.clone()]);
    let first =
        store.list_teams(&ListFilter::default(), &ListQuery { after: None, rows_max: 1 }).await.unwrap();
    let rest = store
        .list_teams(&ListFilter::default(), &ListQuery { after: first.next, rows_max: 1 })
        .await
        .unwrap();
    assert_eq!((first.rows, rest.rows), (vec![panel.clone()], vec![other]));

    let rename = TeamUpdate { name: Some("Sur".into()), ..TeamUpdate::default() };
    let refused = store.update_team(&panel.id, &rename, Some(2), &by()).await;
    assert_eq!(refused, Ok(UpdateOutcome::RevisionConflict));
    let renamed = Team { name: "Sur".into(), revision: 2, ..panel.clone() };
    let updated = store.update_team(&panel.id, &rename, Some(1), &by()).await;
    assert_eq!(updated, Ok(UpdateOutcome::Updated(renamed.clone())));
    let disable = TeamUpdate { status: Some(Status::Disabled), ..TeamUpdate::default() };
    let disabled = Team { status: Status::Disabled, revision: 3, ..renamed };
    let updated = store.update_team(&panel.id, &disable, None, &by()).await;
    assert_eq!(updated, Ok(UpdateOutcome::Updated(disabled.clone())));
    assert_eq!(store.find_team(&panel.id).await, Ok(Some(disabled)));
    let missing = store.update_team(&TeamId::new("none"), &disable, None, &by()).await;
    assert_eq!(missing, Ok(UpdateOutcome::NotFound));
}

pub(crate) async fn members_are_added_changed_and_removed(fixture: Fixture) {
    use MemberStep::{Add, Remove, SetRole};
    use TeamRole::{Member, Owner};
    let store = &fixture.store;
    let panel = add_team(&fixture, "panel", "ana").await;
    let other = add_team(&fixture, "z", "eva").await;
    add_developer(&fixture, "leo").await;
    let customer = user(&fixture, "maria");
    store.add_account(&customer, &[], &by()).await.unwrap();
    for (team, account, step, expected) in [
        ("none", "leo", Add(Member), TeamMemberOutcome::TeamNotFound),
        ("panel", "nobody", Add(Member), TeamMemberOutcome::AccountNotFound),
        // The account of a user is not one of a developer.
        ("panel", "maria", Add(Member), TeamMemberOutcome::AccountNotFound),
        ("panel", "ana", Add(Member), TeamMemberOutcome::AlreadyMember),
        ("panel", "leo", SetRole(Owner), TeamMemberOutcome::NotMember),
        ("panel", "leo", Remove, TeamMemberOutcome::NotMember),
        ("panel", "ana", Remove, TeamMemberOutcome::LastOwner),
        ("panel", "ana", SetRole(Member), TeamMemberOutcome::LastOwner),
    ] {
        assert_eq!(change(&fixture, team, account, step).await, expected, "{team} {account} {step:?}");
    }
    let leo = |team: &str, role| TeamMember {
        team: TeamId::new(team),
        account: AccountId::new("leo"),
        role,
        created_at: fixture.now(),
    };
    let member = leo("panel", Member);
    assert_eq!(change(&fixture, "panel", "leo", Add(Member)).await, TeamMemberOutcome::Done(member.clone()));
    assert_eq!(store.find_team_member(&panel.id, &member.account).await, Ok(Some(member)));
    assert!(matches!(change(&fixture, "z", "leo", Add(Owner)).await, TeamMemberOutcome::Done(_)));
    let teams = store.developer_teams(&AccountId::new("leo")).await.unwrap();
    assert_eq!(teams, [(panel.clone(), Member), (other.clone(), Owner)]);
    let listed = store.team_members(&panel.id).await.unwrap();
    let shown: Vec<_> = listed.iter().map(|one| (one.member.account.as_str(), one.member.role)).collect();
    assert_eq!(shown, [("ana", Owner), ("leo", Member)]);
    assert_eq!(listed[1].email, "leo@asesoría.example");
    assert_eq!((listed[1].given_name.as_str(), listed[1].status), ("María \"Txiki\"", Status::Active));

    let owner = TeamMemberOutcome::Done(leo("panel", Owner));
    assert_eq!(change(&fixture, "panel", "leo", SetRole(Owner)).await, owner);
    assert!(matches!(change(&fixture, "panel", "ana", Remove).await, TeamMemberOutcome::Done(_)));
    assert_eq!(store.find_team_member(&panel.id, &AccountId::new("ana")).await, Ok(None));
    assert_eq!(change(&fixture, "panel", "leo", Remove).await, TeamMemberOutcome::LastOwner);
    assert_eq!(store.team_members(&other.id).await.unwrap().len(), 2, "another team keeps its members");
}

pub(crate) async fn team_keeps_an_owner_under_concurrent_removals(fixture: Fixture) {
    const OWNERS: usize = 6;
    add_team(&fixture, "panel", "d0").await;
    for number in 1..OWNERS {
        let id = format!("d{number}");
        add_developer(&fixture, &id).await;
        let _ = change(&fixture, "panel", &id, MemberStep::Add(TeamRole::Owner)).await;
    }
    let other = fixture.reopen().await.store;
    let outcomes = concurrently(OWNERS, &[&fixture.store, &other], |number, store| async move {
        let step = if number % 2 == 0 { MemberStep::Remove } else { MemberStep::SetRole(TeamRole::Member) };
        store.change_team_member(&member_change("panel", &format!("d{number}"), step), &by()).await.unwrap()
    })
    .await;
    let refused = outcomes.iter().filter(|outcome| **outcome == TeamMemberOutcome::LastOwner).count();
    assert_eq!(refused, 1, "{outcomes:?}");
    let members = fixture.store.team_members(&TeamId::new("panel")).await.unwrap();
    let owners = members.iter().filter(|one| one.member.role == TeamRole::Owner).count();
    assert_eq!(owners, 1, "{members:?}");
}

pub(crate) async fn concurrent_additions_of_a_member_add_one(fixture: Fixture) {
    add_team(&fixture, "panel", "ana").await;
    add_developer(&fixture, "leo").await;
    let other = fixture.reopen().await.store;
    let outcomes = concurrently(6, &[&fixture.store, &other], |_, store| async move {
        let add = member_change("panel", "leo", MemberStep::Add(TeamRole::Member));
        store.change_team_member(&add, &by()).await.unwrap()
    })
    .await;
    let done = outcomes.iter().filter(|outcome| matches!(outcome, TeamMemberOutcome::Done(_))).count();
    assert_eq!(done, 1, "{outcomes:?}");
    assert_eq!(fixture.store.team_members(&TeamId::new("panel")).await.unwrap().len(), 2);
}
