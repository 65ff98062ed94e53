//! PostgreSQL stops and starts again while a store is open.

use std::sync::Arc;
use std::time::Duration;

use domain::{GrantId, Secret};
use store::postgres::PostgresStore;
use store::{Result, Store, StoreError};
use testkit::SeededRandom;

use super::postgres_cluster::Cluster;
use crate::suite::codes::{code, membership_id};
use crate::suite::fixture::{Fixture, StoreKind, by, master_key, new_tenant, ports, test_clock};
use crate::suite::postgres_database::connect;
use crate::suite::test_tenant::{TestTenant, company, journal};

const RECOVERY_MAX: Duration = Duration::from_secs(20);

fn assert_unavailable<T: std::fmt::Debug>(answer: &Result<T>) {
    assert!(matches!(answer, Err(StoreError::Unavailable(_))), "{answer:?}");
}

async fn wait_until_healthy(store: &Arc<dyn Store>) {
    let healthy = async {
        while let Err(error) = store.health().await {
            assert_unavailable::<()>(&Err(error));
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(RECOVERY_MAX, healthy).await.expect("the store recovers");
}

#[tokio::test(flavor = "multi_thread")]
async fn store_survives_a_server_restart() {
    let cluster = Cluster::start();
    let (clock, random) = (Arc::new(test_clock()), Arc::new(SeededRandom::new(1)));
    let ports = ports(&clock, &random, &master_key());
    let (now, secret) = (ports.clock.now(), Secret::new("code"));
    let store: Arc<dyn Store> =
        Arc::new(PostgresStore::open(&cluster.url(), 4, ports.clone()).await.unwrap());
    let tenant = new_tenant("t", now);
    store.add_tenant(&tenant, &by()).await.unwrap();
    let tenant = TestTenant::new(store.clone(), tenant.id.clone());
    tenant.accept([company("c1")]).await;

    for round in 1..=2_u64 {
        cluster.stop_server();
        assert_unavailable(&store.find_tenant(&tenant.id).await);
        assert_unavailable(&tenant.try_send([journal("c1", "lost", "{}")]).await);
        assert_unavailable(&tenant.try_send([journal("c1", "lost", "{}")]).await);
        assert_unavailable(&store.store_code(&secret, &code(now), &membership_id(), now, &by()).await);
        assert_unavailable(&store.find_grant(&GrantId::new("g")).await);
        assert_unavailable(&store.read_log(&tenant.query(0, 10)).await);
        assert_unavailable(&store.purge(10).await);
        assert_unavailable(&store.health().await);
        assert_unavailable(&PostgresStore::open(&cluster.url(), 1, ports.clone()).await);

        cluster.start_server();
        wait_until_healthy(&store).await;
        let stored = journal("c1", &format!("j{round}"), "{}");
        assert_eq!(tenant.accept([stored.clone()]).await.last_sequence, round + 1);
        assert!(tenant.has(&stored).await && !tenant.has(&journal("c1", "lost", "{}")).await);
    }
    assert_eq!(
        tenant.log_lines().await,
        ["1 companies c1 Created", "2 journals j1 Created", "3 journals j2 Created"]
    );
    store.close().await;
    assert_unavailable(&store.health().await);
}

/// A server with a full disk reports it with its own error code.
#[tokio::test(flavor = "multi_thread")]
async fn server_with_a_full_disk_refuses_writes_and_serves_reads() {
    let fixture = Fixture::open(StoreKind::Postgres).await;
    let tenant = fixture.add_tenant().await;
    tenant.accept([company("c1")]).await;
    let server = connect(&fixture.url()).await;
    let full = "CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$;
        CREATE TRIGGER no_room BEFORE INSERT ON log EXECUTE FUNCTION no_room();";
    server.batch_execute(full).await.unwrap();
    // Pipelined statements after the one that fails report only that the transaction is aborted, and may be polled first.
    for _ in 0..50 {
        let refused = tenant.try_send([journal("c1", "j1", "{}")]).await;
        assert_eq!(refused, Err(StoreError::Full("could not extend file".into())));
    }
    assert_eq!(tenant.log_lines().await, ["1 companies c1 Created"]);
    assert!(!tenant.has(&journal("c1", "j1", "{}")).await);

    server.batch_execute("DROP TRIGGER no_room ON log").await.unwrap();
    assert_eq!(tenant.accept([journal("c1", "j1", "{}")]).await.last_sequence, 2);
}
