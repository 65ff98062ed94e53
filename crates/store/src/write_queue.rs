//! Limits of the write queue and of a group commit, shared by all stores.

use domain::change::Action;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::{ChangeBatch, Result, StoreError};

/// The total size of queued changes; further batches wait outside the queue.
const BULK_KIB_MAX: usize = 64 * 1024;
/// Short work (sign-in) has its own queue, so that it never waits behind bulk changes.
const SHORT_MAX: usize = 4096;
/// A group takes no further batch beyond these limits: writing it takes a few tens of milliseconds, which
/// bounds the wait for the next group.
const GROUP_CHANGES_MAX: usize = 2048;
const GROUP_KIB_MAX: usize = 4096;
/// The size of a change besides its data.
const CHANGE_BYTES: usize = 512;

#[derive(Debug)]
pub(crate) struct QueueLimits {
    bulk: Semaphore,
    short: Semaphore,
}

impl Default for QueueLimits {
    fn default() -> Self {
        Self { bulk: Semaphore::new(BULK_KIB_MAX), short: Semaphore::new(SHORT_MAX) }
    }
}

impl QueueLimits {
    /// Waits for capacity for a batch; dropping the permit releases it.
    pub(crate) async fn for_batch(&self, batch: &ChangeBatch) -> Result<SemaphorePermit<'_>> {
        let kib = u32::try_from(size_kib(batch).min(BULK_KIB_MAX)).unwrap_or(1);
        self.bulk.acquire_many(kib).await.map_err(|_| closed())
    }

    pub(crate) async fn for_short_work(&self) -> Result<SemaphorePermit<'_>> {
        self.short.acquire().await.map_err(|_| closed())
    }
}

pub(crate) fn closed() -> StoreError {
    StoreError::Unavailable("the store is closed".into())
}

/// The size of a group so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GroupSize {
    changes: usize,
    kib: usize,
}

impl GroupSize {
    /// Whether another batch may join; the first always may.
    pub(crate) fn has_room(self) -> bool {
        self.changes < GROUP_CHANGES_MAX && self.kib < GROUP_KIB_MAX
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
