//! Look-ups over all tenants: records, webhooks and calls.

use std::time::Duration;

use domain::Resource;
use domain::ids::SubscriptionId;
use store::FoundRecord;

use super::fixture::Fixture;
use super::test_tenant::TestTenant;
use super::test_tenant::{company, customer, delete, entity, journal};
use super::webhook_fixtures::{create_webhook, new_webhook};

pub(crate) async fn records_of_every_tenant_are_found_by_their_id(fixture: Fixture) {
    let (one, two) = (fixture.add_tenant().await, fixture.add_tenant().await);
    one.accept([company("c1"), company("c2"), customer("c2", "x1", "Ana"), journal("c2", "x1", "{}")]).await;
    two.accept([company("x1"), entity("Bank", "x1", "{}"), journal("x1", "j1", "{}")]).await;
    let found = async |id: &str, rows_max: usize| {
        let mut found = fixture.store.find_records(id, rows_max).await.unwrap();
        found.sort_by_key(|one| (one.tenant.clone(), one.resource.code()));
        found
    };
    let record = |tenant: &TestTenant, company: Option<&str>, name: &str, id: &str| {
        let resource = Resource::all().find(|resource| resource.as_str() == name).unwrap();
        let (tenant, company) = (tenant.id.clone(), company.map(Into::into));
        FoundRecord { tenant, company, resource, correlation_id: id.into() }
    };
    let mut expected = vec![
        record(&one, Some("c2"), "customers", "x1"),
        record(&one, Some("c2"), "journals", "x1"),
        record(&two, None, "companies", "x1"),
        record(&two, None, "Bank", "x1"),
    ];
    expected.sort_by_key(|one| (one.tenant.clone(), one.resource.code()));
    assert_eq!(found("x1", 10).await, expected);
    assert_eq!(found("x1", 2).await.len(), 2);
    assert_eq!(found("X1", 10).await, []);
    assert_eq!(found("x", 10).await, []);
    assert_eq!(found("a\0", 10).await, []);
    one.accept([delete(company("c2"))]).await;
    assert_eq!(found("x1", 10).await.len(), 2, "a deleted company's records are gone with it");
}

pub(crate) async fn records_of_deleted_companies_do_not_fill_the_result(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    for number in 0..8 {
        let id = format!("c{number}");
        tenant.accept([company(&id), journal(&id, "x1", "{}")]).await;
    }
    tenant.accept((0..7).map(|number| delete(company(&format!("c{number}"))))).await;
    let found = fixture.store.find_records("x1", 3).await.unwrap();
    assert_eq!(found.iter().map(|one| one.company.as_deref()).collect::<Vec<_>>(), [Some("c7")]);
}

pub(crate) async fn newest_webhooks_come_first(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    tenant.accept([company("c1")]).await;
    let first = create_webhook(&fixture.store, new_webhook(&fixture, &tenant, "first")).await.id;
    fixture.clock.advance(Duration::from_secs(1));
    let second = create_webhook(&fixture.store, new_webhook(&fixture, &tenant, "second")).await.id;
    assert_eq!(fixture.store.newest_webhooks(10).await, Ok(vec![second, first]));
    assert_eq!(fixture.store.newest_webhooks(1).await, Ok(vec![second]));
}

pub(crate) async fn calls_are_found_by_their_request(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let calls =
        [("a", "r1"), ("b", "r1"), ("a", "r2")].map(|(id, request)| super::calls::call(id, request, now));
    store.append_calls(&calls, &[]).await.unwrap();
    let found = store.find_calls("r1", 10).await.unwrap();
    let of: Vec<SubscriptionId> = found.iter().map(|one| one.call.subscription.clone()).collect();
    assert_eq!(of, ["b", "a"].map(SubscriptionId::new));
    assert_eq!(store.find_calls("r1", 1).await.unwrap().len(), 1);
    assert_eq!(store.find_calls("r", 10).await, Ok(Vec::new()));
}
