//! The ring of figures behind all charts: counts per minute and hour, which any number of nodes add to.
//!
//! It is bounded twice: by age (minutes 24 hours, hours 8 days), and by rows, so that it takes less than 50 MiB whatever
//! happens: the oldest rows beyond the bound are deleted. A row holds all counts of one series in one minute or hour, packed.

mod buffer;
mod pack;

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use domain::Ticks;
use domain::figures::{FigureCounts, FigurePoint, Resolution, Series};

use crate::Result;

pub use buffer::{FigureBuffer, flush_figures};
pub(crate) use pack::{pack_counts, series_bytes, unpack_counts};

/// What is added to a series at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FigureDelta {
    pub series: Series,
    pub at: Ticks,
    pub counts: FigureCounts,
}

#[async_trait]
pub trait Figures: Send + Sync + 'static {
    /// Adds to the minute and the hour of each delta; series of single webhooks have hours only.
    async fn add_figures(&self, deltas: &[FigureDelta]) -> Result<()>;

    /// The points of a series from the one that contains `since` to the one before `until`, in order; points without counts
    /// are left out. At most the newest 1,440 minutes or 192 hours.
    async fn figures(
        &self,
        series: &Series,
        resolution: Resolution,
        since: Ticks,
        until: Ticks,
    ) -> Result<Vec<FigurePoint>>;

    /// The same of several series, in their order.
    async fn figures_of(
        &self,
        series: &[Series],
        resolution: Resolution,
        since: Ticks,
        until: Ticks,
    ) -> Result<Vec<Vec<FigurePoint>>> {
        let mut all = Vec::with_capacity(series.len());
        for one in series {
            all.push(self.figures(one, resolution, since, until).await?);
        }
        Ok(all)
    }
}

/// How a resolution is stored and for how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FigureRetention {
    pub(crate) resolution: Resolution,
    pub(crate) kept: Duration,
    /// Of what goes beyond, all but the newest minute or hour is deleted.
    pub(crate) rows_max: u32,
}

/// Together less than 50 MiB; see the test.
pub(crate) const RETENTION: [FigureRetention; 2] = [
    FigureRetention {
        resolution: Resolution::Minute,
        kept: Duration::from_secs(24 * 60 * 60),
        rows_max: 100_000,
    },
    FigureRetention {
        resolution: Resolution::Hour,
        kept: Duration::from_secs(8 * 24 * 60 * 60),
        rows_max: 220_000,
    },
];

impl FigureRetention {
    fn of(resolution: Resolution) -> Self {
        RETENTION[usize::from(resolution == Resolution::Hour)]
    }

    /// The first minute or hour that is kept. `beyond` is that of the newest row that is one too many.
    pub(crate) fn first_kept(self, now: Ticks, beyond: Option<i64>) -> i64 {
        beyond.unwrap_or(i64::MIN).max(self.resolution.number_at(now.minus(self.kept)))
    }
}

/// The stored form of a resolution.
pub(crate) fn resolution_code(resolution: Resolution) -> i64 {
    match resolution {
        Resolution::Minute => 1,
        Resolution::Hour => 2,
    }
}

/// The numbers of the first and of the last point of a query.
pub(crate) fn numbers(resolution: Resolution, since: Ticks, until: Ticks) -> (i64, i64) {
    let last = resolution.number_at(Ticks(until.0.saturating_sub(1)));
    let points_max = FigureRetention::of(resolution).kept.as_secs() / resolution.span().as_secs();
    let points_max = i64::try_from(points_max).unwrap_or(i64::MAX);
    (resolution.number_at(since).max(last.saturating_sub(points_max - 1)), last)
}

/// The key of a row, in the order of the table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FigureKey {
    pub(crate) resolution: i64,
    pub(crate) start: i64,
    pub(crate) series: Vec<u8>,
}

