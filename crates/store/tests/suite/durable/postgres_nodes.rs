//! Nodes on one PostgreSQL server tell each other what they have committed, so that nobody waits for the next look; and
//! none waits for long for one that stands still.

use std::time::Duration;

use domain::Resource;
use store::{ChangeSet, Status, Store, StoreError, WebhookChange};

use crate::suite::desk::{company, customer};
use crate::suite::stage::{Kind, Stage};
use crate::suite::webhook_fixtures::{LEASE, body, guid, made};

const PATIENCE: Duration = Duration::from_secs(20);

/// Waits for the ring that is meant; others may come before it.
async fn hears(store: &dyn Store, what: &str, is_meant: impl Fn(&ChangeSet) -> bool) {
    let hearing = async { while !is_meant(&store.invalidation().commit_signal().wait().await) {} };
    tokio::time::timeout(PATIENCE, hearing).await.unwrap_or_else(|_| panic!("nothing was heard of {what}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_tell_each_other_what_they_commit() {
    let stage = Stage::set(Kind::Postgres).await;
    let (desk, there) = (stage.desk().await, stage.reopen().await.store);
    there.invalidation().commit_signal().listen();
    there.renew_shard_leases(guid(8), 2, LEASE).await.unwrap();
    hears(&*there, "the beginning", |changes| changes.all).await;

    desk.accept([company("c1"), customer("c1", "k1", "Ana")]).await;
    let customers = Resource::customers();
    hears(&*there, "records", |changes| {
        changes.tenants.get(&desk.tenant).is_some_and(|one| one.contains(customers))
    })
    .await;
    let webhook = made(&stage.store, body(&stage, &desk, "a")).await;
    hears(&*there, "a webhook", |changes| changes.webhooks.contains(&webhook.id)).await;
    stage.store.change_webhook(webhook.id, None, WebhookChange::Disable).await.unwrap();
    hears(&*there, "its change", |changes| changes.webhooks.contains(&webhook.id)).await;
    stage.store.set_tenant_status(&desk.tenant, Status::Disabled).await.unwrap();
    hears(&*there, "access", |changes| changes.access).await;

    // More than fits into a notification.
    for number in 0..300 {
        let whose = stage.desk().await;
        whose.accept([company(&format!("c{number}"))]).await;
    }
    let last = stage.desk().await;
    last.accept([company("c1")]).await;
    hears(&*there, "the last", |changes| changes.all || changes.tenants.contains_key(&last.tenant)).await;

    // A connection that breaks is made anew, and then everything may have moved.
    let server = crate::suite::database::connect(&stage.url()).await;
    let listening = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                     WHERE query LIKE 'LISTEN%' AND datname = current_database()";
    assert_eq!(server.query(listening, &[]).await.unwrap().len(), 1);
    hears(&*there, "the new connection", |changes| changes.all).await;
    desk.accept([customer("c1", "k2", "Eva")]).await;
    hears(&*there, "records again", |changes| changes.tenants.contains_key(&desk.tenant)).await;
    there.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_stands_still_within_a_transaction_lets_go() {
    let stage = Stage::set(Kind::Postgres).await;
    let there = stage.reopen().await.store;
    let server = crate::suite::database::connect(&stage.url()).await;
    server.batch_execute("BEGIN; SELECT 1 FROM shard_leases WHERE shard = 255 FOR UPDATE").await.unwrap();
    // Has locked the other leases, waits for the last, and is not heard of again when it has that one too.
    let mut hangs = stage.store.renew_shard_leases(guid(8), 2, LEASE);
    let waits =
        "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
    let watch = crate::suite::database::connect(&stage.url()).await;
    while watch.query(waits, &[]).await.unwrap().is_empty() {
        assert!(tokio::time::timeout(Duration::from_millis(20), &mut hangs).await.is_err());
    }
    server.batch_execute("COMMIT").await.unwrap();
    let held = tokio::time::timeout(PATIENCE, there.renew_shard_leases(guid(9), 2, LEASE)).await;
    assert_eq!(held.expect("nobody waits for ever").unwrap().len(), 128);
    let late = hangs.await;
    assert!(matches!(late, Err(StoreError::Unavailable(_))), "{late:?}");
    there.close().await;
}
