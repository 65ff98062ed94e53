//! Searches find tenants and accounts by the beginning of an address, a name or an id, in pages without gaps or repetitions.

use std::time::Duration;

use domain::{AccountId, ClientId, MembershipId, Realm, Secret, TenantId};
use store::{
    Account, InvitationFilter, InvitationLink, ListPage, ListQuery, Membership, Result, SearchFilter, Status,
    Tenant, TenantMembership, WebhookOwner,
};

use super::authorizations::{ALL, sign_in, tenant_with_member};
use super::directory::{membership, user};
use super::fixture::{Fixture, by, new_tenant};
use super::invitations::invitation;

fn text(text: &str) -> SearchFilter {
    SearchFilter::new(Some(text), None)
}

/// Reads a search in pages of each size, and checks that the ids come in order.
async fn check<T>(
    id: impl Fn(&T) -> &str,
    list: impl AsyncFn(ListQuery) -> Result<ListPage<T>>,
    expected: &[&str],
) {
    for rows_max in [1, 2, 3, 1000] {
        let (mut query, mut ids) = (ListQuery { after: None, rows_max }, Vec::new());
        loop {
            let page = list(query).await.unwrap();
            assert!(page.rows.len() <= rows_max);
            ids.extend(page.rows.iter().map(|row| id(row).to_owned()));
            let Some(next) = page.next else { break };
            query = ListQuery { after: Some(next), rows_max };
        }
        assert_eq!(ids, expected, "pages of {rows_max}");
    }
}

async fn add_accounts(fixture: &Fixture) {
    let accounts = [
        // id, address, name, seconds, status
        ("1", "ana@example.com", "Zoe", 5, Status::Active),
        ("2", "anabel@example.com", "ANA", 4, Status::Disabled),
        ("3", "z@example.com", "ana maría", 3, Status::Active),
        ("4", "y@example.com", "Ana", 2, Status::Disabled),
        ("ana-5", "x@example.com", "Eva", 1, Status::Active),
        ("6", "w@example.com", "Mariana", 0, Status::Active),
    ];
    for (id, email, name, seconds, status) in accounts {
        let account = Account {
            email: email.into(),
            given_name: name.into(),
            status,
            created_at: fixture.now() + Duration::from_secs(seconds),
            ..user(fixture, id)
        };
        fixture.store.add_account(&account, &[], &by()).await.unwrap();
    }
    let developer =
        Account { realm: Realm::Developers, email: "ana@example.com".into(), ..user(fixture, "ana-d") };
    fixture.store.add_account(&developer, &[], &by()).await.unwrap();
}

pub(crate) async fn accounts_are_found_by_address_name_and_id(fixture: Fixture) {
    let store = &fixture.store;
    add_accounts(&fixture).await;
    let search = async |filter: SearchFilter, expected: &[&str]| {
        check(
            |account: &Account| account.id.as_str(),
            async |query| store.search_accounts(Realm::Users, &filter, &query).await,
            expected,
        )
        .await;
    };
    // Addresses first, then names (by name, then by id), then ids; nobody twice, and nobody of another realm.
    search(text("ana"), &["1", "2", "4", "3", "ana-5"]).await;
    search(text(" ANA "), &["1", "2", "4", "3"]).await;
    search(text("ana@"), &["1"]).await;
    search(text("ana m"), &["3"]).await;
    search(text("nobody"), &[]).await;
    // What SQL would take for a pattern is a text like others.
    for pattern in ["%", "_", "a%", "\\"] {
        search(text(pattern), &[]).await;
    }
    search(SearchFilter::new(Some("ana"), Some(Status::Disabled)), &["2", "4"]).await;
    // Without a text, in order of creation.
    search(SearchFilter::default(), &["6", "ana-5", "4", "3", "2", "1"]).await;
    search(SearchFilter::new(None, Some(Status::Disabled)), &["4", "2"]).await;
    search(SearchFilter::new(None, Some(Status::Unconfirmed)), &[]).await;
}

