//! Lists are read in pages, in order of `(created_at, id)`, without gaps or repetitions.

use std::time::Duration;

use domain::ids::SubscriptionId;
use domain::{AccountId, ClientId, MembershipId, Realm, Secret, TeamId};
use store::{
    Account, Client, LIST_ROWS_MAX, ListFilter, ListPage, ListQuery, ListedState, Membership, Result, Status,
    Subscription, Team, Tenant,
};

use super::clients::{client, subscription};
use super::directory::{membership, user};
use super::fixture::{Fixture, by, new_tenant};
use super::teams::team;

/// Ids in the order of their list: `(seconds after the start, id)`.
const ORDER: [(u64, &str); 5] = [(0, "z"), (1, "a"), (1, "a-1"), (1, "b"), (2, "A")];

/// Another order, in which rows are added.
fn shuffled() -> impl Iterator<Item = (Duration, &'static str)> {
    [3, 1, 4, 0, 2].into_iter().map(|at| (Duration::from_secs(ORDER[at].0), ORDER[at].1))
}

/// Reads a list in pages of each size, and checks that the ids come in order.
async fn check_pages<T>(
    id: impl Fn(&T) -> &str,
    list: impl AsyncFn(ListQuery) -> Result<ListPage<T>>,
    expected: &[&str],
) {
    for rows_max in [1, 2, 3, 5, 6, LIST_ROWS_MAX, usize::MAX] {
        let (mut query, mut ids) = (ListQuery { after: None, rows_max }, Vec::new());
        loop {
            let page = list(query).await.unwrap();
            assert!(page.rows.len() <= rows_max);
            assert!(page.next.is_none() || page.rows.len() == rows_max, "only the last page is short");
            ids.extend(page.rows.iter().map(|row| id(row).to_owned()));
            if page.next.is_none() {
                break;
            }
            query = ListQuery { after: page.next, rows_max };
        }
        assert_eq!(ids, expected, "pages of {rows_max}");
    }
}

fn expected() -> [&'static str; 5] {
    ORDER.map(|(_, id)| id)
}

pub(crate) async fn tenants_are_listed_in_pages(fixture: Fixture) {
    let store = &fixture.store;
    let list = async |query| store.list_tenants(&query).await;
    check_pages(|tenant: &Tenant| tenant.id.as_str(), list, &[]).await;
    for (after, id) in shuffled() {
        store.add_tenant(&new_tenant(id, fixture.now() + after), &by()).await.unwrap();
    }
    check_pages(|tenant: &Tenant| tenant.id.as_str(), list, &expected()).await;

    // A page continues after the last row of the page before, even if that row was deleted.
    let first = store.list_tenants(&ListQuery { after: None, rows_max: 2 }).await.unwrap();
    store.erase_tenant(&first.rows[1].id, &by()).await.unwrap();
    let second = store.list_tenants(&ListQuery { after: first.next, rows_max: 2 }).await.unwrap();
    assert_eq!(second.rows.iter().map(|tenant| tenant.id.as_str()).collect::<Vec<_>>(), ["a-1", "b"]);
}

pub(crate) async fn users_are_listed_in_pages(fixture: Fixture) {
    let store = &fixture.store;
    for (after, id) in shuffled() {
        let row = Account { created_at: fixture.now() + after, ..user(&fixture, id) };
        store.add_account(&row, &[], &by()).await.unwrap();
    }
    check_pages(
        |user: &Account| user.id.as_str(),
        async |query| store.list_accounts(Realm::Users, &query).await,
        &expected(),
    )
    .await;
}

pub(crate) async fn clients_are_listed_in_pages(fixture: Fixture) {
    let store = &fixture.store;
    for (after, id) in shuffled() {
        let row = Client { created_at: fixture.now() + after, id: ClientId::new(id), ..client(&fixture, id) };
        store.add_client(&row, &Secret::new(id), &by()).await.unwrap();
    }
    let list = async |query| store.list_clients(&ListFilter::default(), &query).await;
    check_pages(|client: &Client| client.id.as_str(), list, &expected()).await;
}

