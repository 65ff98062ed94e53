//! What SQLite adds to the store's file: planner statistics, the write-ahead log, and the lock with which processes take
//! turns to write.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use store::LeaseRenewal;
use tokio::time::Instant;

use crate::suite::fixture::{Fixture, StoreKind};
use crate::suite::test_tenant::{TestTenant, company, customer};
use crate::suite::webhook_fixtures::guid;

const WRITES: usize = 500;
const AHEAD_MAX: u64 = 10;
const RECORDS: usize = 50_000;

fn statistics_tables(fixture: &Fixture) -> i64 {
    let file = rusqlite::Connection::open(fixture.file()).unwrap();
    let find = "SELECT count(*) FROM sqlite_schema WHERE name IN ('sqlite_stat1', 'sqlite_stat4')";
    file.query_row(find, [], |row| row.get(0)).unwrap()
}

/// Statistics of a small file would make SQLite scan whole tables once the file is large.
#[tokio::test]
async fn planner_statistics_are_dropped_on_open() {
    let fixture = Fixture::open(StoreKind::Sqlite).await;
    let tenant = fixture.add_tenant().await;
    tenant.accept([company("c1")]).await;
    let file = rusqlite::Connection::open(fixture.file()).unwrap();
    file.execute_batch("ANALYZE").unwrap();
    drop(file);
    assert_ne!(statistics_tables(&fixture), 0);
    let reopened = tenant.via(&fixture.reopen().await.store);
    assert_eq!(statistics_tables(&fixture), 0);
    reopened.accept([customer("c1", "k1", "Ana")]).await;
    reopened.page(&customer("c1", "k1", "Ana"), 0, 10).await;
    reopened.store.close().await;
    assert_eq!(statistics_tables(&fixture), 0, "closing creates no statistics");
}

/// A busy process does not starve another.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writers_of_two_processes_take_turns() {
    let fixture = Fixture::open(StoreKind::Sqlite).await;
    let busy = fixture.add_tenant().await;
    busy.accept([company("c1")]).await;
    let other = busy.via(&fixture.reopen().await.store);
    let stop = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let (busy, stop) = (busy.clone(), stop.clone());
            tokio::spawn(async move {
                while !stop.load(Ordering::SeqCst) {
                    let change = |number| customer("c1", &format!("{writer}-{number}"), "");
                    busy.accept((0..200).map(change)).await;
                }
            })
        })
        .collect();
    let mut ahead = Vec::with_capacity(WRITES);
    for number in 0..WRITES {
        let before = busy.store.change_commits();
        other.accept([customer("c1", &format!("other {number}"), "")]).await;
        ahead.push(busy.store.change_commits() - before);
    }
    stop.store(true, Ordering::SeqCst);
    for writer in writers {
        writer.await.unwrap();
    }
    ahead.sort_unstable();
    // The machine may let this thread wait as well, now and then.
    let usual = ahead[WRITES * 95 / 100];
    assert!(usual <= AHEAD_MAX, "{usual} commits of the busy process during a write of the other");
}

/// A process that keeps the write lock and does not write does not block others for long.
#[tokio::test]
async fn stalled_lock_holder_does_not_block_writers() {
    let fixture = Fixture::open(StoreKind::Sqlite).await;
    let tenant = fixture.add_tenant().await;
    let write_lock = std::fs::File::open(fixture.file().with_extension("db.writing")).unwrap();
    write_lock.lock().unwrap();
    tenant.accept([company("c1")]).await;
    write_lock.unlock().unwrap();
    tenant.accept([customer("c1", "k1", "Ana")]).await;
}

/// A disk that does not take writes for a while does not stop deliveries: who holds the lock renews its leases without a write.
#[tokio::test]
async fn leases_are_renewed_while_nothing_can_be_written() {
    let fixture = Fixture::open(StoreKind::Sqlite).await;
    let renewal = LeaseRenewal::new(guid(1), Duration::from_secs(8));
    let leases = fixture.store.renew_shard_leases(&renewal).await.unwrap().held;
    let writer = rusqlite::Connection::open(fixture.file()).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE; UPDATE shard_leases SET fence = fence + 1").unwrap();
    let renewed = fixture.store.renew_shard_leases(&renewal);
    let renewed = tokio::time::timeout(Duration::from_secs(1), renewed).await.unwrap().unwrap();
    assert_eq!(renewed.held, leases);
}

/// The shortest time of several writes of one record.
async fn shortest_write(tenant: &TestTenant, name: &str) -> Duration {
    let mut shortest_write = Duration::MAX;
    for number in 0..20 {
        let start = Instant::now();
        tenant.accept([customer("c1", &format!("{name} {number}"), "")]).await;
        shortest_write = shortest_write.min(start.elapsed());
    }
    shortest_write
}

#[tokio::test]
async fn stale_statistics_do_not_slow_writes() {
    let fixture = Fixture::open(StoreKind::Sqlite).await;
    let tenant = fixture.add_tenant().await;
    tenant.accept([company("c1")]).await;
    rusqlite::Connection::open(fixture.file()).unwrap().execute_batch("ANALYZE").unwrap();
    let reopened = tenant.via(&fixture.reopen().await.store);
    let few = shortest_write(&reopened, "few").await;
    reopened.accept((0..RECORDS).map(|number| customer("c1", &format!("m{number}"), ""))).await;
    let many = shortest_write(&reopened, "many").await;
    let bound = few * 5 + Duration::from_millis(1);
    assert!(many < bound, "{few:?} among few records, {many:?} among many");
}

/// A closed store is a single file that can be moved or copied.
#[tokio::test]
async fn closed_store_is_one_file() {
    let fixture = Fixture::open(StoreKind::Sqlite).await;
    let tenant = fixture.add_tenant().await;
    tenant.accept([company("c1"), customer("c1", "k1", "Ana")]).await;
    tenant.page(&customer("c1", "k1", "Ana"), 0, 10).await;
    let log = fixture.file().with_extension("db-wal");
    assert!(log.exists());
    let second_store = tenant.via(&fixture.reopen().await.store);
    assert!(second_store.has(&customer("c1", "k1", "Ana")).await);
    fixture.store.close().await;
    assert!(log.exists(), "another process has it open");
    second_store.store.close().await;
    assert!(!log.exists());
}