pub(crate) async fn tenants_are_found_by_name_and_id(fixture: Fixture) {
    let store = &fixture.store;
    let tenants = [
        ("norte", "Zeta"),
        ("b", "NORTE"),
        ("a", "norte"),
        ("c", "Norteña"),
        ("d", "Sur"),
        ("norte-2", "Norte 2"),
    ];
    for (at, (id, name)) in (0..).zip(tenants) {
        let status = if id == "a" { Status::Disabled } else { Status::Active };
        let created_at = fixture.now() + Duration::from_secs(at);
        let tenant = Tenant { name: name.into(), status, ..new_tenant(id, created_at) };
        store.add_tenant(&tenant, &by()).await.unwrap();
    }
    let search = async |filter: SearchFilter, expected: &[&str]| {
        check(
            |tenant: &Tenant| tenant.id.as_str(),
            async |query| store.search_tenants(&filter, &query).await,
            expected,
        )
        .await;
    };
    search(text("norte"), &["norte", "norte-2", "a", "b", "c"]).await;
    search(text("norteñ"), &["c"]).await;
    search(text("norte-"), &["norte-2"]).await;
    search(SearchFilter::new(Some("norte"), Some(Status::Disabled)), &["a"]).await;
    search(SearchFilter::new(None, Some(Status::Disabled)), &["a"]).await;
    search(SearchFilter::default(), &["norte", "b", "a", "c", "d", "norte-2"]).await;

    // Nothing comes after a row that is gone.
    let first = store.search_tenants(&text("norte"), &ListQuery { after: None, rows_max: 2 }).await.unwrap();
    store.erase_tenant(&first.rows[1].id, &by()).await.unwrap();
    let second =
        store.search_tenants(&text("norte"), &ListQuery { after: first.next, rows_max: 2 }).await.unwrap();
    assert_eq!((second.rows, second.next), (Vec::new(), None));
}

pub(crate) async fn members_and_their_tenants_are_listed_in_pages(fixture: Fixture) {
    let store = &fixture.store;
    let tenants = ["norte", "sur", "este"].map(TenantId::new);
    for tenant in &tenants {
        store.add_tenant(&new_tenant(tenant.as_str(), fixture.now()), &by()).await.unwrap();
    }
    for (at, name) in (0_u64..).zip(["maria", "ana", "leo"]) {
        store.add_account(&user(&fixture, name), &[], &by()).await.unwrap();
        for (offset, tenant) in (0_u64..).zip(&tenants) {
            let one = Membership {
                id: MembershipId::new(format!("{name}-{tenant}")),
                created_at: fixture.now() + Duration::from_secs(10 * at + offset),
                ..membership(&fixture, "x", name, tenant)
            };
            store.add_membership(&one, &by()).await.unwrap();
        }
    }
    let members = async |query| store.tenant_members(&tenants[0], &query).await;
    check(|one: &TenantMembership| one.user.id.as_str(), members, &["maria", "ana", "leo"]).await;
    let ana = AccountId::new("ana");
    let of_ana = async |query| store.user_tenants(&ana, &query).await;
    check(|one: &TenantMembership| one.tenant.id.as_str(), of_ana, &["norte", "sur", "este"]).await;
    store.remove_membership(&ana, &tenants[0], &by()).await.unwrap();
    check(|one: &TenantMembership| one.user.id.as_str(), members, &["maria", "leo"]).await;
    let nowhere = store.tenant_members(&TenantId::new("nowhere"), &ListQuery::default()).await.unwrap();
    assert!(nowhere.rows.is_empty());
}

pub(crate) async fn authorizations_of_a_user_are_listed_in_pages(fixture: Fixture) {
    let store = &fixture.store;
    let tenant = tenant_with_member(&fixture).await;
    let maria = AccountId::new("maria");
    assert!(store.list_authorizations(&maria, None, 10).await.unwrap().is_empty());
    sign_in(&fixture, &tenant, "maria", "g1", ALL).await;
    let found = store.list_authorizations(&maria, None, 10).await.unwrap();
    assert_eq!(found, store.user_authorizations(&maria).await.unwrap());
    let access = &found[0].authorization.access;
    let last = WebhookOwner { tenant: access.tenant.clone(), client: access.client.clone() };
    assert!(store.list_authorizations(&maria, Some(&last), 10).await.unwrap().is_empty());
    let before = WebhookOwner { tenant: tenant.id.clone(), client: ClientId::new("er") };
    assert_eq!(store.list_authorizations(&maria, Some(&before), 10).await.unwrap(), found);
    assert!(store.list_authorizations(&maria, None, 0).await.unwrap().is_empty());
    store.revoke_client_access(access, fixture.now(), &by(), "").await.unwrap();
    assert!(store.list_authorizations(&maria, None, 10).await.unwrap().is_empty());
}

pub(crate) async fn invitations_are_found_by_address(fixture: Fixture) {
    let store = &fixture.store;
    for (at, email) in ["ana@example.com", "anabel@example.com", "leo@example.com"].into_iter().enumerate() {
        let id = format!("i{at}");
        let one = store::Invitation { email: email.into(), ..invitation(&fixture, &id, Realm::Developers) };
        let token = Secret::new(id);
        let link = InvitationLink { token: &token, expires_at: one.expires_at, mail: None };
        store.make_invitation(&one, &link, &by()).await.unwrap();
    }
    for (prefix, expected) in [("ana", 2), ("ana@", 1), ("leo@example.com", 1), ("x", 0), ("%", 0)] {
        let filter = InvitationFilter { email_prefix: Some(prefix.into()), ..InvitationFilter::default() };
        let found = store.list_invitations(&filter, fixture.now(), &ListQuery::default()).await.unwrap();
        assert_eq!(found.rows.len(), expected, "{prefix}");
    }
}
