//! Verifies passwords with argon2id on blocking threads, a few in parallel, behind a bounded queue.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use domain::{Random, Secret, password};
use prometheus_client::metrics::counter::Counter;
use tokio::sync::Semaphore;

use crate::joined::joined;

pub(crate) struct PasswordHasher {
    running: Arc<Semaphore>,
    waiting: AtomicUsize,
    waiting_max: usize,
    /// Number of computed hashes.
    pub(crate) computed: Counter,
}

impl PasswordHasher {
    pub(crate) fn new(parallel: usize, waiting_max: usize) -> Self {
        Self {
            running: Arc::new(Semaphore::new(parallel.max(1))),
            waiting: AtomicUsize::new(0),
            waiting_max,
            computed: Counter::default(),
        }
    }

    /// Whether the queue has no place left.
    pub(crate) fn is_full(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) >= self.waiting_max
    }

    /// Hashes a new password that keeps the rules. `None` if the queue is full.
    pub(crate) async fn hash(&self, password: Secret, random: Arc<dyn Random>) -> Option<String> {
        let _slot = QueueSlot::take(self)?;
        let permit = self.running.clone().acquire_owned().await.ok()?;
        self.computed.inc();
        let hashing = tokio::task::spawn_blocking(move || {
            let hash = password::hash(&password, &*random).ok();
            drop(permit);
            hash
        });
        joined(hashing).await.flatten()
    }

    /// Whether the password matches the hash; false without a hash. `None` if the queue is full.
    pub(crate) async fn matches(&self, password: Secret, hash: Option<String>) -> Option<bool> {
        let _slot = QueueSlot::take(self)?;
        let permit = self.running.clone().acquire_owned().await.ok()?;
        self.computed.inc();
        let is_known = hash.is_some();
        let hash = hash.unwrap_or_else(|| password::DUMMY_HASH.to_owned());
        let comparison = tokio::task::spawn_blocking(move || {
            let matches = password::matches(&password, &hash);
            drop(permit);
            matches
        });
        joined(comparison).await.map(|matches| matches && is_known)
    }
}

/// A slot in the queue, including requests that are being served.
struct QueueSlot<'a>(&'a AtomicUsize);

impl<'a> QueueSlot<'a> {
    fn take(password_hasher: &'a PasswordHasher) -> Option<Self> {
        let slot = Self(&password_hasher.waiting);
        let before = password_hasher.waiting.fetch_add(1, Ordering::Relaxed);
        (before < password_hasher.waiting_max).then_some(slot)
    }
}

impl Drop for QueueSlot<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
