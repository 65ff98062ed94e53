//! argon2id off the async threads, a few at a time; who comes when too many wait is sent away at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use domain::{Secret, password};
use prometheus_client::metrics::counter::Counter;
use tokio::sync::Semaphore;

pub(crate) struct Hashing {
    running: Arc<Semaphore>,
    waiting: AtomicUsize,
    waiting_max: usize,
    /// How many hashes were computed.
    pub(crate) computed: Counter,
}

impl Hashing {
    pub(crate) fn new(parallel: usize, waiting_max: usize) -> Self {
        Self {
            running: Arc::new(Semaphore::new(parallel.max(1))),
            waiting: AtomicUsize::new(0),
            waiting_max,
            computed: Counter::default(),
        }
    }

    /// Whether the password belongs to the hash (never, where there is none). None where too many wait.
    pub(crate) async fn matches(&self, password: Secret, hash: Option<String>) -> Option<bool> {
        let _place = Place::take(self)?;
        let permit = self.running.clone().acquire_owned().await.ok()?;
        self.computed.inc();
        let is_known = hash.is_some();
        let hash = hash.unwrap_or_else(|| password::DUMMY_HASH.to_owned());
        let comparing = tokio::task::spawn_blocking(move || {
            let matches = password::matches(&password, &hash);
            drop(permit);
            matches
        });
        comparing.await.ok().map(|matches| matches && is_known)
    }
}

/// A place among those who wait or are served.
struct Place<'a>(&'a AtomicUsize);

impl<'a> Place<'a> {
    fn take(hashing: &'a Hashing) -> Option<Self> {
        let place = Self(&hashing.waiting);
        let before = hashing.waiting.fetch_add(1, Ordering::Relaxed);
        (before < hashing.waiting_max).then_some(place)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
