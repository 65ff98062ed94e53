//! The writer thread: takes queued work, writes it in one transaction, commits once, then responds to all.
//! Short work (sign-in) goes before changes, whose tenants take turns; groups and the queue are bounded.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use domain::TenantId;
use parking_lot::{Condvar, Mutex, MutexGuard};
use rusqlite::Connection;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::apply;
use super::batch_queue::{BatchQueue, is_small};
use super::group::WriteGroup;
use super::group_limit::{CHANGES_PER_BATCH, GroupLimit};
use super::reader_pool::ReaderPool;
use super::wal_checkpointer::WalCheckpointer;
use super::write_lock::WriteLock;
use crate::worker_end::WorkerEnd;
use crate::write_queue::{QueueLimits, QueuedBatch, closed};
use crate::{BatchCounts, ChangeBatch, InvalidationCounters, Ports, ResourceSet, Result, StoreError};

/// How old a reader's snapshot may become: other processes may write to the file without notice.
const SNAPSHOT_AGE_MAX: Duration = Duration::from_millis(100);

/// Queued work: runs inside the group, and responds once the group is committed or has failed.
type Work = Box<dyn FnOnce(&mut WriteGroup<'_>) -> Completion + Send>;
type Completion = Box<dyn FnOnce(Option<StoreError>) + Send>;

#[derive(Default)]
struct Queue {
    works: Vec<Work>,
    batches: BatchQueue,
    closed: bool,
}

struct Shared {
    queue: Mutex<Queue>,
    wake: Condvar,
    limits: QueueLimits,
    change_commits: AtomicU64,
    changes_per_batch: AtomicUsize,
    invalidation: Arc<InvalidationCounters>,
    reader_pool: Arc<ReaderPool>,
    write_lock: WriteLock,
}

pub(super) struct Writer {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
    end: WorkerEnd,
    pub(super) schema: i64,
}

impl Writer {
    pub(super) fn start(
        connection: Connection,
        checkpointer: WalCheckpointer,
        write_lock: WriteLock,
        ports: Ports,
        schema: i64,
        invalidation: Arc<InvalidationCounters>,
        reader_pool: Arc<ReaderPool>,
    ) -> Result<Self> {
        let shared = Arc::new(Shared {
            queue: Mutex::new(Queue::default()),
            wake: Condvar::new(),
            limits: QueueLimits::default(),
            change_commits: AtomicU64::new(0),
            changes_per_batch: AtomicUsize::new(CHANGES_PER_BATCH),
            invalidation,
            reader_pool,
            write_lock,
        });
        let end = checkpointer.end();
        let (thread_shared, guard) = (shared.clone(), end.guard());
        let thread = std::thread::Builder::new()
            .name("store-writer".into())
            .spawn(move || {
                let _guard = guard;
                run_writer(&connection, &thread_shared, &ports, &checkpointer);
                // Closed last, so that SQLite checkpoints and deletes the log, unless a reader or another process has the file open.
                drop(checkpointer);
                drop(connection);
            })
            .map_err(StoreError::internal)?;
        Ok(Self { shared, thread: Mutex::new(Some(thread)), end, schema })
    }

    /// Waits until the writer's thread or the checkpointer's has ended.
    pub(super) async fn ended(&self) {
        self.end.ended().await;
    }

    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (sender, receiver) = oneshot::channel();
        let work: Work = Box::new(move |group| {
            let done = group.run(work);
            Box::new(move |failed| {
                let _ = sender.send(failed.map_or(done, Err));
            })
        });
        let _permit = self.shared.limits.for_short_work().await?;
        self.enqueue(|queue| queue.works.push(work))?;
        receiver.await.map_err(|_| closed())?
    }

    pub(super) async fn apply(&self, batch: ChangeBatch) -> Result<BatchCounts> {
        let (queued, receiver) = self.shared.limits.admit(batch).await?;
        self.enqueue(|queue| queue.batches.push(queued))?;
        receiver.await.map_err(|_| closed())?
    }

    pub(super) fn change_commits(&self) -> u64 {
        self.shared.change_commits.load(Ordering::Relaxed)
    }

    /// How many changes a batch of a long request should have now.
    pub(super) fn changes_per_batch(&self) -> usize {
        self.shared.changes_per_batch.load(Ordering::Relaxed)
    }

    /// The length of the queue; fails if the writer has ended.
    pub(super) fn queued(&self) -> Result<usize> {
        let queue = self.shared.queue.lock();
        if queue.closed { Err(closed()) } else { Ok(queue.works.len() + queue.batches.len()) }
    }

    fn enqueue(&self, push: impl FnOnce(&mut Queue)) -> Result<()> {
        let mut queue = self.shared.queue.lock();
        if queue.closed {
            return Err(closed());
        }
        push(&mut queue);
        drop(queue);
        self.shared.wake.notify_one();
        Ok(())
    }

    /// Wakes the writer so that it ends the open snapshots when they are old.
    pub(super) fn watch_snapshots(&self) {
        // Taking the lock ensures that the thread is either waiting or has yet to check.
        drop(self.shared.queue.lock());
        self.shared.wake.notify_one();
    }

    /// Stops accepting work, writes what is queued, and returns when the thread has ended.
    pub(super) fn close(&self) {
        self.shared.queue.lock().closed = true;
        self.shared.wake.notify_one();
        if let Some(thread) = self.thread.lock().take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.close();
    }
}

