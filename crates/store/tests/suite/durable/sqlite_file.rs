//! What a SQLite file holds or has beside it that is not the store's own: counts for its
//! planner, its log, the lock by which processes take turns.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use crate::suite::desk::{Desk, company, customer};
use crate::suite::stage::{Kind, Stage};

const TURNS: usize = 500;
const AHEAD_MAX: u64 = 10;
const MANY: usize = 50_000;

fn counts(stage: &Stage) -> i64 {
    let file = rusqlite::Connection::open(stage.file()).unwrap();
    let find = "SELECT count(*) FROM sqlite_schema WHERE name IN ('sqlite_stat1', 'sqlite_stat4')";
    file.query_row(find, [], |row| row.get(0)).unwrap()
}

/// A file that was looked at while it was small must not be read from end to end when it is large.
#[tokio::test]
async fn counts_of_small_tables_are_forgotten() {
    let stage = Stage::set(Kind::Sqlite).await;
    let desk = stage.desk().await;
    desk.accept([company("c1")]).await;
    let file = rusqlite::Connection::open(stage.file()).unwrap();
    file.execute_batch("ANALYZE").unwrap();
    drop(file);
    assert_ne!(counts(&stage), 0);
    let again = desk.at(&stage.reopen().await.store);
    assert_eq!(counts(&stage), 0);
    again.accept([customer("c1", "k1", "Ana")]).await;
    again.page(&customer("c1", "k1", "Ana"), 0, 10).await;
    again.store.close().await;
    assert_eq!(counts(&stage), 0, "nor are any made at the end");
}

/// However much one process writes, the turn of another comes.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn those_who_write_take_turns() {
    let stage = Stage::set(Kind::Sqlite).await;
    let busy = stage.desk().await;
    busy.accept([company("c1")]).await;
    let other = busy.at(&stage.reopen().await.store);
    let stop = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let (busy, stop) = (busy.clone(), stop.clone());
            tokio::spawn(async move {
                while !stop.load(Ordering::SeqCst) {
                    let some = |number| customer("c1", &format!("{writer}-{number}"), "");
                    busy.accept((0..200).map(some)).await;
                }
            })
        })
        .collect();
    let mut most = 0;
    for number in 0..TURNS {
        let before = busy.store.change_commits();
        other.accept([customer("c1", &format!("other {number}"), "")]).await;
        most = most.max(busy.store.change_commits() - before);
    }
    stop.store(true, Ordering::SeqCst);
    for writer in writers {
        writer.await.unwrap();
    }
    assert!(most <= AHEAD_MAX, "{most} commits went ahead of one");
}

/// Who stands still while it waits its turn holds nobody up for good.
#[tokio::test]
async fn who_stands_still_is_passed_by() {
    let stage = Stage::set(Kind::Sqlite).await;
    let desk = stage.desk().await;
    let turnstile = std::fs::File::open(stage.file().with_extension("db.writing")).unwrap();
    turnstile.lock().unwrap();
    desk.accept([company("c1")]).await;
    turnstile.unlock().unwrap();
    desk.accept([customer("c1", "k1", "Ana")]).await;
}

/// The shortest of a few times that a record takes to come.
async fn shortest(desk: &Desk, name: &str) -> Duration {
    let mut shortest = Duration::MAX;
    for number in 0..20 {
        let start = Instant::now();
        desk.accept([customer("c1", &format!("{name} {number}"), "")]).await;
        shortest = shortest.min(start.elapsed());
    }
    shortest
}

#[tokio::test]
async fn a_change_costs_the_same_whatever_was_counted_once() {
    let stage = Stage::set(Kind::Sqlite).await;
    let desk = stage.desk().await;
    desk.accept([company("c1")]).await;
    rusqlite::Connection::open(stage.file()).unwrap().execute_batch("ANALYZE").unwrap();
    let again = desk.at(&stage.reopen().await.store);
    let few = shortest(&again, "few").await;
    again.accept((0..MANY).map(|number| customer("c1", &format!("m{number}"), ""))).await;
    let many = shortest(&again, "many").await;
    let bound = few * 5 + Duration::from_millis(1);
    assert!(many < bound, "{few:?} among few records, {many:?} among many");
}

/// A store that was closed is one file, to be moved or copied as it is.
#[tokio::test]
async fn a_closed_store_is_one_file() {
    let stage = Stage::set(Kind::Sqlite).await;
    let desk = stage.desk().await;
    desk.accept([company("c1"), customer("c1", "k1", "Ana")]).await;
    desk.page(&customer("c1", "k1", "Ana"), 0, 10).await;
    let log = stage.file().with_extension("db-wal");
    assert!(log.exists());
    let there = desk.at(&stage.reopen().await.store);
    assert!(there.has(&customer("c1", "k1", "Ana")).await);
    stage.store.close().await;
    assert!(log.exists(), "another handle has it open");
    there.store.close().await;
    assert!(!log.exists());
}
