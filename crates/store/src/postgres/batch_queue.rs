//! Queues change batches per tenant and writes the waiting batches of a tenant in one transaction.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use domain::TenantId;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::PostgresStore;
use crate::write_queue::{GroupSize, QueueLimits, closed};
use crate::{BatchCounts, ChangeBatch, ResourceSet, Result, StoreError};

struct QueuedBatch {
    batch: ChangeBatch,
    answer: oneshot::Sender<Result<BatchCounts>>,
}

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
        if queue.is_empty() {
            tenants.remove(tenant);
            return None;
        }
        let mut size = GroupSize::default();
        let fits = queue.iter().take_while(|queued| {
            let limits = size.has_room();
            size.add(&queued.batch);
            limits
        });
        let count = fits.count();
        Some(queue.drain(..count).collect())
    }
}

impl PostgresStore {
    pub(super) async fn batch_queue(&self, batch: ChangeBatch) -> Result<BatchCounts> {
        let _room = self.inner.batch_queue.limits.for_batch(&batch).await?;
        let (answer, receiver) = oneshot::channel();
        let tenant = batch.tenant.clone();
        if self.inner.batch_queue.enqueue(QueuedBatch { batch, answer }) {
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
                let _ = answer.send(counts);
            }
        }
    }
}
