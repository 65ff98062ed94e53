//! Concurrent writers through two open stores, while readers follow the log.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use domain::change::Change;
use tokio::task::JoinSet;

use super::fixture::{Fixture, StoreKind, concurrently, eventually};
use super::test_tenant::{TestTenant, company, customer, delete, journal};

const WRITERS: usize = 16;
const TENANTS: usize = 3;
const BATCHES: usize = 20;

/// The two changes of a committed batch; `updated` changes a record that every batch changes.
struct AcknowledgedBatch {
    created: Change,
    updated: Change,
    last_sequence: u64,
}

impl AcknowledgedBatch {
    /// Which part of the batch a reader does not see yet.
    async fn missing_at(&self, reader: &TestTenant) -> Option<&'static str> {
        let last = self.last_sequence;
        let Some(record) = reader.record(&self.created).await else { return Some("a record") };
        assert_eq!(record.sequence, last - 1);
        if reader.record(&self.updated).await.is_none_or(|updated| updated.sequence != last) {
            return Some("a record's latest state");
        }
        let page = reader.page(&self.created, 0, 1).await;
        if page.head < last || page.version < record.sequence {
            return Some("a page's head or version");
        }
        assert!(reader.head().await >= last);
        let entry = &reader.read(&reader.query(last - 2, 1)).await[0];
        assert_eq!(*entry.correlation_id, *self.created.correlation_id.as_str());
        None
    }
}

