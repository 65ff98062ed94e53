//! Caches whether grants are live. An entry is used for 2 s, a revocation on this node counts at once, and if the
//! store does not respond for 5 s, all tokens are refused.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use domain::{Clock, GrantId, Ticks};
use parking_lot::Mutex;
use store::{Result, Store};

/// After this time the store is queried again.
const FRESH: Duration = Duration::from_secs(2);
/// After this time an entry is not used even if the store is unavailable.
const STALE: Duration = Duration::from_secs(5);
const ENTRIES_MAX: usize = 100_000;

pub(crate) struct GrantStatusCache {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    entries: Mutex<HashMap<GrantId, GrantStatus>>,
}

#[derive(Clone, Copy)]
struct GrantStatus {
    is_live: bool,
    /// When the query started, so that no later revocation is missed.
    queried_at: Ticks,
    /// The access counter at that time; if it has changed, the store is queried again.
    access: u64,
}

impl GrantStatusCache {
    pub(crate) fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock, entries: Mutex::default() }
    }

    pub(crate) async fn is_live(&self, grant: &GrantId) -> Result<bool> {
        let (now, access) = (self.clock.now(), self.store.invalidation().access_version());
        let entries = self.entries.lock().get(grant).copied();
        let is_fresh = |status: &GrantStatus| status.access == access && now.since(status.queried_at) < FRESH;
        if let Some(status) = entries.filter(is_fresh) {
            return Ok(status.is_live);
        }
        let result = self.store.is_grant_live(grant).await;
        if let Ok(is_live) = result {
            self.remember(grant, GrantStatus { is_live, queried_at: now, access });
        }
        result.or_else(|error| usable_without_store(entries, now).ok_or(error))
    }

    /// Caches a status, unless the entry is more recent.
    fn remember(&self, grant: &GrantId, status: GrantStatus) {
        let mut entries = self.entries.lock();
        if entries.len() >= ENTRIES_MAX {
            entries.retain(|_, entry| status.queried_at.since(entry.queried_at) < FRESH);
        }
        // A revocation since the query started is more recent.
        let is_older = entries.get(grant).is_some_and(|entry| entry.queried_at > status.queried_at);
        if !is_older && entries.len() < ENTRIES_MAX {
            entries.insert(grant.clone(), status);
        }
    }

    /// Records that this node has revoked the grant.
    pub(crate) fn mark_revoked(&self, grant: &GrantId) {
        let queried_at = self.clock.now().next();
        self.entries.lock().insert(
            grant.clone(),
            GrantStatus { is_live: false, queried_at, access: self.store.invalidation().access_version() },
        );
    }
}

/// The status of an entry that may be used while the store is unavailable.
fn usable_without_store(entries: Option<GrantStatus>, now: Ticks) -> Option<bool> {
    entries.filter(|status| now.since(status.queried_at) < STALE).map(|status| status.is_live)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_is_used_for_less_than_five_seconds_without_the_store() {
        let queried_at = Ticks(639_000_000_000_000_000);
        let entries = |is_live| Some(GrantStatus { is_live, queried_at, access: 0 });
        let after = |milliseconds| queried_at + Duration::from_millis(milliseconds);
        assert_eq!(usable_without_store(entries(true), after(4999)), Some(true));
        assert_eq!(usable_without_store(entries(false), after(4999)), Some(false));
        assert_eq!(usable_without_store(entries(true), after(5000)), None);
        assert_eq!(usable_without_store(None, after(0)), None);
    }
}
