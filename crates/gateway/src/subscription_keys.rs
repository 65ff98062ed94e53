//! Subscription keys: looked up in the store and cached for 2 seconds. A key that is suspended or replaced is refused
//! at once on the node where that happened, and within 2 seconds on others.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use domain::ids::SubscriptionId;
use domain::{Secret, Ticks};
use parking_lot::{Mutex, RwLock};
use store::{CallCount, KeyLastUse, Result, Status, Store, Subscription};

use crate::meter::Meter;

/// How long a key is served from memory.
const KEY_AGE_MAX: Duration = Duration::from_secs(2);
const KEYS_MAX: usize = 10_000;
const METERS_MAX: usize = 100_000;

pub(crate) struct SubscriptionKeys {
    store: Arc<dyn Store>,
    /// The paths that calls are counted under.
    paths: Arc<[String]>,
    active: RwLock<HashMap<Box<str>, Arc<ActiveKey>>>,
    meters: Mutex<HashMap<SubscriptionId, Arc<Meter>>>,
}

/// A key of a subscription.
pub(crate) enum FoundKey {
    Active(Arc<ActiveKey>),
    /// The subscription is suspended; the meter records the calls for its team.
    Suspended(Arc<Meter>),
}

/// A key of an active subscription.
pub(crate) struct ActiveKey {
    pub(crate) subscription: Subscription,
    pub(crate) meter: Arc<Meter>,
    loaded_at: Ticks,
    /// The store's access counter before the key was loaded.
    invalidation: u64,
    /// Zero: not used since the last flush.
    used_at: AtomicI64,
}

impl ActiveKey {
    /// Counts one call. `route` is the index of its path.
    pub(crate) fn count(&self, route: usize, is_error: bool, now: Ticks) {
        self.used_at.store(now.0, Ordering::Relaxed);
        self.meter.count(route, is_error, now);
    }
}

impl SubscriptionKeys {
    pub(crate) fn new(store: Arc<dyn Store>, paths: Arc<[String]>) -> Self {
        Self { store, paths, active: RwLock::default(), meters: Mutex::default() }
    }

    /// Finds the subscription of a key.
    pub(crate) async fn find(&self, key: &str, now: Ticks) -> Result<Option<FoundKey>> {
        let invalidation = self.store.invalidation().access_version();
        let cached = self.active.read().get(key).cloned();
        if let Some(active) = &cached
            && active.invalidation == invalidation
            && now >= active.loaded_at
            && now.since(active.loaded_at) < KEY_AGE_MAX
        {
            return Ok(cached.map(FoundKey::Active));
        }
        let found = self.store.find_subscription_by_key(&Secret::new(key), now).await?;
        let Some(subscription) = found else {
            self.active.write().remove(key);
            return Ok(None);
        };
        if subscription.status != Status::Active {
            self.active.write().remove(key);
            return Ok(Some(FoundKey::Suspended(self.meter(&subscription.id))));
        }
        let used_at = cached.map_or(0, |active| active.used_at.swap(0, Ordering::Relaxed));
        let meter = self.meter(&subscription.id);
        let used_at = AtomicI64::new(used_at);
        let active = Arc::new(ActiveKey { subscription, meter, loaded_at: now, invalidation, used_at });
        self.insert(key, active.clone(), now);
        Ok(Some(FoundKey::Active(active)))
    }

    /// Only valid keys are cached: guesses cannot evict them.
    fn insert(&self, key: &str, active: Arc<ActiveKey>, now: Ticks) {
        let mut keys = self.active.write();
        if keys.len() >= KEYS_MAX {
            keys.retain(|_, active| now.since(active.loaded_at) < KEY_AGE_MAX);
        }
        if keys.len() < KEYS_MAX {
            keys.insert(key.into(), active);
        }
    }

    fn meter(&self, id: &SubscriptionId) -> Arc<Meter> {
        let mut meters = self.meters.lock();
        if meters.len() >= METERS_MAX {
            meters.retain(|_, meter| Arc::strong_count(meter) > 1);
        }
        let create = || Arc::new(Meter::new(id.clone(), self.paths.clone()));
        meters.entry(id.clone()).or_insert_with(create).clone()
    }

    /// Writes the counted calls to the store, and reads how many calls all nodes have counted today for the
    /// subscriptions that have a quota.
    pub(crate) async fn flush_usage(&self, now: Ticks, quota_per_day: Option<u64>) -> Result<()> {
        let meters: Vec<Arc<Meter>> = self.meters.lock().values().cloned().collect();
        let calls: Vec<CallCount> = meters.iter().flat_map(|meter| meter.take_counts()).collect();
        let (used, with_quota) = self.take_last_uses(quota_per_day);
        if !calls.is_empty() || !used.is_empty() {
            let written = self.store.record_usage(&calls, &used).await;
            if written.is_err() {
                for meter in &meters {
                    meter.restore_counts(&calls);
                }
                return written;
            }
        }
        for meter in with_quota {
            let stored = self.store.calls_on_day(&meter.subscription, now.day()).await?;
            meter.set_stored_calls(stored, now);
        }
        Ok(())
    }

    /// The keys used since the last flush, and the meters of those that have a quota.
    fn take_last_uses(&self, quota_per_day: Option<u64>) -> (Vec<KeyLastUse>, Vec<Arc<Meter>>) {
        let (mut used, mut with_quota) = (Vec::new(), Vec::new());
        for (key, active) in self.active.read().iter() {
            let at = Ticks(active.used_at.swap(0, Ordering::Relaxed));
            if at != Ticks(0) {
                used.push(KeyLastUse { key: Secret::new(&**key), at });
                if active.subscription.daily_quota.or(quota_per_day).is_some() {
                    with_quota.push(active.meter.clone());
                }
            }
        }
        (used, with_quota)
    }
}