fn run_writer(connection: &Connection, shared: &Shared, ports: &Ports, checkpointer: &WalCheckpointer) {
    let _ending = CloseOnDrop(shared);
    let mut limit = GroupLimit::new(Instant::now());
    while let Some((works, batches)) = next_group(shared, limit.changes_max()) {
        shared.reader_pool.pause_snapshots();
        checkpointer.keep_log_short(limit.keeps_log_short());
        checkpointer.checkpoint_remainder(connection);
        write_group(connection, works, batches, ports, shared, &mut limit);
    }
    // The last connection to close the file checkpoints its WAL; closing idle readers now saves other processes
    // that work.
    shared.reader_pool.close();
}

/// However the thread ends, its callers get an error instead of waiting forever.
struct CloseOnDrop<'a>(&'a Shared);

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        let mut queue = self.0.queue.lock();
        queue.closed = true;
        queue.works.clear();
        queue.batches.clear();
    }
}

fn next_group(shared: &Shared, changes_max: usize) -> Option<(Vec<Work>, Vec<QueuedBatch>)> {
    let mut queue = shared.queue.lock();
    loop {
        let works = std::mem::take(&mut queue.works);
        let batches = queue.batches.next_group(!works.is_empty(), changes_max);
        if !works.is_empty() || !batches.is_empty() {
            return Some((works, batches));
        }
        if queue.closed {
            return None;
        }
        if !shared.reader_pool.has_open_snapshot() {
            shared.wake.wait(&mut queue);
        } else if shared.wake.wait_for(&mut queue, SNAPSHOT_AGE_MAX).timed_out() {
            MutexGuard::unlocked(&mut queue, || shared.reader_pool.expire_snapshots());
        }
    }
}

