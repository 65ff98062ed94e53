//! Subscription keys: looked up in the store, known for a moment, so that a hot key costs no look-up and a
//! suspended one is refused within seconds.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

use domain::{Secret, Ticks};
use parking_lot::RwLock;
use store::{Result, Standing, Store, Subscription};

/// How long what the store said of a key is believed.
const FRESH: Duration = Duration::from_secs(2);
const ENTRIES_MAX: usize = 10_000;

pub(crate) struct KnownKeys {
    store: Arc<dyn Store>,
    known: RwLock<HashMap<u64, Known>>,
}

struct Known {
    key: Secret,
    subscription: Arc<Subscription>,
    asked_at: Ticks,
}

impl KnownKeys {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, known: RwLock::default() }
    }

    /// The active subscription that a key opens.
    pub(crate) async fn find(&self, key: &str, now: Ticks) -> Result<Option<Arc<Subscription>>> {
        let place = place(key);
        if let Some(known) = self.known.read().get(&place)
            && known.key.reveal() == key
            && now.since(known.asked_at) < FRESH
        {
            return Ok(Some(known.subscription.clone()));
        }
        let key = Secret::new(key);
        let found = self.store.find_subscription_by_key(&key, now).await?;
        let found = found.filter(|one| one.standing == Standing::Active).map(Arc::new);
        match &found {
            // Only good keys are remembered: guesses must not push them out.
            Some(subscription) => {
                let known = Known { key, subscription: subscription.clone(), asked_at: now };
                self.learn(place, known, now);
            }
            None => {
                self.known.write().remove(&place);
            }
        }
        Ok(found)
    }

    fn learn(&self, place: u64, new: Known, now: Ticks) {
        let mut known = self.known.write();
        if known.len() >= ENTRIES_MAX {
            known.retain(|_, one| now.since(one.asked_at) < FRESH);
        }
        if known.len() < ENTRIES_MAX {
            known.insert(place, new);
        }
    }
}

fn place(key: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}
