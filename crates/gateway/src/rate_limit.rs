//! The rate limit: a token bucket per subscription. With several nodes, each enforces its share of the limit. A pure
//! decision: the caller passes the time.

use std::sync::atomic::{AtomicU32, Ordering};

use domain::Ticks;

const TICKS_PER_MINUTE: i64 = 60 * 10_000_000;
const TICKS_PER_SECOND: i64 = 10_000_000;

pub(crate) struct RateLimiter {
    rate_per_minute: Option<u32>,
    nodes: AtomicU32,
}

/// A token bucket, stored as the time at which it will be full again.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TokenBucket {
    full_at: Ticks,
}

/// The state of the limit after a request, over all nodes as far as this one knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RateStatus {
    pub(crate) limit: u32,
    pub(crate) remaining: u32,
    /// Until the bucket is full again.
    pub(crate) reset_seconds: u64,
    /// Set if the request exceeds the limit.
    pub(crate) retry_after_seconds: Option<u64>,
}

impl RateLimiter {
    pub(crate) fn new(rate_per_minute: Option<u32>) -> Self {
        Self { rate_per_minute, nodes: AtomicU32::new(1) }
    }

    /// Sets the number of nodes that share the limit.
    pub(crate) fn share_among(&self, nodes: u32) {
        self.nodes.store(nodes.max(1), Ordering::Relaxed);
    }

    /// Takes one token. `None` if there is no limit.
    pub(crate) fn take(&self, bucket: &mut TokenBucket, now: Ticks) -> Option<RateStatus> {
        let limit = self.rate_per_minute?.max(1);
        let nodes = self.nodes.load(Ordering::Relaxed);
        let share = limit.div_ceil(nodes);
        let step = TICKS_PER_MINUTE / i64::from(share);
        let debt = bucket.full_at.0.saturating_sub(now.0).max(0);
        let debt_after = debt + step;
        let over = debt_after - i64::from(share) * step;
        if over <= 0 {
            bucket.full_at = Ticks(now.0 + debt_after);
        }
        let owed = if over <= 0 { debt_after } else { debt };
        let used = u32::try_from((owed + step - 1) / step).unwrap_or(u32::MAX);
        Some(RateStatus {
            limit,
            remaining: share.saturating_sub(used).saturating_mul(nodes).min(limit),
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

    #[test]
    fn full_bucket_allows_a_burst_and_then_refills_evenly() {
        let (limiter, mut bucket) = (RateLimiter::new(Some(60)), TokenBucket::default());
        for left in (0..60).rev() {
            let rate = limiter.take(&mut bucket, NOW).unwrap();
            assert_eq!((rate.remaining, rate.retry_after_seconds), (left, None));
        }
        let over = limiter.take(&mut bucket, NOW).unwrap();
        assert_eq!((over.limit, over.remaining, over.retry_after_seconds), (60, 0, Some(1)));
        assert_eq!(over.reset_seconds, 60);
        let later = NOW + Duration::from_secs(1);
        assert_eq!(limiter.take(&mut bucket, later).unwrap().retry_after_seconds, None);
        assert_eq!(limiter.take(&mut bucket, later).unwrap().retry_after_seconds, Some(1));
    }

    #[test]
    fn refused_requests_take_no_token() {
        let (limiter, mut bucket) = (RateLimiter::new(Some(1)), TokenBucket::default());
        assert_eq!(limiter.take(&mut bucket, NOW).unwrap().retry_after_seconds, None);
        for _ in 0..100 {
            assert_eq!(limiter.take(&mut bucket, NOW).unwrap().retry_after_seconds, Some(60));
        }
        let later = NOW + Duration::from_secs(60);
        assert_eq!(limiter.take(&mut bucket, later).unwrap().retry_after_seconds, None);
    }

    #[test]
    fn each_node_enforces_its_share() {
        let (limiter, mut bucket) = (RateLimiter::new(Some(300)), TokenBucket::default());
        limiter.share_among(3);
        for _ in 0..100 {
            assert_eq!(limiter.take(&mut bucket, NOW).unwrap().retry_after_seconds, None);
        }
        let over = limiter.take(&mut bucket, NOW).unwrap();
        assert_eq!((over.limit, over.remaining), (300, 0), "the headers show the limit of all nodes");
        assert!(over.retry_after_seconds.is_some());
        limiter.share_among(0);
        assert_eq!(limiter.take(&mut TokenBucket::default(), NOW).unwrap().remaining, 299);
        limiter.share_among(1000);
        let mut bucket = TokenBucket::default();
        assert_eq!(limiter.take(&mut bucket, NOW).unwrap().retry_after_seconds, None, "at least one token");
    }

    #[test]
    fn without_a_limit_there_is_no_status() {
        assert_eq!(RateLimiter::new(None).take(&mut TokenBucket::default(), NOW), None);
    }
}
