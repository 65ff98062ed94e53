//! Figures: what is counted for charts, for whom, by minute and by hour; and percentiles from counts by latency.

use std::time::Duration;

use crate::catalogue::Area;
use crate::ids::SubscriptionId;
use crate::time::Ticks;
use crate::webhook::WebhookId;

/// What is counted, and for whom.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Series {
    /// The calls of an area's APIs, of all callers. Also those without a valid key.
    AreaCalls(Area),
    /// Password sign-ins of all realms.
    SignIns,
    /// The delivery attempts to all webhooks.
    Deliveries,
    /// The calls with one subscription's keys.
    SubscriptionCalls(SubscriptionId),
    /// The delivery attempts to one webhook.
    WebhookDeliveries(WebhookId),
}

impl Series {
    /// Whether its figures are kept by minute too: those of single webhooks are not.
    pub fn has_minutes(&self) -> bool {
        !matches!(self, Self::WebhookDeliveries(_))
    }
}

/// How something ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// A response below 400, a delivery, a sign-in.
    Succeeded,
    /// A response from 400 to 499 (but 429), a wrong password.
    Refused,
    /// 429, or a quota that is used up.
    Limited,
    /// A response from 500 on, a failed delivery attempt.
    Failed,
}

impl Outcome {
    pub const ALL: [Self; 4] = [Self::Succeeded, Self::Refused, Self::Limited, Self::Failed];

    pub fn of_status(status: u16) -> Self {
        match status {
            0..=399 => Self::Succeeded,
            429 => Self::Limited,
            400..=499 => Self::Refused,
            _ => Self::Failed,
        }
    }
}

/// The length of one point of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Resolution {
    Minute,
    Hour,
}

const TICKS_PER_SECOND: i64 = 10_000_000;

impl Resolution {
    pub const ALL: [Self; 2] = [Self::Minute, Self::Hour];

    pub fn span(self) -> Duration {
        match self {
            Self::Minute => Duration::from_secs(60),
            Self::Hour => Duration::from_secs(60 * 60),
        }
    }

    fn ticks(self) -> i64 {
        i64::try_from(self.span().as_secs()).unwrap_or(i64::MAX) * TICKS_PER_SECOND
    }

    /// The number of the minute or hour that contains a time, from 0001-01-01 on.
    pub fn number_at(self, at: Ticks) -> i64 {
        at.0.div_euclid(self.ticks())
    }

    /// The start of a minute or hour.
    pub fn start_of(self, number: i64) -> Ticks {
        Ticks(number.saturating_mul(self.ticks()))
    }
}

/// The upper bounds of the latency buckets in microseconds; each is 1.8 times the one before. A last bucket has no bound.
pub const LATENCY_BOUNDS_MICROS: [u64; 23] = [
    100, 180, 324, 583, 1_050, 1_890, 3_401, 6_122, 11_020, 19_836, 35_705, 64_268, 115_683, 208_230,
    374_813, 674_664, 1_214_395, 2_185_911, 3_934_640, 7_082_353, 12_748_235, 22_946_823, 41_304_281,
];
pub const LATENCY_BUCKETS: usize = LATENCY_BOUNDS_MICROS.len() + 1;

/// The bucket of a latency.
pub fn latency_bucket(micros: u64) -> usize {
    LATENCY_BOUNDS_MICROS.partition_point(|bound| *bound < micros)
}

/// Counts by outcome and by latency. Counts of several points or series can be added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FigureCounts {
    /// In the order of [`Outcome::ALL`].
    pub outcomes: [u64; Outcome::ALL.len()],
    pub latencies: [u64; LATENCY_BUCKETS],
}

impl FigureCounts {
    /// Counts one; what took no measured time has no latency.
    pub fn count(&mut self, outcome: Outcome, latency_micros: Option<u64>) {
        self.outcomes[outcome as usize] += 1;
        if let Some(micros) = latency_micros {
            self.latencies[latency_bucket(micros)] += 1;
        }
    }

