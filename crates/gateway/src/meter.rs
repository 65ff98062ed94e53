//! The usage of one subscription: its calls by path, its token bucket, its daily quota. Kept in memory in atomics; the
//! maintenance task writes the counts to the store every few seconds.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use domain::Ticks;
use domain::ids::SubscriptionId;
use parking_lot::Mutex;
use store::CallCount;

use crate::call_recorder::CallRing;
use crate::rate_limit::TokenBucket;

/// How long the stored number of calls is used. Longer than the interval between two flushes, which refresh it: only
/// the first request of an idle subscription has to read it.
const QUOTA_AGE_MAX: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(crate) struct Meter {
    pub(crate) subscription: SubscriptionId,
    pub(crate) bucket: Mutex<TokenBucket>,
    pub(crate) ring: Mutex<CallRing>,
    usage: Mutex<DailyUsage>,
    paths: Arc<[String]>,
    /// One per path.
    counters: Box<[Counter]>,
    /// The day of the counters.
    day: AtomicI64,
}

#[derive(Debug, Default)]
struct Counter {
    calls: AtomicU64,
    failed: AtomicU64,
}

/// The calls of today on all nodes, as far as this one knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct DailyUsage {
    day: i64,
    calls: u64,
    updated_at: Ticks,
}

/// Whether a call is within the daily quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuotaStatus {
    Within,
    UsedUp,
    /// This node does not know how many calls were made today.
    Unknown,
}

impl Meter {
    pub(crate) fn new(subscription: SubscriptionId, paths: Arc<[String]>) -> Self {
        Self {
            subscription,
            bucket: Mutex::default(),
            ring: Mutex::default(),
            usage: Mutex::default(),
            counters: paths.iter().map(|_| Counter::default()).collect(),
            paths,
            day: AtomicI64::new(0),
        }
    }

    /// The path of a route; empty for an unknown one.
    pub(crate) fn path(&self, route: usize) -> &str {
        self.paths.get(route).map_or("", String::as_str)
    }

    /// Counts a call. `route` is the index of its path. A call at midnight may be counted for the new day.
    pub(crate) fn count(&self, route: usize, is_error: bool, now: Ticks) {
        self.day.store(now.day(), Ordering::Relaxed);
        if let Some(counter) = self.counters.get(route) {
            counter.calls.fetch_add(1, Ordering::Relaxed);
            counter.failed.fetch_add(u64::from(is_error), Ordering::Relaxed);
        }
    }

    /// Takes the counts since the last flush.
    pub(crate) fn take_counts(&self) -> Vec<CallCount> {
        let day = self.day.load(Ordering::Relaxed);
        let taken = self.counters.iter().zip(&*self.paths).filter_map(|(counter, path)| {
            let calls = counter.calls.swap(0, Ordering::Relaxed);
            let failed = counter.failed.swap(0, Ordering::Relaxed).min(calls);
            let subscription = self.subscription.clone();
            (calls > 0).then(|| CallCount { subscription, day, route: path.clone(), calls, failed })
        });
        taken.collect()
    }

    /// Adds counts again that could not be written. Those of other subscriptions are ignored.
    pub(crate) fn restore_counts(&self, counts: &[CallCount]) {
        for (counter, path) in self.counters.iter().zip(&*self.paths) {
            let is_own = |count: &&CallCount| count.subscription == self.subscription && count.route == *path;
            for count in counts.iter().filter(is_own) {
                counter.calls.fetch_add(count.calls, Ordering::Relaxed);
                counter.failed.fetch_add(count.failed, Ordering::Relaxed);
            }
        }
    }

    /// Takes one call from the quota.
    pub(crate) fn take_quota(&self, calls_max: u64, now: Ticks) -> QuotaStatus {
        let mut today = self.usage.lock();
        if today.day != now.day() || now.since(today.updated_at) > QUOTA_AGE_MAX {
            return QuotaStatus::Unknown;
        }
        if today.calls >= calls_max {
            return QuotaStatus::UsedUp;
        }
        today.calls += 1;
        QuotaStatus::Within
    }