/// What deltas add to each row. The order is the same on every node, so that they do not deadlock.
pub(crate) fn additions(deltas: &[FigureDelta]) -> BTreeMap<FigureKey, FigureCounts> {
    let mut rows: BTreeMap<FigureKey, FigureCounts> = BTreeMap::new();
    for FigureDelta { series, at, counts } in deltas.iter().filter(|delta| !delta.counts.is_empty()) {
        let stored = series_bytes(series);
        let has_minutes = series.has_minutes();
        let resolutions = Resolution::ALL.into_iter().filter(|one| has_minutes || *one == Resolution::Hour);
        for resolution in resolutions {
            let (start, resolution) = (resolution.number_at(*at), resolution_code(resolution));
            rows.entry(FigureKey { resolution, start, series: stored.clone() }).or_default().add(counts);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use domain::figures::{LATENCY_BUCKETS, Outcome};

    use super::*;

    /// A series key, two numbers and SQLite's cell header; or PostgreSQL's row and index entry.
    const ROW_OVERHEAD_BYTES: usize = 40;
    /// Of a B-tree page that grows at its end, at worst.
    const PAGE_FILL_PERCENT: usize = 90;

    fn mebibytes(row_bytes: usize) -> usize {
        let rows: usize = RETENTION.iter().map(|kept| kept.rows_max as usize).sum();
        rows * (row_bytes + ROW_OVERHEAD_BYTES) * 100 / PAGE_FILL_PERCENT / 1024 / 1024
    }

    #[test]
    fn full_ring_takes_less_than_50_mebibytes() {
        // Every outcome and every latency occurs, up to 16,383 times each in an hour.
        let full = FigureCounts { outcomes: [16_383; 4], latencies: [16_383; LATENCY_BUCKETS] };
        let bytes = pack_counts(&full).len();
        assert_eq!(bytes, 28 * 3);
        assert!(mebibytes(bytes) < 50, "{}", mebibytes(bytes));
    }

    /// 1,000 tenants with one busy webhook each and 100 busy subscriptions: every hour of 8 days has a row.
    #[test]
    fn ring_has_room_for_a_week_of_a_thousand_tenants() {
        let hours = 8 * 24 * (1000 + 100 + 10);
        assert!(hours <= 220_000, "{hours}");
        assert_eq!(FigureRetention::of(Resolution::Hour).rows_max, 220_000);
        assert_eq!(FigureRetention::of(Resolution::Minute).rows_max, 100_000);
    }

    #[test]
    fn deltas_of_one_row_add_up_and_webhooks_have_hours_only() {
        let at = Ticks::parse_iso("2026-11-15T08:30:59Z").unwrap();
        let mut counts = FigureCounts::default();
        counts.count(Outcome::Succeeded, Some(1));
        let delta = |series: &Series, at| FigureDelta { series: series.clone(), at, counts };
        let webhook = Series::WebhookDeliveries(domain::Guid::from_bytes([7; 16]));
        let minute_later = at + Duration::from_secs(60);
        let rows = additions(&[
            delta(&Series::SignIns, at),
            delta(&Series::SignIns, minute_later),
            delta(&webhook, at),
            FigureDelta { series: Series::Deliveries, at, counts: FigureCounts::default() },
        ]);
        let totals: Vec<_> = rows.iter().map(|(key, counts)| (key.resolution, counts.total())).collect();
        assert_eq!(totals, [(1, 1), (1, 1), (2, 2), (2, 1)]);
    }

    #[test]
    fn query_is_bounded() {
        let until = Ticks::parse_iso("2026-11-15T08:00:00Z").unwrap();
        let (first, last) = numbers(Resolution::Hour, Ticks(0), until);
        assert_eq!(last - first + 1, 8 * 24);
        assert_eq!(Resolution::Hour.start_of(last), until.minus(Duration::from_secs(3600)));
        let (first, last) = numbers(Resolution::Minute, until.minus(Duration::from_secs(90)), until);
        assert_eq!(last - first + 1, 2, "the minute that contains `since` counts");
    }
}
