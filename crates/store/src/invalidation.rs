//! Counters that invalidate caches. Each counter is incremented after the commit and before the response, and
//! every cache lookup compares it, so a client always reads its own writes through this handle.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::atomic::{AtomicU64, Ordering};

use domain::{TenantId, WebhookId};

use crate::{CommitSignal, ResourceSet};

/// Tenants share counters by hash: a collision only costs a cache miss.
const SLOTS: usize = 4096;

pub struct InvalidationCounters {
    records: Box<[AtomicU64]>,
    access: AtomicU64,
    commit_signal: CommitSignal,
}

impl Default for InvalidationCounters {
    fn default() -> Self {
        Self {
            records: (0..SLOTS).map(|_| AtomicU64::new(0)).collect(),
            access: AtomicU64::new(0),
            commit_signal: CommitSignal::default(),
        }
    }
}

impl std::fmt::Debug for InvalidationCounters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("InvalidationCounters")
    }
}

impl InvalidationCounters {
    /// Changes with every change of the tenant's records.
    pub fn records_version(&self, tenant: &TenantId) -> u64 {
        self.slot(tenant).load(Ordering::Acquire)
    }

    /// Changes whenever access changes: a key, a client, a user, a tenant, a membership or an authorization.
    pub fn access_version(&self) -> u64 {
        self.access.load(Ordering::Acquire)
    }

    /// The signal that the delivery engine waits for.
    pub fn commit_signal(&self) -> &CommitSignal {
        &self.commit_signal
    }

    pub(crate) fn access_changed(&self) {
        let version = self.access.fetch_add(1, Ordering::AcqRel) + 1;
        self.commit_signal.signal_access(version);
    }

    /// Access changed, and with it perhaps whether these webhooks are delivered to.
    pub(crate) fn access_changed_for(&self, webhooks: &[WebhookId]) {
        // Before the version: the engine waits for the version and must know the webhooks by then.
        for webhook in webhooks {
            self.commit_signal.signal_webhook(*webhook);
        }
        self.access_changed();
    }

    /// `resources`: the resources of the log rows that were written.
    pub(crate) fn records_changed(&self, tenant: &TenantId, resources: ResourceSet) {
        self.slot(tenant).fetch_add(1, Ordering::AcqRel);
        if !resources.is_empty() {
            self.commit_signal.signal_records(tenant, resources);
        }
    }

    fn slot(&self, tenant: &TenantId) -> &AtomicU64 {
        let mut hasher = DefaultHasher::new();
        tenant.as_str().hash(&mut hasher);
        let slot_index = usize::try_from(hasher.finish() % SLOTS as u64).unwrap_or(0);
        &self.records[slot_index]
    }
}