    /// Updates today's usage: the calls that all nodes have written to the store, and those that this node has not
    /// written yet. Never less than was taken here, because a call in flight is neither written nor counted yet.
    pub(crate) fn set_stored_calls(&self, stored: u64, now: Ticks) {
        let day = now.day();
        let unwritten: u64 = if self.day.load(Ordering::Relaxed) == day {
            self.counters.iter().map(|counter| counter.calls.load(Ordering::Relaxed)).sum()
        } else {
            0
        };
        let mut today = self.usage.lock();
        let taken = if today.day == day { today.calls } else { 0 };
        *today = DailyUsage { day, calls: taken.max(stored + unwritten), updated_at: now };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Ticks = Ticks(639_000_000_000_000_000);

    fn meter() -> Meter {
        Meter::new(SubscriptionId::new("a"), paths())
    }

    fn paths() -> Arc<[String]> {
        ["/a", "/a/{id}", "/b"].map(ToOwned::to_owned).into()
    }

    #[test]
    fn counts_are_taken_once_and_can_be_restored() {
        let meter = meter();
        meter.count(0, false, NOW);
        meter.count(0, true, NOW);
        meter.count(2, false, NOW);
        let taken = meter.take_counts();
        let counts: Vec<_> =
            taken.iter().map(|count| (count.route.as_str(), count.calls, count.failed)).collect();
        assert_eq!(counts, [("/a", 2, 1), ("/b", 1, 0)]);
        assert!(taken.iter().all(|count| count.day == NOW.day()));
        assert_eq!(meter.take_counts(), []);
        meter.restore_counts(&taken);
        assert_eq!(meter.take_counts(), taken);
        meter.count(10_000, false, NOW);
        assert_eq!(meter.take_counts(), []);
    }

    #[test]
    fn quota_holds_for_one_day() {
        let meter = meter();
        assert_eq!(meter.take_quota(3, NOW), QuotaStatus::Unknown);
        meter.set_stored_calls(1, NOW);
        assert_eq!(meter.take_quota(3, NOW), QuotaStatus::Within);
        assert_eq!(meter.take_quota(3, NOW), QuotaStatus::Within);
        assert_eq!(meter.take_quota(3, NOW), QuotaStatus::UsedUp);
        assert_eq!(meter.take_quota(4, NOW), QuotaStatus::Within, "the operator raised the quota");
        let tomorrow = Ticks::from_day(NOW.day() + 1);
        assert_eq!(meter.take_quota(3, tomorrow), QuotaStatus::Unknown);
    }

    #[test]
    fn unwritten_calls_count_against_the_quota() {
        let meter = meter();
        meter.count(0, false, NOW);
        meter.count(1, false, NOW);
        meter.set_stored_calls(5, NOW);
        assert_eq!(meter.take_quota(7, NOW), QuotaStatus::UsedUp);
        assert_eq!(meter.take_quota(8, NOW), QuotaStatus::Within);
    }

    #[test]
    fn call_in_flight_counts_against_the_quota() {
        let meter = meter();
        meter.set_stored_calls(0, NOW);
        assert_eq!(meter.take_quota(1, NOW), QuotaStatus::Within);
        meter.set_stored_calls(0, NOW);
        assert_eq!(meter.take_quota(1, NOW), QuotaStatus::UsedUp);
    }

    #[test]
    fn stored_calls_are_read_again_after_a_while() {
        let meter = meter();
        meter.set_stored_calls(0, NOW);
        assert_eq!(meter.take_quota(9, NOW + QUOTA_AGE_MAX), QuotaStatus::Within);
        let later = NOW + QUOTA_AGE_MAX + Duration::from_secs(1);
        assert_eq!(meter.take_quota(9, later), QuotaStatus::Unknown);
        meter.set_stored_calls(9, later);
        assert_eq!(meter.take_quota(9, later), QuotaStatus::UsedUp);
    }
}
