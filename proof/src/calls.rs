//! What clients saw of their calls: how many, how long, and why some were repeated.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// What clients saw of one kind of call.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    pub(crate) done: AtomicUsize,
    /// Attempts that failed and were repeated.
    pub(crate) repeated: AtomicUsize,
    /// Those that the service answered with 500: it took a fault that passes for a bug of its own.
    internal: AtomicUsize,
    /// Calls that failed although they were repeated.
    pub(crate) failed: AtomicUsize,
    /// The longest call with all its repetitions.
    longest: Mutex<Duration>,
    /// The first reasons of failures, for the message.
    reasons: Mutex<Vec<String>>,
}

impl Calls {
    pub(crate) fn done(&self) -> usize {
        self.done.load(Ordering::Relaxed)
    }

    pub(crate) fn failed(&self) -> usize {
        self.failed.load(Ordering::Relaxed)
    }

    pub(crate) fn repeated(&self) -> usize {
        self.repeated.load(Ordering::Relaxed)
    }

    pub(crate) fn internal(&self) -> usize {
        self.internal.load(Ordering::Relaxed)
    }

    pub(crate) fn longest(&self) -> Duration {
        *self.longest.lock()
    }

    pub(crate) fn reasons(&self) -> String {
        self.reasons.lock().join("; ")
    }

    pub(crate) fn finished(&self, from: Instant) {
        let took = from.elapsed();
        self.done.fetch_add(1, Ordering::Relaxed);
        let mut longest = self.longest.lock();
        *longest = longest.max(took);
    }

    pub(crate) fn repeated_because(&self, reason: &str) {
        self.repeated.fetch_add(1, Ordering::Relaxed);
        let is_internal = reason.starts_with("500 ") || reason.contains("\"server_error\"");
        self.internal.fetch_add(usize::from(is_internal), Ordering::Relaxed);
        let mut reasons = self.reasons.lock();
        if reasons.len() < 5 && !reasons.iter().any(|known| known == reason) {
            reasons.push(reason.to_owned());
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) changes: Calls,
    pub(crate) reads: Calls,
    pub(crate) refreshes: Calls,
}
