//! What the engine has done and is doing, for who measures it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Clone, Debug, Default)]
pub struct Counts(Arc<Numbers>);

#[derive(Debug, Default)]
struct Numbers {
    delivered: AtomicU64,
    failed: AtomicU64,
    in_flight: AtomicU64,
    webhooks: AtomicU64,
}

impl Counts {
    /// Deliveries that were taken, since the program started.
    pub fn delivered(&self) -> u64 {
        self.0.delivered.load(Ordering::Relaxed)
    }

    /// Attempts that failed.
    pub fn failed(&self) -> u64 {
        self.0.failed.load(Ordering::Relaxed)
    }

    pub fn in_flight(&self) -> u64 {
        self.0.in_flight.load(Ordering::Relaxed)
    }

    /// Those that are this node's.
    pub fn webhooks(&self) -> u64 {
        self.0.webhooks.load(Ordering::Relaxed)
    }

    pub(super) fn count(&self, succeeded: bool) {
        let number = if succeeded { &self.0.delivered } else { &self.0.failed };
        number.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn tell(&self, in_flight: usize, webhooks: usize) {
        self.0.in_flight.store(in_flight as u64, Ordering::Relaxed);
        self.0.webhooks.store(webhooks as u64, Ordering::Relaxed);
    }
}
