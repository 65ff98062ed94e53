//! Limits of the write queue and of a group commit, shared by all stores.

use std::sync::Arc;

use domain::change::Action;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit, oneshot};

use crate::operations::counted;
use crate::{BatchCounts, ChangeBatch, Result, StoreError};

/// The total size of queued changes; further batches wait outside the queue.
const BULK_KIB_MAX: usize = 64 * 1024;
/// Short work (sign-in) has its own queue, so that it never waits behind bulk changes.
const SHORT_MAX: usize = 4096;
/// A group takes no further batch beyond this.
const GROUP_KIB_MAX: usize = 4096;
/// The size of a change besides its data.
const CHANGE_BYTES: usize = 512;

#[derive(Debug)]
pub(crate) struct QueueLimits {
    bulk: Arc<Semaphore>,
    short: Semaphore,
}

impl Default for QueueLimits {
    fn default() -> Self {
        Self { bulk: Arc::new(Semaphore::new(BULK_KIB_MAX)), short: Semaphore::new(SHORT_MAX) }
    }
}

impl QueueLimits {
    /// Waits for capacity for a batch; dropping the permit releases it.
    async fn for_batch(&self, batch: &ChangeBatch) -> Result<OwnedSemaphorePermit> {
        let kib = u32::try_from(size_kib(batch).min(BULK_KIB_MAX)).unwrap_or(1);
        self.bulk.clone().acquire_many_owned(kib).await.map_err(|_| closed())
    }

    /// Waits for capacity, then returns the batch to queue and the receiver of its result.
    pub(crate) async fn admit(&self, batch: ChangeBatch) -> Result<(QueuedBatch, BatchResult)> {
        let room = self.for_batch(&batch).await?;
        let (answer, receiver) = oneshot::channel();
        Ok((QueuedBatch { batch, answer: BatchAnswer { answer, _room: room } }, receiver))
    }

    pub(crate) async fn for_short_work(&self) -> Result<SemaphorePermit<'_>> {
        self.short.acquire().await.map_err(|_| closed())
    }
}

pub(crate) type BatchResult = oneshot::Receiver<Result<BatchCounts>>;

/// A batch in the queue.
#[derive(Debug)]
pub(crate) struct QueuedBatch {
    pub(crate) batch: ChangeBatch,
    pub(crate) answer: BatchAnswer,
}

/// Where the result of a batch goes. The batch occupies its room in the queue until it has been sent.
#[derive(Debug)]
pub(crate) struct BatchAnswer {
    answer: oneshot::Sender<Result<BatchCounts>>,
    _room: OwnedSemaphorePermit,
}

impl BatchAnswer {
    /// Whether the caller has stopped waiting: its client is gone, so the changes must not come later than newer ones.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.answer.is_closed()
    }

    pub(crate) fn send(self, result: Result<BatchCounts>) {
        let _ = self.answer.send(result);
    }
}

pub(crate) fn closed() -> StoreError {
    counted(StoreError::Unavailable("the store is closed".into()))
}

/// The size of a group so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GroupSize {
    changes: usize,
    kib: usize,
}

impl GroupSize {
    /// Whether another batch may join; the first always may.
    pub(crate) fn has_room(self, changes_max: usize) -> bool {
        self.changes < changes_max && self.kib < GROUP_KIB_MAX
    }

    pub(crate) fn add(&mut self, batch: &ChangeBatch) {
        self.changes += batch.lines.len();
        self.kib += size_kib(batch);
    }
}

fn size_kib(batch: &ChangeBatch) -> usize {
    let weight = |action: &Action| match action {
        Action::Upsert(upsert) => CHANGE_BYTES + upsert.members.len(),
        _ => CHANGE_BYTES,
    };
    let bytes: usize = batch.lines.iter().map(|line| weight(&line.change.action)).sum();
    bytes / 1024 + 1
}
