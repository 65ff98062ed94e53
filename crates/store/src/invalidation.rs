//! Tells whether something has changed through this handle since somebody looked. Who keeps what was read asks
//! here first: a number that moved means that it may be out of date. It moves after the commit and before the
//! answer, so who reads after an answer never finds what was before it.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::atomic::{AtomicU64, Ordering};

use domain::TenantId;

use crate::{CommitSignal, ResourceSet};

/// Tenants share numbers by their hash: one that moves without cause costs its readers a look-up.
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
        f.write_str("Moves")
    }
}

impl InvalidationCounters {
    /// Moves with every change of a tenant's records.
    pub fn records_version(&self, tenant: &TenantId) -> u64 {
        self.slot(tenant).load(Ordering::Acquire)
    }

    /// Moves when somebody's access changes: a key, a client, a user, a tenant, a membership.
    pub fn access_version(&self) -> u64 {
        self.access.load(Ordering::Acquire)
    }

    /// What the delivery engine listens to.
    pub fn commit_signal(&self) -> &CommitSignal {
        &self.commit_signal
    }

    pub(crate) fn access_changed(&self) {
        self.access.fetch_add(1, Ordering::AcqRel);
        self.commit_signal.signal_access();
    }

    /// `resources`: those of the log rows that were written.
    pub(crate) fn records_changed(&self, tenant: &TenantId, resources: ResourceSet) {
        self.slot(tenant).fetch_add(1, Ordering::AcqRel);
        if !resources.is_empty() {
            self.commit_signal.signal_records(tenant, resources);
        }
    }

    fn slot(&self, tenant: &TenantId) -> &AtomicU64 {
        let mut hasher = DefaultHasher::new();
        tenant.as_str().hash(&mut hasher);
        let place = usize::try_from(hasher.finish() % SLOTS as u64).unwrap_or(0);
        &self.records[place]
    }
}