pub(crate) async fn subscriptions_are_listed_in_pages(fixture: Fixture) {
    let store = &fixture.store;
    for (after, id) in shuffled() {
        let row = Subscription { created_at: fixture.now() + after, ..subscription(&fixture, id) };
        let keys = [format!("{id} 1"), format!("{id} 2")].map(Secret::new);
        store.add_subscription(&row, &keys[0], &keys[1], &by()).await.unwrap();
    }
    let list = async |query| store.list_subscriptions(&ListFilter::default(), &query).await;
    check_pages(|row: &Subscription| row.id.as_str(), list, &expected()).await;
}

pub(crate) async fn clients_and_subscriptions_of_one_team_are_listed_in_pages(fixture: Fixture) {
    let store = &fixture.store;
    let teams = ["panel", "other"].map(|team| Some(TeamId::new(team)));
    for (after, id) in shuffled() {
        let created_at = fixture.now() + after;
        for (name, team) in [("", &teams[0]), ("other-", &teams[1]), ("none-", &None)] {
            let (id, team) = (format!("{name}{id}"), team.clone());
            let row = Client {
                created_at,
                team: team.clone(),
                id: ClientId::new(id.clone()),
                ..client(&fixture, &id)
            };
            store.add_client(&row, &Secret::new(id.clone()), &by()).await.unwrap();
            let row = Subscription { created_at, team, ..subscription(&fixture, &id) };
            let keys = [format!("{id} 1"), format!("{id} 2")].map(Secret::new);
            store.add_subscription(&row, &keys[0], &keys[1], &by()).await.unwrap();
        }
    }
    let empty = TeamId::new("empty");
    for (team, expected) in [(teams[0].as_ref(), expected().to_vec()), (Some(&empty), Vec::new())] {
        let filter = ListFilter { team: team.cloned(), ..ListFilter::default() };
        let clients = async |query| store.list_clients(&filter, &query).await;
        check_pages(|row: &Client| row.id.as_str(), clients, &expected).await;
        let subscriptions = async |query| store.list_subscriptions(&filter, &query).await;
        check_pages(|row: &Subscription| row.id.as_str(), subscriptions, &expected).await;
    }
}

pub(crate) async fn memberships_of_one_user_are_listed_in_pages(fixture: Fixture) {
    let store = &fixture.store;
    for (after, id) in shuffled() {
        let tenant = new_tenant(&format!("t-{id}"), fixture.now());
        store.add_tenant(&tenant, &by()).await.unwrap();
        let created_at = fixture.now() + after;
        let row = Membership { created_at, ..membership(&fixture, id, "maria", &tenant.id) };
        store.add_membership(&row, &by()).await.unwrap();
        let other = format!("other-{id}");
        let other = Membership { id: MembershipId::new(other), user: AccountId::new("jon"), ..row };
        store.add_membership(&other, &by()).await.unwrap();
    }
    let maria = AccountId::new("maria");
    let list = async |query| store.list_memberships(&maria, &query).await;
    check_pages(|row: &Membership| row.id.as_str(), list, &expected()).await;
    let unknown = AccountId::new("nobody");
    let list = async |query| store.list_memberships(&unknown, &query).await;
    check_pages(|row: &Membership| row.id.as_str(), list, &[]).await;
}

/// Ids and names, and whether the row is active.
const NAMED: [(&str, &str, bool); 6] = [
    ("panel", "Zeta", true),
    ("panel-2", "Panel", false),
    ("a1", "Panel de ventas", true),
    ("b2", "PANEL", true),
    ("c3", "panadería", false),
    ("d4", "Ábaco", true),
];

/// What a search finds, in its order.
const FOUND: [(&str, Option<ListedState>, &[&str]); 9] = [
    ("pan", None, &["panel", "panel-2", "c3", "b2", "a1"]),
    ("panel", None, &["panel", "panel-2", "b2", "a1"]),
    ("PANEL D", None, &["a1"]),
    ("pan", Some(ListedState::Active), &["panel", "b2", "a1"]),
    ("pan", Some(ListedState::Disabled), &["panel-2", "c3"]),
    ("pan", Some(ListedState::Cancelled), &[]),
    ("áb", None, &[]),
    ("Áb", None, &["d4"]),
    ("%", None, &[]),
];

