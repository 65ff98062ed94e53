//! Lists are read in pages, in order of `(created_at, id)`, without gaps or repetitions.

use std::time::Duration;

use domain::{AccountId, ClientId, MembershipId, Realm, Secret, TeamId};
use store::{Account, Client, LIST_ROWS_MAX, ListPage, ListQuery, Membership, Result, Subscription, Tenant};

use super::clients::{client, subscription};
use super::directory::{membership, user};
use super::fixture::{Fixture, by, new_tenant};

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
    let list = async |query| store.list_clients(None, &query).await;
    check_pages(|client: &Client| client.id.as_str(), list, &expected()).await;
}

pub(crate) async fn subscriptions_are_listed_in_pages(fixture: Fixture) {
    let store = &fixture.store;
    for (after, id) in shuffled() {
        let row = Subscription { created_at: fixture.now() + after, ..subscription(&fixture, id) };
        let keys = [format!("{id} 1"), format!("{id} 2")].map(Secret::new);
        store.add_subscription(&row, &keys[0], &keys[1], &by()).await.unwrap();
    }
    let list = async |query| store.list_subscriptions(None, &query).await;
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
        let clients = async |query| store.list_clients(team, &query).await;
        check_pages(|row: &Client| row.id.as_str(), clients, &expected).await;
        let subscriptions = async |query| store.list_subscriptions(team, &query).await;
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
