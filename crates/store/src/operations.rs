//! How long the store's operations take and how many fail, for the metrics endpoint.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use crate::StoreError;

/// The upper bounds of the buckets; a last one has no bound.
pub const LATENCY_BOUNDS: [Duration; 10] = [
    Duration::from_micros(100),
    Duration::from_micros(500),
    Duration::from_millis(1),
    Duration::from_millis(5),
    Duration::from_millis(10),
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(5),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationClass {
    /// One statement, or reads from one snapshot.
    Query,
    /// A write other than changes of records.
    Transaction,
    /// A batch of changes of records.
    Changes,
}

impl OperationClass {
    pub const ALL: [Self; 3] = [Self::Query, Self::Transaction, Self::Changes];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Transaction => "transaction",
            Self::Changes => "changes",
        }
    }
}

/// The kinds of errors that are counted.
pub const ERROR_KINDS: [&str; 3] = ["unavailable", "full", "internal"];

/// Of the whole process: errors are counted where they are mapped, which knows no store.
static ERRORS: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

/// Counts an error that is the store's, not the caller's.
pub(crate) fn counted(error: StoreError) -> StoreError {
    let kind = match &error {
        StoreError::Unavailable(_) => Some(0),
        StoreError::Full(_) => Some(1),
        StoreError::Internal(_) => Some(2),
        _ => None,
    };
    if let Some(kind) = kind {
        ERRORS[kind].fetch_add(1, Ordering::Relaxed);
    }
    error
}

/// The errors of this process's stores since it started, in the order of [`ERROR_KINDS`].
pub fn error_counts() -> [u64; 3] {
    ERRORS.each_ref().map(|count| count.load(Ordering::Relaxed))
}

/// The latencies of one store.
#[derive(Debug, Default)]
pub struct Operations([Latencies; OperationClass::ALL.len()]);

#[derive(Debug, Default)]
struct Latencies {
    buckets: [AtomicU64; LATENCY_BOUNDS.len() + 1],
    sum_nanos: AtomicU64,
}

/// How many operations took how long: per bucket, not cumulative, and together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatencyCounts {
    pub buckets: [u64; LATENCY_BOUNDS.len() + 1],
    pub sum: Duration,
}

impl Operations {
    /// Measures from now until the timer is dropped.
    pub(crate) fn time(&self, class: OperationClass) -> OperationTimer<'_> {
        OperationTimer { operations: self, class, started: Instant::now() }
    }

    fn observe(&self, class: OperationClass, elapsed: Duration) {
        let Latencies { buckets, sum_nanos } = &self.0[class as usize];
        let bucket =
            LATENCY_BOUNDS.iter().position(|bound| elapsed <= *bound).unwrap_or(LATENCY_BOUNDS.len());
        buckets[bucket].fetch_add(1, Ordering::Relaxed);
        sum_nanos.fetch_add(u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub fn latencies(&self, class: OperationClass) -> LatencyCounts {
        let Latencies { buckets, sum_nanos } = &self.0[class as usize];
        LatencyCounts {
            buckets: buckets.each_ref().map(|count| count.load(Ordering::Relaxed)),
            sum: Duration::from_nanos(sum_nanos.load(Ordering::Relaxed)),
        }
    }
}

#[derive(Debug)]
pub(crate) struct OperationTimer<'a> {
    operations: &'a Operations,
    class: OperationClass,
    started: Instant,
}

impl Drop for OperationTimer<'_> {
    fn drop(&mut self) {
        self.operations.observe(self.class, self.started.elapsed());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_fall_into_their_bucket() {
        let operations = Operations::default();
        for micros in [0, 100, 101, 5_000_000, 5_000_001] {
            operations.observe(OperationClass::Query, Duration::from_micros(micros));
        }
        drop(operations.time(OperationClass::Changes));
        let counts = operations.latencies(OperationClass::Query);
        assert_eq!(counts.buckets, [2, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1]);
        assert_eq!(counts.sum, Duration::from_micros(10_000_202));
        let total = |class| operations.latencies(class).buckets.iter().sum::<u64>();
        assert_eq!(OperationClass::ALL.map(total), [5, 0, 1]);
    }
}
