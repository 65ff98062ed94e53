//! Customers and suppliers that name their account by its code alone.

use domain::change::Change;

use super::fixture::Fixture;
use super::test_tenant::{TestTenant, account, company, customer_with, disable, enable, parse_change};

pub(crate) fn unlinked(id: &str, name: &str, code: &str) -> Change {
    let data = format!(r#"{{"tradeName":"{name}","accountCode":"{code}"}}"#);
    parse_change("accounting", "customers", Some("c1"), Some(id), &data)
}

fn supplier(id: &str, data: &str) -> Change {
    parse_change("accounting", "suppliers", Some("c1"), Some(id), data)
}

async fn account_of(tenant: &TestTenant, id: &str) -> String {
    let subject = if id.starts_with('s') { supplier(id, "{}") } else { unlinked(id, "x", "1") };
    tenant.body(&subject).await["accountCodeCorrelationId"].as_str().unwrap().to_owned()
}

pub(crate) async fn account_is_filled_in_from_its_code(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    // Earlier lines of the same batch count.
    tenant.accept([company("c1"), account("c1", "a1", "43000001"), unlinked("k1", "Ana", "43000001")]).await;
    assert_eq!(account_of(&tenant, "k1").await, "a1");
    // So do stored accounts.
    let counts = tenant.accept([unlinked("k2", "Bea", "43000001")]).await;
    assert_eq!((account_of(&tenant, "k2").await.as_str(), counts.last_sequence), ("a1", 4));
    // It is filled in before the comparison.
    let again = tenant
        .accept([unlinked("k2", "Bea", "43000001"), customer_linked("k2", "Bea", "43000001", "a1")])
        .await;
    assert_eq!(again.last_sequence, 4, "nothing has changed");
    tenant
        .accept([supplier("s1", r#"{"accountCode":"43000001","accountCodeCorrelationId":"","n":1.50}"#)])
        .await;
    assert_eq!(account_of(&tenant, "s1").await, "a1");
    // What the writer gives is not checked, and a supplier may have no such member.
    tenant
        .accept([customer_with("c1", "k3", "Eva", "43000009"), supplier("s2", r#"{"accountCode":"9"}"#)])
        .await;
    assert_eq!(account_of(&tenant, "k3").await, "account-of-k3");
}

fn customer_linked(id: &str, name: &str, code: &str, account: &str) -> Change {
    let data =
        format!(r#"{{"tradeName":"{name}","accountCode":"{code}","accountCodeCorrelationId":"{account}"}}"#);
    parse_change("accounting", "customers", Some("c1"), Some(id), &data)
}

pub(crate) async fn first_enabled_account_of_several_is_taken(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    let accounts = ["a1", "a2", "a3"].map(|id| account("c1", id, "43000001"));
    tenant.accept([company("c1")].into_iter().chain(accounts)).await;
    let linked_to = async |id: &str| account_of(&tenant, id).await;
    tenant.accept([unlinked("k1", "x", "43000001")]).await;
    assert_eq!(linked_to("k1").await, "a1");
    // Within a batch the account's state at that line counts.
    tenant
        .accept([
            disable(account("c1", "a1", "43000001")),
            unlinked("k2", "x", "43000001"),
            disable(account("c1", "a2", "43000001")),
            account("c1", "a3", "43000003"),
            unlinked("k3", "x", "43000001"),
            enable(account("c1", "a2", "43000001")),
            unlinked("k4", "x", "43000001"),
            unlinked("k5", "x", "43000003"),
        ])
        .await;
    let mut links = Vec::new();
    for id in ["k2", "k3", "k4", "k5"] {
        links.push(linked_to(id).await);
    }
    assert_eq!(links, ["a2", "a1", "a2", "a3"], "where none is enabled, the first one");
    // An enabled one wins over an earlier one that is disabled, across batches too.
    tenant.accept([unlinked("k6", "x", "43000001")]).await;
    assert_eq!(linked_to("k6").await, "a2");
}

pub(crate) async fn change_without_its_account_is_refused(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    tenant.accept([company("c1"), company("c2"), account("c2", "a1", "43000001")]).await;
    let counts = tenant
        .send([
            unlinked("k1", "x", "43000001"),
            account("c1", "a2", "43000002"),
            supplier("s1", r#"{"accountCodeCorrelationId":""}"#),
            unlinked("k2", "x", "43000002"),
        ])
        .await;
    let errors: Vec<_> = counts.errors.iter().map(|error| (error.line, error.fault.code.as_ref())).collect();
    assert_eq!(errors, [(1, "account_not_found"), (3, "account_not_found")], "{:?}", counts.errors);
    let first = &counts.errors[0].fault;
    assert!(first.message.contains("43000001") && first.message.contains("send the account first"));
    assert_eq!(first.field.as_deref(), Some("data.accountCode"));
    assert_eq!((counts.accepted, counts.rejected), (2, 2));
    assert_eq!(account_of(&tenant, "k2").await, "a2", "another company's account is not taken");
    // The state of a stored customer can still be changed.
    tenant.accept([disable(unlinked("k2", "x", "43000002"))]).await;
    assert_eq!(tenant.body(&unlinked("k2", "x", "1")).await["state"], "Disabled");
}

pub(crate) async fn guid_is_found_in_any_case(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    let [lower, upper, mixed] = [
        "0a1b2c3d-0000-4000-8000-00000000abcd",
        "1A1B2C3D-0000-4000-8000-00000000ABCD",
        "2a1B2c3D-0000-4000-8000-00000000aBcD",
    ];
    let store = &fixture.store;
    for id in [lower, upper, mixed] {
        tenant.accept([company(id), account(id, upper, "43000001")]).await;
        let key = id.to_ascii_lowercase();
        let companies = domain::Resource::companies();
        let found = store.find_guid(&tenant.id, None, companies, &key).await.unwrap();
        assert_eq!(found.as_deref(), Some(id));
        let accounts = domain::Resource::accounts();
        let inner = upper.to_ascii_lowercase();
        let found = store.find_guid(&tenant.id, Some(id), accounts, &inner).await.unwrap();
        assert_eq!(found.as_deref(), Some(upper));
        assert_eq!(store.find_guid(&tenant.id, Some("c9"), accounts, &inner).await, Ok(None));
        assert_eq!(store.find_guid(&tenant.id, None, accounts, &inner).await, Ok(None));
    }
    // Of two that differ in case alone, the one in lower case is found.
    tenant.accept([company(&upper.to_ascii_lowercase())]).await;
    let key = upper.to_ascii_lowercase();
    let found = store.find_guid(&tenant.id, None, domain::Resource::companies(), &key).await.unwrap();
    assert_eq!(found.as_deref(), Some(&*key));
    let nobody = domain::TenantId::new("nobody");
    assert_eq!(store.find_guid(&nobody, None, domain::Resource::companies(), &key).await, Ok(None));
}
