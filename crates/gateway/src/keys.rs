//! Subscription keys: looked up in the store, known for a moment, so that a hot key costs no look-up. One that is
//! suspended or replaced is refused at once where that was done, and within seconds on other nodes.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use domain::ids::SubscriptionId;
use domain::{Secret, Ticks};
use parking_lot::{Mutex, RwLock};
use store::{CallCount, KeyLastUse, Result, Status, Store, Subscription};

use crate::meter::Meter;

/// How long what the store said of a key is believed.
const FRESH: Duration = Duration::from_secs(2);
const KEYS_MAX: usize = 10_000;
const METERS_MAX: usize = 100_000;

pub(crate) struct KnownKeys {
    store: Arc<dyn Store>,
    /// The addresses that calls are counted under.
    routes: Arc<[String]>,
    known: RwLock<HashMap<Box<str>, Arc<Pass>>>,
    meters: Mutex<HashMap<SubscriptionId, Arc<Meter>>>,
}

/// What a good key opens.
pub(crate) struct Pass {
    pub(crate) subscription: Subscription,
    pub(crate) meter: Arc<Meter>,
    asked_at: Ticks,
    /// What stood of everybody's access when the store was asked.
    access: u64,
    /// Zero: not since it was last told.
    used_at: AtomicI64,
}

impl Pass {
    /// Counts a call that was answered.
    pub(crate) fn count(&self, endpoint: usize, failed: bool, now: Ticks) {
        self.used_at.store(now.0, Ordering::Relaxed);
        self.meter.count(endpoint, failed, now);
    }
}

impl KnownKeys {
    pub(crate) fn new(store: Arc<dyn Store>, routes: Arc<[String]>) -> Self {
        Self { store, routes, known: RwLock::default(), meters: Mutex::default() }
    }

    /// The active subscription that a key opens.
    pub(crate) async fn find(&self, key: &str, now: Ticks) -> Result<Option<Arc<Pass>>> {
        let access = self.store.invalidation().access_version();
        let known = self.known.read().get(key).cloned();
        if let Some(pass) = &known
            && pass.access == access
            && now >= pass.asked_at
            && now.since(pass.asked_at) < FRESH
        {
            return Ok(known);
        }
        let found = self.store.find_subscription_by_key(&Secret::new(key), now).await?;
        let Some(subscription) = found.filter(|one| one.status == Status::Active) else {
            self.known.write().remove(key);
            return Ok(None);
        };
        let used_at = known.map_or(0, |pass| pass.used_at.swap(0, Ordering::Relaxed));
        let meter = self.meter(&subscription.id);
        let used_at = AtomicI64::new(used_at);
        let pass = Arc::new(Pass { subscription, meter, asked_at: now, access, used_at });
        self.learn(key, pass.clone(), now);
        Ok(Some(pass))
    }

    /// Only good keys are remembered: guesses must not push them out.
    fn learn(&self, key: &str, pass: Arc<Pass>, now: Ticks) {
        let mut known = self.known.write();
        if known.len() >= KEYS_MAX {
            known.retain(|_, one| now.since(one.asked_at) < FRESH);
        }
        if known.len() < KEYS_MAX {
            known.insert(key.into(), pass);
        }
    }

    fn meter(&self, id: &SubscriptionId) -> Arc<Meter> {
        let mut meters = self.meters.lock();
        if meters.len() >= METERS_MAX {
            meters.retain(|_, meter| Arc::strong_count(meter) > 1);
        }
        let made = || Arc::new(Meter::new(id.clone(), self.routes.clone()));
        meters.entry(id.clone()).or_insert_with(made).clone()
    }

    /// Tells the store what was counted, and learns what other nodes have counted of those with a quota.
    pub(crate) async fn tell(&self, now: Ticks, quota_per_day: Option<u64>) -> Result<()> {
        let meters: Vec<Arc<Meter>> = self.meters.lock().values().cloned().collect();
        let calls: Vec<CallCount> = meters.iter().flat_map(|meter| meter.take()).collect();
        let (used, with_quota) = self.since_last_time(quota_per_day);
        if !calls.is_empty() || !used.is_empty() {
            let told = self.store.record_usage(&calls, &used).await;
            if told.is_err() {
                for meter in &meters {
                    meter.give_back(&calls);
                }
                return told;
            }
        }
        for meter in with_quota {
            let told = self.store.calls_on_day(&meter.subscription, now.day()).await?;
            meter.learn_quota(told, now);
        }
        Ok(())
    }

    /// The keys that were used, and the meters of those that have a quota.
    fn since_last_time(&self, quota_per_day: Option<u64>) -> (Vec<KeyLastUse>, Vec<Arc<Meter>>) {
        let (mut used, mut with_quota) = (Vec::new(), Vec::new());
        for (key, pass) in self.known.read().iter() {
            let at = Ticks(pass.used_at.swap(0, Ordering::Relaxed));
            if at != Ticks(0) {
                used.push(KeyLastUse { key: Secret::new(&**key), at });
                if pass.subscription.daily_quota.or(quota_per_day).is_some() {
                    with_quota.push(pass.meter.clone());
                }
            }
        }
        (used, with_quota)
    }
}
