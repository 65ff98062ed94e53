//! Signals commits to the delivery engine, so that it does not poll. Each signal says what changed; signals
//! that the engine has not read yet are merged.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};

use domain::{Resource, TenantId, WebhookId};
use parking_lot::Mutex;
use tokio::sync::Notify;

#[derive(Debug, Default)]
pub struct CommitSignal {
    /// While nobody listens, changes are not collected.
    has_listener: AtomicBool,
    changes: Mutex<ChangeSet>,
    notify: Notify,
}

/// What changed since the last call to `wait`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeSet {
    /// Tenants whose log has new events, and the resources of those events.
    pub tenants: HashMap<TenantId, ResourceSet>,
    pub webhooks: HashSet<WebhookId>,
    /// The access of a client, user, tenant or subscription changed.
    pub access: bool,
    /// A node released shards: others may take them at once.
    pub shards: bool,
    /// The access version of this handle that the changes reach; 0 if none of its own changes is among them.
    pub access_version: u64,
    /// The changes are unknown: reload everything.
    pub all: bool,
}

impl ChangeSet {
    pub(crate) fn add_records(&mut self, tenant: &TenantId, resources: ResourceSet) {
        if let Some(known) = self.tenants.get_mut(tenant) {
            known.0 |= resources.0;
        } else {
            self.tenants.insert(tenant.clone(), resources);
        }
    }

    fn join(&mut self, other: Self) {
        for (tenant, resources) in &other.tenants {
            self.add_records(tenant, *resources);
        }
        self.webhooks.extend(other.webhooks);
        self.access |= other.access;
        self.shards |= other.shards;
        self.access_version = self.access_version.max(other.access_version);
        self.all |= other.all;
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A set of resources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResourceSet(u64);

impl ResourceSet {
    pub fn with(self, resource: Resource) -> Self {
        Self(self.0 | bit(resource))
    }

    pub fn contains(self, resource: Resource) -> bool {
        self.0 & bit(resource) != 0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn bits(self) -> u64 {
        self.0
    }

    pub fn from_bits(bits: u64) -> Self {
        Self(bits)
    }
}

impl FromIterator<Resource> for ResourceSet {
    fn from_iter<T: IntoIterator<Item = Resource>>(resources: T) -> Self {
        resources.into_iter().fold(Self::default(), Self::with)
    }
}

fn bit(resource: Resource) -> u64 {
    // Codes are below 128 and in three groups: 1 to 19, 40, 101 to 118.
    let code = u32::from(resource.code().unsigned_abs());
    1 << if code > 100 { code - 60 } else { code }
}

impl CommitSignal {
    /// Starts collecting changes.
    pub fn listen(&self) {
        self.has_listener.store(true, Ordering::Release);
    }

    /// Waits for changes and takes them.
    pub async fn wait(&self) -> ChangeSet {
        loop {
            let notified = self.notify.notified();
            let changes = std::mem::take(&mut *self.changes.lock());
            if !changes.is_empty() {
                return changes;
            }
            notified.await;
        }
    }

    pub fn signal_records(&self, tenant: &TenantId, resources: ResourceSet) {
        self.signal(|changes| changes.add_records(tenant, resources));
    }

    pub fn signal_webhook(&self, webhook: WebhookId) {
        self.signal(|changes| {
            changes.webhooks.insert(webhook);
        });
    }

    pub fn signal_access(&self, version: u64) {
        self.signal(|changes| {
            changes.access = true;
            changes.access_version = changes.access_version.max(version);
        });
    }

    pub fn signal_all(&self) {
        self.signal(|changes| changes.all = true);
    }

    /// Merges changes that another node reported.
    pub(crate) fn signal_changes(&self, other: ChangeSet) {
        self.signal(|changes| changes.join(other));
    }

    fn signal(&self, record: impl FnOnce(&mut ChangeSet)) {
        if self.has_listener.load(Ordering::Acquire) {
            record(&mut self.changes.lock());
            self.notify.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_resource_has_its_own_bit() {
        let mut all = ResourceSet::default();
        for resource in Resource::all() {
            assert!(!all.contains(resource), "{resource:?}");
            all = all.with(resource);
        }
        assert_eq!(all.bits().count_ones(), 38);
    }
}
