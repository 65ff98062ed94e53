//! Queues change batches per tenant and writes the waiting batches of a tenant in one transaction.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use domain::TenantId;
use parking_lot::Mutex;

use super::PostgresStore;
use crate::write_queue::{GroupSize, QueueLimits, QueuedBatch, closed};
use crate::{BatchCounts, ChangeBatch, ResourceSet, Result, StoreError};

/// A group takes no further batch beyond this. Writing so much takes a few tens of milliseconds, which bounds the wait of the tenant's
/// next group. Other tenants do not wait for it.
const GROUP_MAX: GroupSize = GroupSize { changes: 2048, kib: 4096 };

/// Waiting batches per tenant. A listed tenant has a running writer task.
#[derive(Default)]
pub(super) struct BatchQueue {
    tenants: Mutex<HashMap<TenantId, Vec<QueuedBatch>>>,
    commits: AtomicU64,
    limits: QueueLimits,
}

impl BatchQueue {
    pub(super) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    pub(super) fn queued(&self) -> usize {
        self.tenants.lock().values().map(Vec::len).sum()
    }

    /// Queues a batch; returns true if the caller must start the writer task.
    fn enqueue(&self, queued: QueuedBatch) -> bool {
        let mut tenants = self.tenants.lock();
        let tenant = queued.batch.tenant.clone();
        let first = !tenants.contains_key(&tenant);
        tenants.entry(tenant).or_default().push(queued);
        first
    }

    /// The tenant's next group. None ends the writer task: the next batch starts a new one.
    fn next(&self, tenant: &TenantId) -> Option<Vec<QueuedBatch>> {
        let mut tenants = self.tenants.lock();
        let queue = tenants.get_mut(tenant)?;
        queue.retain(|queued| !queued.answer.is_abandoned());
        if queue.is_empty() {
            tenants.remove(tenant);
            return None;
        }
        let mut size = GroupSize::default();
        let fits = queue.iter().take_while(|queued| {
            let has_room = size.is_below(GROUP_MAX);
            size.add(queued);
            has_room
        });
        let count = fits.count();
        Some(queue.drain(..count).collect())
    }
}

impl PostgresStore {
    pub(super) async fn batch_queue(&self, batch: ChangeBatch) -> Result<BatchCounts> {
        let tenant = batch.tenant.clone();
        let (queued, receiver) = self.inner.batch_queue.limits.admit(batch).await?;
        if self.inner.batch_queue.enqueue(queued) {
            // A separate task, so that a cancelled caller does not cancel the changes of others.
            let store = self.clone();
            tokio::spawn(async move { store.write_queued(&tenant).await });
        }
        receiver.await.map_err(|_| closed())?
    }

    async fn write_queued(&self, tenant: &TenantId) {
        while let Some(group) = self.inner.batch_queue.next(tenant) {
            let (batches, answers): (Vec<_>, Vec<_>) =
                group.into_iter().map(|queued| (queued.batch, queued.answer)).unzip();
            // Another separate task: a panic must not leave the tenant's queue without a writer.
            let (store, tenant_id) = (self.clone(), tenant.clone());
            let applying = tokio::spawn(async move { store.apply(&tenant_id, batches).await });
            let applied = applying.await.unwrap_or_else(|error| Err(StoreError::internal(error)));
            if applied.is_ok() {
                self.inner.batch_queue.commits.fetch_add(1, Ordering::Relaxed);
            }
            let (changed, counts_by_batch) = applied.unwrap_or_else(|error| {
                tracing::warn!(%error, "writing a group of changes failed");
                (ResourceSet::default(), answers.iter().map(|_| Err(error.clone())).collect())
            });
            // Also after a failure, since the commit may have succeeded; a needless increment only costs a
            // cache miss.
            self.records_changed(tenant, changed);
            for (answer, counts) in answers.into_iter().zip(counts_by_batch) {
                answer.send(counts);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::Guid;

    use super::*;

    #[tokio::test]
    async fn batch_whose_caller_is_gone_is_not_taken_up() {
        let (queue, tenant) = (BatchQueue::default(), TenantId::new("t"));
        let batch = |number| ChangeBatch {
            tenant: tenant.clone(),
            process: Guid::from_bytes([number; 16]),
            lines: Vec::new(),
            counts: BatchCounts::default(),
            checkpoint: None,
            expires_at: None,
            edit: None,
        };
        let mut receivers = Vec::new();
        for number in 0..3 {
            let (queued, receiver) = queue.limits.admit(batch(number)).await.unwrap();
            assert_eq!(queue.enqueue(queued), number == 0, "the first starts the writer task");
            receivers.push(receiver);
        }
        receivers.remove(1);
        let group = queue.next(&tenant).unwrap();
        let numbers: Vec<u8> = group.iter().map(|queued| queued.batch.process.as_bytes()[0]).collect();
        assert_eq!(numbers, [0, 2]);
        let (queued, abandoned) = queue.limits.admit(batch(3)).await.unwrap();
        queue.enqueue(queued);
        drop(abandoned);
        assert!(queue.next(&tenant).is_none(), "the writer task ends");
        let (queued, _waiting) = queue.limits.admit(batch(4)).await.unwrap();
        assert!(queue.enqueue(queued), "and the next batch starts a new one");
    }
}
