//! Limits of the write queue and of a group commit, shared by all stores.

use std::collections::HashMap;
use std::sync::Arc;

use domain::TenantId;
use domain::change::Action;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit, oneshot};

use crate::operations::counted;
use crate::{BatchCounts, ChangeBatch, Result, StoreError};

/// The total size of queued changes; further batches wait outside the queue.
const BULK_KIB_MAX: usize = 64 * 1024;
/// The size of a tenant's queued changes, so that one that sends more than is written leaves room for the others.
const TENANT_KIB_MAX: usize = 8 * 1024;
/// Short work (sign-in) has its own queue, so that it never waits behind bulk changes.
const SHORT_MAX: usize = 4096;
/// The size of a change besides its data.
const CHANGE_BYTES: usize = 512;

#[derive(Debug)]
pub(crate) struct QueueLimits {
    bulk: Arc<Semaphore>,
    tenants: Arc<TenantShares>,
    short: Semaphore,
}

/// The share of each tenant that has batches in the queue or before it.
type TenantShares = Mutex<HashMap<TenantId, Arc<Semaphore>>>;

impl Default for QueueLimits {
    fn default() -> Self {
        Self {
            bulk: Arc::new(Semaphore::new(BULK_KIB_MAX)),
            tenants: Arc::default(),
            short: Semaphore::new(SHORT_MAX),
        }
    }
}

impl QueueLimits {
    /// Waits for room in the tenant's share, then in the whole queue.
    async fn for_batch(&self, tenant: &TenantId, kib: usize) -> Result<QueuePermit> {
        let kib = u32::try_from(kib.min(TENANT_KIB_MAX)).unwrap_or(1);
        let mut of_tenant =
            TenantShare { tenant: tenant.clone(), shares: self.tenants.clone(), permit: None };
        let semaphore = of_tenant.semaphore();
        of_tenant.permit = Some(semaphore.acquire_many_owned(kib).await.map_err(|_| closed())?);
        let of_all = self.bulk.clone().acquire_many_owned(kib).await.map_err(|_| closed())?;
        Ok(QueuePermit { _of_all: of_all, _of_tenant: of_tenant })
    }

    /// Waits for capacity, then returns the batch to queue and the receiver of its result.
    pub(crate) async fn admit(&self, batch: ChangeBatch) -> Result<(QueuedBatch, BatchResult)> {
        let kib = size_kib(&batch);
        let permit = self.for_batch(&batch.tenant, kib).await?;
        let (answer, receiver) = oneshot::channel();
        Ok((QueuedBatch { batch, kib, answer: BatchAnswer { answer, _permit: permit } }, receiver))
    }

    pub(crate) async fn for_short_work(&self) -> Result<SemaphorePermit<'_>> {
        self.short.acquire().await.map_err(|_| closed())
    }
}

pub(crate) type BatchResult = oneshot::Receiver<Result<BatchCounts>>;

/// Lets a batch be in the queue. Dropping it releases its part of the queue and of the tenant's share.
#[derive(Debug)]
struct QueuePermit {
    _of_all: OwnedSemaphorePermit,
    _of_tenant: TenantShare,
}

/// A batch's part of its tenant's share. Dropping the last one of a tenant removes the tenant's semaphore.
#[derive(Debug)]
struct TenantShare {
    tenant: TenantId,
    shares: Arc<TenantShares>,
    permit: Option<OwnedSemaphorePermit>,
}

impl TenantShare {
    fn semaphore(&self) -> Arc<Semaphore> {
        let mut shares = self.shares.lock();
        let share = shares.entry(self.tenant.clone());
        share.or_insert_with(|| Arc::new(Semaphore::new(TENANT_KIB_MAX))).clone()
    }
}

impl Drop for TenantShare {
    fn drop(&mut self) {
        drop(self.permit.take());
        let mut shares = self.shares.lock();
        // The map holds one reference, and each batch that waits for its permit or has it holds another.
        if shares.get(&self.tenant).is_some_and(|share| Arc::strong_count(share) == 1) {
            shares.remove(&self.tenant);
        }
    }
}

/// A batch in the queue.
#[derive(Debug)]
pub(crate) struct QueuedBatch {
    pub(crate) batch: ChangeBatch,
    kib: usize,
    pub(crate) answer: BatchAnswer,
}

/// Where the result of a batch goes. The batch counts as queued until the result has been sent.
#[derive(Debug)]
pub(crate) struct BatchAnswer {
    answer: oneshot::Sender<Result<BatchCounts>>,
    _permit: QueuePermit,
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

/// The size of a batch, or of a group so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GroupSize {
    pub(crate) changes: usize,
    pub(crate) kib: usize,
}

impl GroupSize {
    pub(crate) fn of(queued: &QueuedBatch) -> Self {
        Self { changes: queued.batch.lines.len(), kib: queued.kib }
    }

    /// Whether it is below a limit, so that another batch may join; the first always may.
    pub(crate) fn is_below(self, limit: Self) -> bool {
        self.changes < limit.changes && self.kib < limit.kib
    }

    pub(crate) fn add(&mut self, queued: &QueuedBatch) {
        let added = Self::of(queued);
        self.changes += added.changes;
        self.kib += added.kib;
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use domain::Guid;
    use domain::change::Change;

    use super::*;
    use crate::ChangeLine;

    /// Of 1 MiB and a bit.
    fn batch(tenant: &str) -> ChangeBatch {
        let line = br#"{"area":"accounting","resource":"companies","action":"disable","correlationId":"c"}"#;
        let change = Change::parse(line, || Guid::from_bytes([0; 16])).unwrap().change;
        ChangeBatch {
            tenant: TenantId::new(tenant),
            process: Guid::from_bytes([0; 16]),
            lines: (0..2048).map(|number| ChangeLine { number, change: change.clone() }).collect(),
            counts: BatchCounts::default(),
            checkpoint: None,
            expires_at: None,
            edit: None,
        }
    }

    /// The result of a wait that does not have to wait.
    async fn now<T>(waiting: impl Future<Output = Result<T>>) -> Option<T> {
        Some(tokio::time::timeout(Duration::ZERO, waiting).await.ok()?.unwrap())
    }

    /// As many batches as there is room for.
    async fn fill(limits: &QueueLimits, tenant: &str) -> Vec<(QueuedBatch, BatchResult)> {
        let mut queued = Vec::new();
        while let Some(admitted) = now(limits.admit(batch(tenant))).await {
            queued.push(admitted);
        }
        queued
    }

    #[tokio::test]
    async fn a_tenant_that_fills_its_share_leaves_room_for_the_others() {
        let limits = QueueLimits::default();
        let mut queued = fill(&limits, "flood").await;
        assert_eq!(queued.len(), 7, "of 1 MiB and a bit in 8 MiB");
        assert_eq!(fill(&limits, "other").await.len(), queued.len(), "another tenant has as much");
        queued.remove(0);
        assert_eq!(fill(&limits, "flood").await.len(), 1, "a batch with its answer has left");
    }

    #[tokio::test]
    async fn tenants_without_batches_are_forgotten() {
        let limits = QueueLimits::default();
        let queued = fill(&limits, "flood").await;
        assert_eq!(limits.tenants.lock().len(), 1, "also after one that has stopped waiting");
        drop(queued);
        assert_eq!(limits.tenants.lock().len(), 0);
    }
}
