//! Who keeps what was read is told when it may be out of date: before who changed it has an answer.

use domain::Secret;
use domain::subscription::Products;
use store::{KeySlot, Status};

use super::applications::{client, subscription};
use super::desk::{company, customer};
use super::stage::Stage;

pub(crate) async fn a_change_moves_its_tenants_records(stage: Stage) {
    let (desk, other) = (stage.desk().await, stage.desk().await);
    let invalidation =
        || [&desk, &other].map(|desk| stage.store.invalidation().records_version(&desk.tenant));
    let before = invalidation();
    desk.accept([company("c")]).await;
    let made = invalidation();
    assert!(made[0] > before[0]);
    assert_eq!(made[1], before[1], "another tenant's stay");
    desk.accept([customer("c", "1", "Ana")]).await;
    assert!(invalidation()[0] > made[0]);
}

pub(crate) async fn whoever_loses_access_is_looked_up_anew(stage: Stage) {
    let store = &stage.store;
    let desk = stage.desk().await;
    let (client, one) = (client(&stage, "erp"), subscription(&stage, "a"));
    store.add_client(&client, &Secret::new("secret")).await.unwrap();
    store.add_subscription(&one, &Secret::new("a1"), &Secret::new("a2")).await.unwrap();
    assert_ne!(one.products, Products::default());
    let mut last = store.invalidation().access_version();
    let mut moved = |what: &str| {
        let now = store.invalidation().access_version();
        assert!(now > last, "{what}");
        last = now;
    };
    store.set_client_status(&client.id, Status::Active).await.unwrap();
    moved("a client");
    store.set_subscription_status(&one.id, Status::Disabled).await.unwrap();
    moved("a subscription's standing");
    store.rotate_key(&one.id, KeySlot::Primary, &Secret::new("a3"), stage.now()).await.unwrap();
    moved("a key");
    store.set_daily_quota(&one.id, Some(1)).await.unwrap();
    moved("a quota");
    store.cancel_subscription(&one.id, stage.now()).await.unwrap();
    moved("a cancellation");
    store.set_user_status(&domain::UserId::new("u"), Status::Disabled).await.unwrap();
    moved("a user");
    store.remove_membership(&domain::UserId::new("u"), &desk.tenant).await.unwrap();
    moved("a membership");
    store.set_tenant_status(&desk.tenant, Status::Disabled).await.unwrap();
    moved("a tenant");
    let records = store.invalidation().records_version(&desk.tenant);
    store.erase_tenant(&desk.tenant).await.unwrap();
    moved("an erased tenant");
    assert!(store.invalidation().records_version(&desk.tenant) > records);
}
