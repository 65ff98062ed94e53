//! The rate limit: a bucket of tokens for each subscription, filled evenly. Decides purely; the time is given.

use std::collections::HashMap;

use domain::Ticks;
use domain::ids::SubscriptionId;
use parking_lot::Mutex;

const TICKS_PER_MINUTE: i64 = 60 * 10_000_000;
const TICKS_PER_SECOND: i64 = 10_000_000;
/// Buckets that are full again are forgotten past this many.
const BUCKETS_MAX: usize = 100_000;

pub(crate) struct Limiter {
    rate_per_minute: Option<u32>,
    buckets: Mutex<HashMap<SubscriptionId, Bucket>>,
}

/// When the bucket will be full again: one moment says it all.
#[derive(Clone, Copy)]
struct Bucket {
    full_at: Ticks,
}

/// How a request stands to the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rate {
    pub(crate) limit: u32,
    pub(crate) remaining: u32,
    /// Until the bucket is full again.
    pub(crate) reset_seconds: u64,
    /// Where the request is over the limit: when to come again.
    pub(crate) retry_after_seconds: Option<u64>,
}

impl Limiter {
    pub(crate) fn new(rate_per_minute: Option<u32>) -> Self {
        Self { rate_per_minute, buckets: Mutex::default() }
    }

    /// Takes one request out of a subscription's bucket. None where there is no limit.
    pub(crate) fn take(&self, subscription: &SubscriptionId, now: Ticks) -> Option<Rate> {
        let limit = self.rate_per_minute?.max(1);
        let step = TICKS_PER_MINUTE / i64::from(limit);
        let mut buckets = self.buckets.lock();
        if buckets.len() >= BUCKETS_MAX {
            buckets.retain(|_, bucket| bucket.full_at > now);
        }
        let bucket = buckets.entry(subscription.clone()).or_insert(Bucket { full_at: now });
        let debt = bucket.full_at.0.saturating_sub(now.0).max(0);
        let debt_after = debt + step;
        let over = debt_after - i64::from(limit) * step;
        if over <= 0 {
            bucket.full_at = Ticks(now.0 + debt_after);
        }
        let owed = if over <= 0 { debt_after } else { debt };
        let used = u32::try_from((owed + step - 1) / step).unwrap_or(u32::MAX);
        Some(Rate {
            limit,
            remaining: limit.saturating_sub(used),
            reset_seconds: seconds_up(owed),
            retry_after_seconds: (over > 0).then(|| seconds_up(over).max(1)),
        })
    }
}

fn seconds_up(ticks: i64) -> u64 {
    u64::try_from((ticks + TICKS_PER_SECOND - 1) / TICKS_PER_SECOND).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const NOW: Ticks = Ticks(639_000_000_000_000_000);

    fn id(name: &str) -> SubscriptionId {
        SubscriptionId::new(name)
    }

    #[test]
    fn a_minutes_worth_may_come_at_once_and_then_one_by_one() {
        let limiter = Limiter::new(Some(60));
        for left in (0..60).rev() {
            let rate = limiter.take(&id("a"), NOW).unwrap();
            assert_eq!((rate.remaining, rate.retry_after_seconds), (left, None));
        }
        let over = limiter.take(&id("a"), NOW).unwrap();
        assert_eq!((over.limit, over.remaining, over.retry_after_seconds), (60, 0, Some(1)));
        assert_eq!(over.reset_seconds, 60);
        let later = NOW + Duration::from_secs(1);
        assert_eq!(limiter.take(&id("a"), later).unwrap().retry_after_seconds, None);
        assert_eq!(limiter.take(&id("a"), later).unwrap().retry_after_seconds, Some(1));
        assert_eq!(limiter.take(&id("b"), NOW).unwrap().remaining, 59, "each has its own");
    }

    #[test]
    fn refusals_cost_nothing() {
        let limiter = Limiter::new(Some(1));
        assert_eq!(limiter.take(&id("a"), NOW).unwrap().retry_after_seconds, None);
        for _ in 0..100 {
            assert_eq!(limiter.take(&id("a"), NOW).unwrap().retry_after_seconds, Some(60));
        }
        let later = NOW + Duration::from_secs(60);
        assert_eq!(limiter.take(&id("a"), later).unwrap().retry_after_seconds, None);
    }

    #[test]
    fn without_a_limit_nothing_is_counted() {
        assert_eq!(Limiter::new(None).take(&id("a"), NOW), None);
    }
}
