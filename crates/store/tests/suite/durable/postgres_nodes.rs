//! Nodes on one PostgreSQL server: they notify each other of commits, and a stalled node does not block the others for long.

use std::time::Duration;

use domain::Resource;
use store::{ChangeSet, LeaseRenewal, Status, Store, StoreError, WebhookChange};

use crate::suite::fixture::{Fixture, StoreKind, by};
use crate::suite::test_tenant::{company, customer};
use crate::suite::webhook_fixtures::{LEASE, create_webhook, guid, new_webhook};

const TIMEOUT: Duration = Duration::from_secs(20);

/// Waits for the expected change set; others may come before it.
async fn wait_for(store: &dyn Store, what: &str, is_expected: impl Fn(&ChangeSet) -> bool) {
    let waiting = async { while !is_expected(&store.invalidation().commit_signal().wait().await) {} };
    tokio::time::timeout(TIMEOUT, waiting).await.unwrap_or_else(|_| panic!("no notification of {what}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_notify_each_other_of_commits() {
    let fixture = Fixture::open(StoreKind::Postgres).await;
    let (tenant, second_node) = (fixture.add_tenant().await, fixture.reopen().await.store);
    second_node.invalidation().commit_signal().listen();
    second_node.renew_shard_leases(&LeaseRenewal::new(guid(8), LEASE)).await.unwrap();
    wait_for(&*second_node, "the beginning", |changes| changes.all).await;

    tenant.accept([company("c1"), customer("c1", "k1", "Ana")]).await;
    let customers = Resource::customers();
    wait_for(&*second_node, "records", |changes| {
        changes.tenants.get(&tenant.id).is_some_and(|resources| resources.contains(customers))
    })
    .await;
    let webhook = create_webhook(&fixture.store, new_webhook(&fixture, &tenant, "a")).await;
    wait_for(&*second_node, "a webhook", |changes| changes.webhooks.contains(&webhook.id)).await;
    fixture.store.change_webhook(webhook.id, None, WebhookChange::Disable, &by()).await.unwrap();
    wait_for(&*second_node, "its change", |changes| changes.webhooks.contains(&webhook.id)).await;
    fixture.store.set_tenant_status(&tenant.id, Status::Disabled, &by()).await.unwrap();
    wait_for(&*second_node, "access", |changes| changes.access).await;

    // More than fits into one notification.
    for number in 0..300 {
        let tenant = fixture.add_tenant().await;
        tenant.accept([company(&format!("c{number}"))]).await;
    }
    let last = fixture.add_tenant().await;
    last.accept([company("c1")]).await;
    wait_for(&*second_node, "the last", |changes| changes.all || changes.tenants.contains_key(&last.id))
        .await;

    // A broken connection is opened again; everything may have changed in the meantime.
    let server = crate::suite::postgres_database::connect(&fixture.url()).await;
    let listening = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                     WHERE (query LIKE 'LISTEN%' OR query LIKE '%probing the listening connection%')
                         AND datname = current_database() AND pid <> pg_backend_pid()";
    assert_eq!(server.query(listening, &[]).await.unwrap().len(), 1);
    wait_for(&*second_node, "the new connection", |changes| changes.all).await;
    tenant.accept([customer("c1", "k2", "Eva")]).await;
    wait_for(&*second_node, "records again", |changes| changes.tenants.contains_key(&tenant.id)).await;
    second_node.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stalled_transaction_is_aborted() {
    let fixture = Fixture::open(StoreKind::Postgres).await;
    let second_node = fixture.reopen().await.store;
    let server = crate::suite::postgres_database::connect(&fixture.url()).await;
    server.batch_execute("BEGIN; SELECT 1 FROM shard_leases WHERE shard = 255 FOR UPDATE").await.unwrap();
    // It has locked the other leases and waits for the last one; then it stalls in its transaction.
    let (first, second) = (LeaseRenewal::new(guid(8), LEASE), LeaseRenewal::new(guid(9), LEASE));
    let mut stalled = fixture.store.renew_shard_leases(&first);
    let waits =
        "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
    let watch = crate::suite::postgres_database::connect(&fixture.url()).await;
    while watch.query(waits, &[]).await.unwrap().is_empty() {
        assert!(tokio::time::timeout(Duration::from_millis(20), &mut stalled).await.is_err());
    }
    server.batch_execute("COMMIT").await.unwrap();
    let held = tokio::time::timeout(TIMEOUT, second_node.renew_shard_leases(&second)).await;
    assert_eq!(held.expect("the stalled transaction is aborted").unwrap().held.len(), 256);
    let late = stalled.await;
    assert!(matches!(late, Err(StoreError::Unavailable(_))), "{late:?}");
    second_node.close().await;
}

/// While a long snapshot lives, PostgreSQL removes no row version: a renewal must not make hundreds.
#[tokio::test(flavor = "multi_thread")]
async fn renewal_rewrites_no_lease() {
    let fixture = Fixture::open(StoreKind::Postgres).await;
    let server = crate::suite::postgres_database::connect(&fixture.url()).await;
    let places = "SELECT string_agg(ctid::text, ' ' ORDER BY shard) FROM shard_leases";
    let renewal = LeaseRenewal::new(guid(8), LEASE);
    let taken = fixture.store.renew_shard_leases(&renewal).await.unwrap().held;
    let before: String = server.query_one(places, &[]).await.unwrap().get(0);
    for _ in 0..5 {
        assert_eq!(fixture.store.renew_shard_leases(&renewal).await.unwrap().held, taken);
    }
    let after: String = server.query_one(places, &[]).await.unwrap().get(0);
    assert_eq!(before, after);
    let holders = "SELECT count(*) FROM lease_holders";
    assert_eq!(server.query_one(holders, &[]).await.unwrap().get::<_, i64>(0), 1);
    fixture.store.release_shards(guid(8)).await.unwrap();
    assert_eq!(server.query_one(holders, &[]).await.unwrap().get::<_, i64>(0), 0);
}