/// Writes a group and responds to its requests.
fn write_group(
    connection: &Connection,
    works: Vec<Work>,
    batches: Vec<QueuedBatch>,
    ports: &Ports,
    shared: &Shared,
    limit: &mut GroupLimit,
) {
    let small = works.len() + batches.iter().filter(|queued| is_small(queued)).count();
    let has_large = !batches.iter().all(is_small);
    let (batches, answers): (Vec<_>, Vec<_>) =
        batches.into_iter().map(|queued| (queued.batch, queued.answer)).unzip();
    let tenants: Vec<TenantId> = batches.iter().map(|batch| batch.tenant.clone()).collect();
    let changes = batches.iter().map(|batch| batch.lines.len()).sum();
    let begun_at = Instant::now();
    limit.begun(begun_at, small, has_large);
    shared.changes_per_batch.store(limit.changes_per_batch(), Ordering::Relaxed);
    let mut group = WriteGroup::begin(connection, &shared.write_lock);
    let completions: Vec<Completion> = works.into_iter().map(|work| work(&mut group)).collect();
    let apply = |connection: &Connection| apply::apply(connection, batches, ports);
    let applied = if completions.is_empty() { group.run_alone(apply) } else { group.run(apply) };
    let written_at = Instant::now();
    let failed = group.commit().err();
    limit.committed(changes, written_at - begun_at, written_at.elapsed());
    if failed.is_none() && !answers.is_empty() {
        shared.change_commits.fetch_add(1, Ordering::Relaxed);
    }
    let applied = failed.clone().map_or(applied, Err);
    match &applied {
        Ok(applied) => applied
            .changed_logs
            .iter()
            .for_each(|(tenant, by)| shared.invalidation.records_changed(tenant, *by)),
        // The commit may have succeeded all the same; a needless increment only costs a cache miss.
        Err(_) => tenants
            .iter()
            .for_each(|tenant| shared.invalidation.records_changed(tenant, ResourceSet::default())),
    }
    shared.reader_pool.resume_snapshots();
    for answer in completions {
        answer(failed.clone());
    }
    let counts_by_batch = match applied {
        Ok(applied) => applied.counts_by_batch,
        Err(error) => {
            tracing::warn!(%error, "a group commit failed");
            answers.iter().map(|_| Err(error.clone())).collect()
        }
    };
    for (answer, counts) in answers.into_iter().zip(counts_by_batch) {
        answer.send(counts);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, mpsc};

    use domain::Guid;
    use testkit::{SeededRandom, TestClock};

    use crate::sqlite::SqliteStore;
    use crate::{BatchCounts, ChangeBatch, ChangeLog as _, MasterKey, Ports, StoreError, Vault};

    fn batch() -> ChangeBatch {
        ChangeBatch {
            tenant: domain::TenantId::new("unknown"),
            process: Guid::from_bytes([1; 16]),
            lines: Vec::new(),
            counts: BatchCounts::default(),
            checkpoint: None,
            expires_at: None,
            edit: None,
        }
    }

    #[tokio::test]
    async fn batch_whose_caller_is_gone_is_not_taken_up() {
        let folder = tempfile::tempdir().unwrap();
        let vault = Vault::new(&MasterKey::from_bytes([7; 32])).unwrap().into();
        let (clock, random) = (Arc::new(TestClock::default()), Arc::new(SeededRandom::new(1)));
        let ports = Ports { clock, random, vault };
        let store = SqliteStore::open(&folder.path().join("store.db"), ports).unwrap();
        let (started, begun) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        let busy = store.clone();
        let busy = tokio::spawn(async move {
            let block = move |_: &rusqlite::Connection| {
                started.send(()).unwrap();
                let _ = released.recv();
                Ok(())
            };
            busy.inner.writer.run(block).await
        });
        tokio::task::spawn_blocking(move || begun.recv().unwrap()).await.unwrap();

        let sender = store.clone();
        let gone = tokio::spawn(async move { sender.apply_changes(batch()).await });
        while store.inner.writer.queued().unwrap() < 1 {
            tokio::task::yield_now().await;
        }
        gone.abort();
        assert!(gone.await.unwrap_err().is_cancelled());
        release.send(()).unwrap();
        busy.await.unwrap().unwrap();
        store.inner.writer.run(|_| Ok(())).await.unwrap();
        assert_eq!((store.inner.writer.queued(), store.inner.writer.change_commits()), (Ok(0), 0));
        let waiting = store.apply_changes(batch()).await;
        assert_eq!(waiting, Err(StoreError::UnknownTenant("unknown".into())));
        assert_eq!(store.inner.writer.change_commits(), 1, "a batch whose caller waits is taken up");
    }
}
