//! Joins the changes of one tenant that wait on this node into one transaction: while one is under way,
//! the next gathers.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use domain::TenantId;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::PostgresStore;
use crate::waiting::{Load, Room, closed};
use crate::{BatchCounts, ChangeBatch, ResourceSet, Result, StoreError};

struct Waiting {
    batch: ChangeBatch,
    answer: oneshot::Sender<Result<BatchCounts>>,
}

/// What waits per tenant; a tenant that is listed has somebody who writes.
#[derive(Default)]
pub(super) struct Gather {
    tenants: Mutex<HashMap<TenantId, Vec<Waiting>>>,
    commits: AtomicU64,
    room: Room,
}

impl Gather {
    pub(super) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    pub(super) fn queued(&self) -> usize {
        self.tenants.lock().values().map(Vec::len).sum()
    }

    /// Puts a batch in line; true for the one who must write.
    fn join(&self, waiting: Waiting) -> bool {
        let mut tenants = self.tenants.lock();
        let tenant = waiting.batch.tenant.clone();
        let first = !tenants.contains_key(&tenant);
        tenants.entry(tenant).or_default().push(waiting);
        first
    }

    /// The next group of a tenant; none once nobody waits, and then the next who comes must write.
    fn next(&self, tenant: &TenantId) -> Option<Vec<Waiting>> {
        let mut tenants = self.tenants.lock();
        let line = tenants.get_mut(tenant)?;
        if line.is_empty() {
            tenants.remove(tenant);
            return None;
        }
        let mut load = Load::default();
        let fits = line.iter().take_while(|waiting| {
            let room = load.has_room();
            load.add(&waiting.batch);
            room
        });
        let count = fits.count();
        Some(line.drain(..count).collect())
    }
}

impl PostgresStore {
    pub(super) async fn gather(&self, batch: ChangeBatch) -> Result<BatchCounts> {
        let _room = self.inner.gather.room.for_batch(&batch).await?;
        let (answer, receiver) = oneshot::channel();
        let tenant = batch.tenant.clone();
        if self.inner.gather.join(Waiting { batch, answer }) {
            // A task of its own, so that a caller who goes away takes nobody's changes along.
            let store = self.clone();
            tokio::spawn(async move { store.write_gathered(&tenant).await });
        }
        receiver.await.map_err(|_| closed())?
    }

    async fn write_gathered(&self, tenant: &TenantId) {
        while let Some(group) = self.inner.gather.next(tenant) {
            let (batches, answers): (Vec<_>, Vec<_>) =
                group.into_iter().map(|waiting| (waiting.batch, waiting.answer)).unzip();
            // Again a task of its own: one that breaks down must not leave the tenant's line without a writer.
            let (store, whose) = (self.clone(), tenant.clone());
            let applying = tokio::spawn(async move { store.apply(&whose, batches).await });
            let applied = applying.await.unwrap_or_else(|error| Err(StoreError::internal(error)));
            if applied.is_ok() {
                self.inner.gather.commits.fetch_add(1, Ordering::Relaxed);
            }
            let (grown, counts_by_batch) = applied.unwrap_or_else(|error| {
                tracing::warn!(%error, "a group of changes failed");
                (ResourceSet::default(), answers.iter().map(|_| Err(error.clone())).collect())
            });
            // Whatever came of it: a number that moves without cause does no harm.
            self.records_changed(tenant, grown);
            for (answer, counts) in answers.into_iter().zip(counts_by_batch) {
                let _ = answer.send(counts);
            }
        }
    }
}