/// Sends batches of two changes and checks after each that it can be read: at once through the same store, and through the
/// second store too, where SQLite readers may see another process's commit a moment later.
async fn write(writer: usize, tenant: TestTenant, second: TestTenant, kind: StoreKind) {
    for number in 0..BATCHES {
        let created = journal("c1", &format!("w{writer}-{number}"), &format!(r#"{{"n":{number}}}"#));
        let updated = customer("c1", &format!("k{writer}"), &format!("Ana {number}"));
        let counts = tenant.accept([created.clone(), updated.clone()]).await;
        let batch = AcknowledgedBatch { created, updated, last_sequence: counts.last_sequence };
        assert_eq!(batch.missing_at(&tenant).await, None);
        if kind == StoreKind::Sqlite {
            eventually(|| async { batch.missing_at(&second).await.is_none() }).await;
        } else {
            assert_eq!(batch.missing_at(&second).await, None);
        }
    }
}

/// Reads the log from the last sequence on until the writers are done and no entry is left.
async fn follow(tenant: TestTenant, done: Arc<AtomicBool>) -> u64 {
    let mut last_seen = 0;
    loop {
        let all_written = done.load(Ordering::SeqCst);
        let page = tenant.read(&tenant.query(last_seen, 7)).await;
        for entry in &page {
            assert_eq!(entry.sequence, last_seen + 1, "a sequence was missed or appeared late");
            last_seen = entry.sequence;
        }
        if page.is_empty() && all_written {
            return last_seen;
        }
        tokio::task::yield_now().await;
    }
}

pub(crate) async fn log_reader_misses_nothing_during_concurrent_writes(fixture: Fixture) {
    let second = fixture.reopen().await.store;
    let mut tenants = Vec::new();
    for _ in 0..TENANTS {
        let tenant = fixture.add_tenant().await;
        tenant.accept([company("c1")]).await;
        tenants.push((tenant.clone(), tenant.via(&second)));
    }
    let done = Arc::new(AtomicBool::new(false));
    let mut followers = JoinSet::new();
    for (first, second) in &tenants {
        followers.spawn(follow(first.clone(), done.clone()));
        followers.spawn(follow(second.clone(), done.clone()));
    }
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let (first, second) = tenants[writer % TENANTS].clone();
        // Half of the writers use the second store.
        if writer % 2 == 0 {
            writers.spawn(write(writer, first, second, fixture.kind));
        } else {
            writers.spawn(write(writer, second, first, fixture.kind));
        }
    }
    while let Some(result) = writers.join_next().await {
        result.unwrap();
    }
    done.store(true, Ordering::SeqCst);
    let mut numbers = followers.join_all().await;
    numbers.sort_unstable();

    let mut expected = Vec::new();
    for (index, (tenant, _)) in tenants.iter().enumerate() {
        let writers = (0..WRITERS).filter(|writer| writer % TENANTS == index).count();
        let changes = (1 + writers * BATCHES * 2) as u64;
        assert_eq!(tenant.sequences(&tenant.query(0, usize::MAX)).await, (1..=changes).collect::<Vec<_>>());
        expected.extend([changes, changes]);
    }
    expected.sort_unstable();
    assert_eq!(numbers, expected);
}

/// Queued changes are committed together; each request still gets its own result.
pub(crate) async fn batched_requests_get_their_own_results(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    assert_eq!(tenant.store.change_commits(), 0);
    tenant.accept([company("c1")]).await;
    let before = tenant.store.change_commits();
    assert_eq!(before, 1);
    let answers = concurrently(60, &[&tenant.store], |number, store| {
        let tenant = tenant.via(&store);
        async move {
            let good = journal("c1", &format!("j{number}"), "{}");
            let bad = delete(journal("c1", &format!("none{number}"), "{}"));
            let batch = tenant.chunk(&format!("key {number}"), 0, [good.clone(), bad, good]);
            (number, tenant.store.apply_changes(batch).await.unwrap())
        }
    })
    .await;
    let commits = tenant.store.change_commits() - before;
    assert!((1..=60).contains(&commits), "{commits} commits for 60 requests");
    let mut last = Vec::new();
    for (number, counts) in answers {
        assert_eq!((counts.accepted, counts.rejected), (2, 1));
        assert_eq!(counts.errors.len(), 1);
        assert_eq!(counts.errors[0].line, 2);
        assert!(counts.errors[0].fault.message.contains(&format!("\"none{number}\"")));
        let progress = tenant.store.find_ingest_progress(&tenant.id, &format!("key {number}")).await.unwrap();
        assert_eq!(progress.unwrap().counts, counts);
        assert_eq!(
            tenant.record(&journal("c1", &format!("j{number}"), "{}")).await.unwrap().sequence,
            counts.last_sequence
        );
        last.push(counts.last_sequence);
    }
    last.sort_unstable();
    assert_eq!(last, (2..=61).collect::<Vec<_>>(), "one change and one sequence each");
}

/// A caller that is cancelled before its result neither loses other callers' changes nor blocks them.
pub(crate) async fn cancelled_caller_does_not_affect_others(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    tenant.accept([company("c1")]).await;
    for round in 0..10 {
        let mut cancelled = JoinSet::new();
        for number in 0..5 {
            let (tenant, change) = (tenant.clone(), journal("c1", &format!("gone {round} {number}"), "{}"));
            cancelled.spawn(async move { tenant.send([change]).await });
        }
        tokio::task::yield_now().await;
        cancelled.abort_all();
        let survivor = journal("c1", &format!("stays {round}"), "{}");
        tenant.accept([survivor.clone()]).await;
        assert!(tenant.has(&survivor).await);
    }
    let head = tenant.head().await;
    assert_eq!(tenant.sequences(&tenant.query(0, usize::MAX)).await, (1..=head).collect::<Vec<_>>());
    assert_eq!(tenant.page(&journal("c1", "j", "{}"), 0, 1).await.total, head - 1);
}

/// A batch that panics while it is written is rolled back, and later batches are not blocked.
pub(crate) async fn panicking_change_is_rolled_back_and_blocks_nobody(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    tenant.accept([company("c1")]).await;
    for number in 0..3 {
        let (broken, whole) =
            (journal("c1", &format!("broken{number}"), "{}"), journal("c1", &format!("j{number}"), "{}"));
        fixture.random.panic_next();
        let (sender, sent) = (tenant.clone(), broken.clone());
        let answer = tokio::spawn(async move { sender.try_send([sent]).await }).await;
        assert!(!matches!(answer, Ok(Ok(_))), "the panicked batch was not accepted: {answer:?}");
        assert_eq!(tenant.accept([whole.clone()]).await.last_sequence, number + 2);
        assert!(tenant.has(&whole).await && !tenant.has(&broken).await);
    }
    assert_eq!(tenant.store.health().await.unwrap().queued, 0);
}
