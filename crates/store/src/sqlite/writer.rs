//! The one writer: takes all that waits, writes it in one transaction, commits once, then answers all.
//! Short work (sign-in) goes ahead of bulk; a group is bounded, and so is what may wait.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use domain::TenantId;
use parking_lot::{Condvar, Mutex, MutexGuard};
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::apply;
use super::group::Group;
use super::readers::Readers;
use super::turnstile::Turnstile;
use crate::waiting::{Load, Room, closed};
use crate::{BatchCounts, ChangeBatch, InvalidationCounters, Ports, ResourceSet, Result, StoreError};

/// How old a reader's view may become: another process may write to the file, and is not heard.
const VIEW_AGE_MAX: Duration = Duration::from_millis(100);

/// Work of any kind: runs inside the group, and answers once the group's fate is known.
type Work = Box<dyn FnOnce(&mut Group<'_>) -> Answer + Send>;
type Answer = Box<dyn FnOnce(Option<StoreError>) + Send>;

struct Waiting {
    batch: ChangeBatch,
    answer: oneshot::Sender<Result<BatchCounts>>,
}

#[derive(Default)]
struct Queue {
    works: VecDeque<Work>,
    batches: VecDeque<Waiting>,
    closed: bool,
}

struct Shared {
    queue: Mutex<Queue>,
    wake: Condvar,
    room: Room,
    change_commits: AtomicU64,
    invalidation: Arc<InvalidationCounters>,
    readers: Arc<Readers>,
    turnstile: Turnstile,
}

pub(super) struct Writer {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
    pub(super) schema: i64,
}

impl Writer {
    pub(super) fn start(
        connection: Connection,
        turnstile: Turnstile,
        ports: Ports,
        schema: i64,
        invalidation: Arc<InvalidationCounters>,
        readers: Arc<Readers>,
    ) -> Result<Self> {
        let shared = Arc::new(Shared {
            queue: Mutex::new(Queue::default()),
            wake: Condvar::new(),
            room: Room::default(),
            change_commits: AtomicU64::new(0),
            invalidation,
            readers,
            turnstile,
        });
        let theirs = shared.clone();
        let thread = std::thread::Builder::new()
            .name("store-writer".into())
            .spawn(move || serve(&connection, &theirs, &ports))
            .map_err(StoreError::internal)?;
        Ok(Self { shared, thread: Mutex::new(Some(thread)), schema })
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
        let _room = self.shared.room.for_short_work().await?;
        self.put(|queue| queue.works.push_back(work))?;
        receiver.await.map_err(|_| closed())?
    }

    pub(super) async fn apply(&self, batch: ChangeBatch) -> Result<BatchCounts> {
        let (answer, receiver) = oneshot::channel();
        let _room = self.shared.room.for_batch(&batch).await?;
        self.put(|queue| queue.batches.push_back(Waiting { batch, answer }))?;
        receiver.await.map_err(|_| closed())?
    }

    pub(super) fn change_commits(&self) -> u64 {
        self.shared.change_commits.load(Ordering::Relaxed)
    }

    /// How many wait; none can once the writer has ended.
    pub(super) fn queued(&self) -> Result<usize> {
        let queue = self.shared.queue.lock();
        if queue.closed { Err(closed()) } else { Ok(queue.works.len() + queue.batches.len()) }
    }

    fn put(&self, push: impl FnOnce(&mut Queue)) -> Result<()> {
        let mut queue = self.shared.queue.lock();
        if queue.closed {
            return Err(closed());
        }
        push(&mut queue);
        drop(queue);
        self.shared.wake.notify_one();
        Ok(())
    }

    /// A view stands: it is to be ended when it has had its time.
    pub(super) fn mind_views(&self) {
        // The lock is taken so that the thread is either waiting, or has yet to look.
        drop(self.shared.queue.lock());
        self.shared.wake.notify_one();
    }

    /// Takes nothing more, writes what waits, and returns when the thread has ended.
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

fn serve(connection: &Connection, shared: &Shared, ports: &Ports) {
    let _ending = Ending(shared);
    while let Some((works, batches)) = next_group(shared) {
        write_group(connection, works, batches, ports, shared);
    }
    // Whoever is the last to close the file brings its log in; nobody who goes on with it has to wait for that.
    shared.readers.close();
}

/// However the thread ends, nobody waits for it in vain.
struct Ending<'a>(&'a Shared);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        let mut queue = self.0.queue.lock();
        queue.closed = true;
        queue.works.clear();
        queue.batches.clear();
    }
}

fn next_group(shared: &Shared) -> Option<(Vec<Work>, Vec<Waiting>)> {
    let mut queue = shared.queue.lock();
    while queue.works.is_empty() && queue.batches.is_empty() {
        if queue.closed {
            return None;
        }
        if !shared.readers.may_stand() {
            shared.wake.wait(&mut queue);
        } else if shared.wake.wait_for(&mut queue, VIEW_AGE_MAX).timed_out() {
            MutexGuard::unlocked(&mut queue, || shared.readers.turn());
        }
    }
    let works = queue.works.drain(..).collect();
    let mut batches = Vec::new();
    let mut load = Load::default();
    while load.has_room()
        && let Some(waiting) = queue.batches.pop_front()
    {
        load.add(&waiting.batch);
        batches.push(waiting);
    }
    Some((works, batches))
}

/// Writes a group and answers everybody in it.
fn write_group(
    connection: &Connection,
    works: Vec<Work>,
    batches: Vec<Waiting>,
    ports: &Ports,
    shared: &Shared,
) {
    let (batches, answers): (Vec<_>, Vec<_>) =
        batches.into_iter().map(|waiting| (waiting.batch, waiting.answer)).unzip();
    let tenants: Vec<TenantId> = batches.iter().map(|batch| batch.tenant.clone()).collect();
    shared.readers.pause();
    let mut group = Group::begin(connection, &shared.turnstile);
    let work_answers: Vec<Answer> = works.into_iter().map(|work| work(&mut group)).collect();
    let apply = |connection: &Connection| apply::apply(connection, batches, ports);
    let applied = if work_answers.is_empty() { group.run_alone(apply) } else { group.run(apply) };
    let failed = group.commit().err();
    if failed.is_none() && !answers.is_empty() {
        shared.change_commits.fetch_add(1, Ordering::Relaxed);
    }
    let applied = failed.clone().map_or(applied, Err);
    match &applied {
        Ok(applied) => {
            applied.grown.iter().for_each(|(tenant, by)| shared.invalidation.records_changed(tenant, *by))
        }
        // It may be in the file all the same: a number that moves without cause does no harm.
        Err(_) => tenants
            .iter()
            .for_each(|tenant| shared.invalidation.records_changed(tenant, ResourceSet::default())),
    }
    shared.readers.resume();
    for answer in work_answers {
        answer(failed.clone());
    }
    let counts_by_batch = match applied {
        Ok(applied) => applied.counts_by_batch,
        Err(error) => {
            tracing::warn!(%error, "a group of writes failed");
            answers.iter().map(|_| Err(error.clone())).collect()
        }
    };
    for (answer, counts) in answers.into_iter().zip(counts_by_batch) {
        let _ = answer.send(counts);
    }
}
