//! Views of the file that readers leave standing: never older than what was answered, and not in the way for long.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::suite::desk::{Desk, company, customer};
use crate::suite::stage::{Kind, Stage, soon};

const MANY: u64 = 300;

async fn total(desk: &Desk) -> u64 {
    desk.page(&customer("c1", "any", ""), 0, 10).await.total
}

async fn add(desk: &Desk, number: u64) {
    desk.accept([customer("c1", &format!("k{number}"), "")]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn who_reads_after_an_answer_sees_it_whoever_else_reads() {
    let stage = Stage::set(Kind::Sqlite).await;
    let desk = stage.desk().await;
    desk.accept([company("c1")]).await;
    let stop = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = (0..3)
        .map(|_| {
            let (desk, stop) = (desk.clone(), stop.clone());
            tokio::spawn(async move {
                let mut last = 0;
                while !stop.load(Ordering::SeqCst) {
                    let now = total(&desk).await;
                    assert!(now >= last, "{now} after {last}");
                    last = now;
                    tokio::task::yield_now().await;
                }
            })
        })
        .collect();
    for number in 1..=MANY {
        add(&desk, number).await;
        assert_eq!(total(&desk).await, number);
        assert!(desk.has(&customer("c1", &format!("k{number}"), "")).await);
    }
    stop.store(true, Ordering::SeqCst);
    for reader in readers {
        reader.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_process_writes_is_seen_soon() {
    let stage = Stage::set(Kind::Sqlite).await;
    let here = stage.desk().await;
    let there = here.at(&stage.reopen().await.store);
    here.accept([company("c1")]).await;
    for number in 1..=5 {
        assert_eq!(total(&here).await, number - 1);
        add(&there, number).await;
        assert_eq!(total(&there).await, number);
        soon(|| async { total(&here).await == number }).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_view_is_not_in_the_way_of_a_checkpoint_for_long() {
    let stage = Stage::set(Kind::Sqlite).await;
    let desk = stage.desk().await;
    desk.accept([company("c1")]).await;
    add(&desk, 1).await;
    assert_eq!(total(&desk).await, 1);
    let other = rusqlite::Connection::open(stage.file()).unwrap();
    other.busy_timeout(Duration::ZERO).unwrap();
    let is_busy = || other.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0));
    soon(|| async { !is_busy().unwrap() }).await;
    assert_eq!(std::fs::metadata(stage.file().with_extension("db-wal")).unwrap().len(), 0);
    assert_eq!(total(&desk).await, 1);
}
