//! Invalidation counters: they are bumped before the changing call returns, so that caches never serve older data.

use domain::Secret;
use domain::subscription::Products;
use store::{KeySlot, Status};

use super::clients::{client, subscription};
use super::fixture::{Fixture, by};
use super::test_tenant::{company, customer};

pub(crate) async fn change_bumps_its_tenants_records_version(fixture: Fixture) {
    let (tenant, other) = (fixture.add_tenant().await, fixture.add_tenant().await);
    let invalidation =
        || [&tenant, &other].map(|tenant| fixture.store.invalidation().records_version(&tenant.id));
    let before = invalidation();
    tenant.accept([company("c")]).await;
    let after = invalidation();
    assert!(after[0] > before[0]);
    assert_eq!(after[1], before[1], "another tenant's version is unchanged");
    tenant.accept([customer("c", "1", "Ana")]).await;
    assert!(invalidation()[0] > after[0]);
}

pub(crate) async fn access_changes_bump_the_access_version(fixture: Fixture) {
    let store = &fixture.store;
    let tenant = fixture.add_tenant().await;
    let (client, subscription) = (client(&fixture, "erp"), subscription(&fixture, "a"));
    store.add_client(&client, &Secret::new("secret"), &by()).await.unwrap();
    store.add_subscription(&subscription, &Secret::new("a1"), &Secret::new("a2"), &by()).await.unwrap();
    assert_ne!(subscription.products, Products::default());
    let mut last = store.invalidation().access_version();
    let mut assert_bumped = |what: &str| {
        let now = store.invalidation().access_version();
        assert!(now > last, "{what}");
        last = now;
    };
    store.set_client_status(&client.id, Status::Active, &by()).await.unwrap();
    assert_bumped("a client");
    store.set_subscription_status(&subscription.id, Status::Disabled, &by()).await.unwrap();
    assert_bumped("a subscription's status");
    store
        .rotate_key(&subscription.id, KeySlot::Primary, &Secret::new("a3"), fixture.now(), &by())
        .await
        .unwrap();
    assert_bumped("a key");
    store.set_daily_quota(&subscription.id, Some(1), &by()).await.unwrap();
    assert_bumped("a quota");
    store.cancel_subscription(&subscription.id, fixture.now(), &by()).await.unwrap();
    assert_bumped("a cancellation");
    store.set_account_status(&domain::AccountId::new("u"), Status::Disabled, &by()).await.unwrap();
    assert_bumped("a user");
    store.remove_membership(&domain::AccountId::new("u"), &tenant.id, &by()).await.unwrap();
    assert_bumped("a membership");
    store.set_tenant_status(&tenant.id, Status::Disabled, &by()).await.unwrap();
    assert_bumped("a tenant");
    let records = store.invalidation().records_version(&tenant.id);
    store.erase_tenant(&tenant.id, &by()).await.unwrap();
    assert_bumped("an erased tenant");
    assert!(store.invalidation().records_version(&tenant.id) > records);
}
