//! Read snapshots that SQLite readers keep open: never older than the last acknowledged write, and closed when idle.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::suite::fixture::{Fixture, StoreKind, eventually};
use crate::suite::test_tenant::{TestTenant, company, customer};

const WRITES: u64 = 300;

async fn total(tenant: &TestTenant) -> u64 {
    tenant.page(&customer("c1", "any", ""), 0, 10).await.total
}

async fn add(tenant: &TestTenant, number: u64) {
    tenant.accept([customer("c1", &format!("k{number}"), "")]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn read_after_write_sees_the_write() {
    let fixture = Fixture::open(StoreKind::Sqlite).await;
    let tenant = fixture.add_tenant().await;
    tenant.accept([company("c1")]).await;
    let stop = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = (0..3)
        .map(|_| {
            let (tenant, stop) = (tenant.clone(), stop.clone());
            tokio::spawn(async move {
                let mut last = 0;
                while !stop.load(Ordering::SeqCst) {
                    let now = total(&tenant).await;
                    assert!(now >= last, "{now} after {last}");
                    last = now;
                    tokio::task::yield_now().await;
                }
            })
        })
        .collect();
    for number in 1..=WRITES {
        add(&tenant, number).await;
        assert_eq!(total(&tenant).await, number);
        assert!(tenant.has(&customer("c1", &format!("k{number}"), "")).await);
    }
    stop.store(true, Ordering::SeqCst);
    for reader in readers {
        reader.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_of_another_process_become_visible() {
    let fixture = Fixture::open(StoreKind::Sqlite).await;
    let first = fixture.add_tenant().await;
    let second = first.via(&fixture.reopen().await.store);
    first.accept([company("c1")]).await;
    for number in 1..=5 {
        assert_eq!(total(&first).await, number - 1);
        add(&second, number).await;
        assert_eq!(total(&second).await, number);
        eventually(|| async { total(&first).await == number }).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_snapshot_does_not_block_a_wal_checkpoint() {
    let fixture = Fixture::open(StoreKind::Sqlite).await;
    let tenant = fixture.add_tenant().await;
    tenant.accept([company("c1")]).await;
    add(&tenant, 1).await;
    assert_eq!(total(&tenant).await, 1);
    let other = rusqlite::Connection::open(fixture.file()).unwrap();
    other.busy_timeout(Duration::ZERO).unwrap();
    let is_busy = || other.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0));
    eventually(|| async { !is_busy().unwrap() }).await;
    assert_eq!(std::fs::metadata(fixture.file().with_extension("db-wal")).unwrap().len(), 0);
    assert_eq!(total(&tenant).await, 1);
}