fn status(is_active: bool) -> Status {
    if is_active { Status::Active } else { Status::Disabled }
}

fn search(text: &str, state: Option<ListedState>) -> ListFilter {
    ListFilter { state, text: Some(text.into()), ..ListFilter::default() }
}

fn in_state(state: ListedState) -> ListFilter {
    ListFilter { state: Some(state), ..ListFilter::default() }
}

pub(crate) async fn teams_are_found_by_the_beginning_of_id_or_name(fixture: Fixture) {
    let store = &fixture.store;
    for (id, name, is_active) in NAMED {
        let row = Team { name: name.into(), status: status(is_active), ..team(&fixture, id) };
        store.add_team(&row, &by()).await.unwrap();
    }
    for (text, state, expected) in FOUND {
        let filter = search(text, state);
        check_pages(
            |row: &Team| row.id.as_str(),
            async |query| store.list_teams(&filter, &query).await,
            expected,
        )
        .await;
    }
    let filter = in_state(ListedState::Disabled);
    let list = async |query| store.list_teams(&filter, &query).await;
    check_pages(|row: &Team| row.id.as_str(), list, &["c3", "panel-2"]).await;
}

pub(crate) async fn clients_are_found_by_the_beginning_of_id_or_name(fixture: Fixture) {
    let store = &fixture.store;
    for (id, name, is_active) in NAMED {
        let team = (id != "a1").then(|| TeamId::new("norte"));
        let row = Client { name: name.into(), status: status(is_active), team, ..client(&fixture, id) };
        store.add_client(&row, &Secret::new(id), &by()).await.unwrap();
    }
    for (text, state, expected) in FOUND {
        let filter = search(text, state);
        let list = async |query| store.list_clients(&filter, &query).await;
        check_pages(|row: &Client| row.id.as_str(), list, expected).await;
        // The same of one team.
        let filter = ListFilter { team: Some(TeamId::new("norte")), ..filter };
        let expected: Vec<&str> = expected.iter().copied().filter(|id| *id != "a1").collect();
        let list = async |query| store.list_clients(&filter, &query).await;
        check_pages(|row: &Client| row.id.as_str(), list, &expected).await;
    }
    let filter = in_state(ListedState::Active);
    let list = async |query| store.list_clients(&filter, &query).await;
    check_pages(|row: &Client| row.id.as_str(), list, &["a1", "b2", "d4", "panel"]).await;
}

pub(crate) async fn subscriptions_are_found_by_the_beginning_of_id_or_name(fixture: Fixture) {
    let store = &fixture.store;
    let rows = NAMED.into_iter().chain([("pan-old", "Old", true)]);
    for (id, name, is_active) in rows {
        let row = Subscription { name: name.into(), status: status(is_active), ..subscription(&fixture, id) };
        let keys = [format!("{id} 1"), format!("{id} 2")].map(Secret::new);
        store.add_subscription(&row, &keys[0], &keys[1], &by()).await.unwrap();
    }
    store.cancel_subscription(&SubscriptionId::new("pan-old"), fixture.now(), &by()).await.unwrap();
    for (text, state, expected) in FOUND {
        let expected: Vec<&str> = match (text, state) {
            ("pan", Some(ListedState::Cancelled)) => vec!["pan-old"],
            ("pan", None) => [&["pan-old"], expected].concat(),
            _ => expected.to_vec(),
        };
        let filter = search(text, state);
        let list = async |query| store.list_subscriptions(&filter, &query).await;
        check_pages(|row: &Subscription| row.id.as_str(), list, &expected).await;
    }
    for (state, expected) in [
        (ListedState::Active, ["a1", "b2", "d4", "panel"].as_slice()),
        (ListedState::Disabled, &["c3", "panel-2"]),
        (ListedState::Cancelled, &["pan-old"]),
    ] {
        let filter = in_state(state);
        let list = async |query| store.list_subscriptions(&filter, &query).await;
        check_pages(|row: &Subscription| row.id.as_str(), list, expected).await;
    }
}
