//! What is counted of one subscription: its calls by address, its share of the limit, its quota of the day. All of
//! it in memory, with numbers that many may add to at once; what was counted goes to the store every few seconds.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use domain::Ticks;
use domain::ids::SubscriptionId;
use parking_lot::Mutex;
use store::CallCount;

use crate::limit::Bucket;

/// How long it is believed what all nodes have told: longer than the pause between two rounds, so that only a
/// subscription that was idle is asked about.
const QUOTA_FRESH: Duration = Duration::from_secs(5);

pub(crate) struct Meter {
    pub(crate) subscription: SubscriptionId,
    pub(crate) bucket: Mutex<Bucket>,
    quota: Mutex<Today>,
    paths: Arc<[String]>,
    /// One for each path.
    routes: Box<[Route]>,
    /// The day that the routes are counted for.
    day: AtomicI64,
}

#[derive(Default)]
struct Route {
    calls: AtomicU64,
    failed: AtomicU64,
}

/// How many calls were made today, on all nodes, as far as this one knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Today {
    day: i64,
    calls: u64,
    learned_at: Ticks,
}

/// How a call stands to the quota of the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quota {
    Within,
    UsedUp,
    /// This node does not know yet what was used today.
    Unknown,
}

impl Meter {
    pub(crate) fn new(subscription: SubscriptionId, paths: Arc<[String]>) -> Self {
        Self {
            subscription,
            bucket: Mutex::default(),
            quota: Mutex::default(),
            routes: paths.iter().map(|_| Route::default()).collect(),
            paths,
            day: AtomicI64::new(0),
        }
    }

    /// Counts a call that was answered. A call at midnight may be counted for the day that begins.
    pub(crate) fn count(&self, place: usize, failed: bool, now: Ticks) {
        self.day.store(now.day(), Ordering::Relaxed);
        if let Some(route) = self.routes.get(place) {
            route.calls.fetch_add(1, Ordering::Relaxed);
            route.failed.fetch_add(u64::from(failed), Ordering::Relaxed);
        }
    }

    /// Takes what was counted since the last time.
    pub(crate) fn take(&self) -> Vec<CallCount> {
        let day = self.day.load(Ordering::Relaxed);
        let taken = self.routes.iter().zip(&*self.paths).filter_map(|(route, path)| {
            let calls = route.calls.swap(0, Ordering::Relaxed);
            let failed = route.failed.swap(0, Ordering::Relaxed).min(calls);
            let subscription = self.subscription.clone();
            (calls > 0).then(|| CallCount { subscription, day, route: path.clone(), calls, failed })
        });
        taken.collect()
    }

    /// Puts back what could not be kept.
    pub(crate) fn give_back(&self, calls: &[CallCount]) {
        for (route, path) in self.routes.iter().zip(&*self.paths) {
            for one in calls.iter().filter(|one| one.subscription == self.subscription && one.route == *path)
            {
                route.calls.fetch_add(one.calls, Ordering::Relaxed);
                route.failed.fetch_add(one.failed, Ordering::Relaxed);
            }
        }
    }

    /// Takes one call out of the quota.
    pub(crate) fn take_quota(&self, calls_max: u64, now: Ticks) -> Quota {
        let mut today = self.quota.lock();
        if today.day != now.day() || now.since(today.learned_at) > QUOTA_FRESH {
            return Quota::Unknown;
        }
        if today.calls >= calls_max {
            return Quota::UsedUp;
        }
        today.calls += 1;
        Quota::Within
    }

    /// What all nodes have told the store today; what this one has not told yet comes on top. Never less than was
    /// taken here: a call that is under way is neither told nor counted yet.
    pub(crate) fn learn_quota(&self, told: u64, now: Ticks) {
        let day = now.day();
        let untold: u64 = if self.day.load(Ordering::Relaxed) == day {
            self.routes.iter().map(|route| route.calls.load(Ordering::Relaxed)).sum()
        } else {
            0
        };
        let mut today = self.quota.lock();
        let taken = if today.day == day { today.calls } else { 0 };
        *today = Today { day, calls: taken.max(told + untold), learned_at: now };
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
    fn what_is_taken_is_counted_once_and_can_be_given_back() {
        let meter = meter();
        meter.count(0, false, NOW);
        meter.count(0, true, NOW);
        meter.count(2, false, NOW);
        let taken = meter.take();
        let seen: Vec<_> = taken.iter().map(|one| (one.route.as_str(), one.calls, one.failed)).collect();
        assert_eq!(seen, [("/a", 2, 1), ("/b", 1, 0)]);
        assert!(taken.iter().all(|one| one.day == NOW.day()));
        assert_eq!(meter.take(), []);
        meter.give_back(&taken);
        assert_eq!(meter.take(), taken);
        meter.count(10_000, false, NOW);
        assert_eq!(meter.take(), []);
    }

    #[test]
    fn a_quota_holds_for_a_day() {
        let meter = meter();
        assert_eq!(meter.take_quota(3, NOW), Quota::Unknown);
        meter.learn_quota(1, NOW);
        assert_eq!(meter.take_quota(3, NOW), Quota::Within);
        assert_eq!(meter.take_quota(3, NOW), Quota::Within);
        assert_eq!(meter.take_quota(3, NOW), Quota::UsedUp);
        assert_eq!(meter.take_quota(4, NOW), Quota::Within, "the operator gave more");
        let tomorrow = Ticks::from_day(NOW.day() + 1);
        assert_eq!(meter.take_quota(3, tomorrow), Quota::Unknown);
    }

    #[test]
    fn what_was_not_told_yet_counts_too() {
        let meter = meter();
        meter.count(0, false, NOW);
        meter.count(1, false, NOW);
        meter.learn_quota(5, NOW);
        assert_eq!(meter.take_quota(7, NOW), Quota::UsedUp);
        assert_eq!(meter.take_quota(8, NOW), Quota::Within);
    }

    #[test]
    fn a_call_that_is_under_way_is_not_forgotten() {
        let meter = meter();
        meter.learn_quota(0, NOW);
        assert_eq!(meter.take_quota(1, NOW), Quota::Within);
        meter.learn_quota(0, NOW);
        assert_eq!(meter.take_quota(1, NOW), Quota::UsedUp);
    }

    #[test]
    fn what_others_have_told_is_asked_again_after_a_while() {
        let meter = meter();
        meter.learn_quota(0, NOW);
        assert_eq!(meter.take_quota(9, NOW + QUOTA_FRESH), Quota::Within);
        let later = NOW + QUOTA_FRESH + Duration::from_secs(1);
        assert_eq!(meter.take_quota(9, later), Quota::Unknown);
        meter.learn_quota(9, later);
        assert_eq!(meter.take_quota(9, later), Quota::UsedUp);
    }
}