    pub fn add(&mut self, other: &Self) {
        for (count, more) in self.outcomes.iter_mut().zip(other.outcomes) {
            *count = count.saturating_add(more);
        }
        for (count, more) in self.latencies.iter_mut().zip(other.latencies) {
            *count = count.saturating_add(more);
        }
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub fn of(&self, outcome: Outcome) -> u64 {
        self.outcomes[outcome as usize]
    }

    pub fn total(&self) -> u64 {
        self.outcomes.iter().fold(0, |total, count| total.saturating_add(*count))
    }

    /// The share that succeeded, from 0 to 1; None where nothing was counted.
    #[allow(clippy::cast_precision_loss, reason = "a share for people to read")]
    pub fn success_rate(&self) -> Option<f64> {
        let total = self.total();
        (total > 0).then(|| self.of(Outcome::Succeeded) as f64 / total as f64)
    }

    /// The latency that `percent` of all do not exceed, in microseconds; None where no latency was counted.
    ///
    /// The result lies in the bucket of the exact value, so that the two differ by less than a factor of 1.8 from 100 µs on,
    /// and by less than 100 µs below. Of latencies above the last bound (41 s) it is that bound.
    pub fn percentile_micros(&self, percent: u8) -> Option<u64> {
        let total: u128 = self.latencies.iter().map(|count| u128::from(*count)).sum();
        if total == 0 {
            return None;
        }
        // The nearest rank, from 1.
        let rank = (total * u128::from(percent.min(100))).div_ceil(100).max(1);
        let mut below = 0;
        for (bucket, count) in self.latencies.iter().enumerate() {
            let count = u128::from(*count);
            if below + count >= rank {
                let lower = bucket.checked_sub(1).map_or(0, |before| LATENCY_BOUNDS_MICROS[before]);
                let Some(upper) = LATENCY_BOUNDS_MICROS.get(bucket) else { return Some(lower) };
                let within = u128::from(upper - lower) * (rank - below) / count.max(1);
                return Some(lower + u64::try_from(within).unwrap_or(0));
            }
            below += count;
        }
        None
    }
}

/// The counts of one minute or hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FigurePoint {
    pub start: Ticks,
    pub counts: FigureCounts,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn counts(latencies: &[u64]) -> FigureCounts {
        let mut counts = FigureCounts::default();
        for micros in latencies {
            counts.count(Outcome::Succeeded, Some(*micros));
        }
        counts
    }

    #[test]
    fn bounds_grow_by_the_same_factor() {
        assert_eq!(LATENCY_BUCKETS, 24);
        for pair in LATENCY_BOUNDS_MICROS.windows(2) {
            let tenths = pair[1] * 10_000 / pair[0];
            assert!((17_970..18_030).contains(&tenths), "{pair:?}");
        }
        assert_eq!(latency_bucket(0), 0);
        assert_eq!(latency_bucket(100), 0);
        assert_eq!(latency_bucket(101), 1);
        assert_eq!(latency_bucket(u64::MAX), LATENCY_BUCKETS - 1);
    }

    #[test]
    fn nothing_counted_has_no_rate_and_no_percentile() {
        let none = FigureCounts::default();
        assert_eq!((none.success_rate(), none.percentile_micros(50)), (None, None));
        assert!(none.is_empty());
        let mut refused = FigureCounts::default();
        refused.count(Outcome::Refused, None);
        assert_eq!((refused.success_rate(), refused.percentile_micros(50)), (Some(0.0), None));
    }

    #[test]
    fn longest_latency_is_the_last_bound() {
        assert_eq!(counts(&[u64::MAX]).percentile_micros(99), Some(41_304_281));
    }

    #[test]
    fn minutes_and_hours_begin_on_the_clock() {
        let at = Ticks::parse_iso("2026-11-15T08:30:59.9Z").unwrap();
        let start = |resolution: Resolution| resolution.start_of(resolution.number_at(at));
        assert_eq!(start(Resolution::Minute), Ticks::parse_iso("2026-11-15T08:30:00Z").unwrap());
        assert_eq!(start(Resolution::Hour), Ticks::parse_iso("2026-11-15T08:00:00Z").unwrap());
    }

    proptest! {
        /// The documented bound of the error.
        #[test]
        fn percentile_is_in_the_bucket_of_the_exact_value(
            mut latencies in proptest::collection::vec(0_u64..60_000_000, 1..200), percent in 1_u8..=100
        ) {
            let estimate = counts(&latencies).percentile_micros(percent).unwrap();
            latencies.sort_unstable();
            let exact = latencies[(latencies.len() * usize::from(percent)).div_ceil(100) - 1];
            if exact <= 100 {
                prop_assert!(estimate <= 100);
            } else if exact > 41_304_281 {
                prop_assert_eq!(estimate, 41_304_281);
            } else {
                prop_assert!(estimate * 1000 <= exact * 1803 && exact * 1000 <= estimate * 1803, "{} {}", estimate, exact);
            }
        }

        /// Percentiles of added counts are those of all values together.
        #[test]
        fn counts_of_points_add_up(
            one in proptest::collection::vec(0_u64..9_000_000, 0..50),
            other in proptest::collection::vec(0_u64..9_000_000, 0..50),
        ) {
            let mut added = counts(&one);
            added.add(&counts(&other));
            let together: Vec<u64> = one.into_iter().chain(other).collect();
            prop_assert_eq!(added, counts(&together));
            prop_assert_eq!(added.total(), together.len() as u64);
        }
    }
}
