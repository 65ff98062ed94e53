//! The traffic of a span, from the ring of figures that all nodes add to.

use std::time::Duration;

use domain::figures::{FigureCounts, FigurePoint, Outcome, Resolution, Series};
use domain::{Area, Ticks};
use futures_util::future::try_join;
use serde::Serialize;
use store::{Store, StoreError};
use utoipa::ToSchema;

use super::report::{AreaTraffic, OutcomeCounts, SeriesTraffic, TrafficPoint, TrafficReport};

/// How far back the traffic goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Span {
    #[default]
    Hour,
    Day,
    Week,
}

impl Span {
    pub const ALL: [Self; 3] = [Self::Hour, Self::Day, Self::Week];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Week => "week",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|span| span.as_str() == text)
    }

    fn resolution(self) -> Resolution {
        match self {
            Self::Hour => Resolution::Minute,
            Self::Day | Self::Week => Resolution::Hour,
        }
    }

    /// The stored points that one point of the chart adds up.
    fn stored_per_point(self) -> i64 {
        match self {
            Self::Hour | Self::Day => 1,
            Self::Week => 6,
        }
    }

    fn points(self) -> i64 {
        match self {
            Self::Hour => 60,
            Self::Day => 24,
            Self::Week => 28,
        }
    }

    /// The length of one point of the chart.
    pub fn point_length(self) -> Duration {
        self.resolution().span() * u32::try_from(self.stored_per_point()).unwrap_or(1)
    }

    /// The number of the first stored point, counted from the epoch of `Ticks`.
    fn first(self, now: Ticks) -> i64 {
        let last = self.resolution().number_at(now).div_euclid(self.stored_per_point());
        (last - self.points() + 1) * self.stored_per_point()
    }
}

/// The latest counts of a series that are a whole minute.
fn last_minute(now: Ticks) -> (Ticks, Ticks) {
    let number = Resolution::Minute.number_at(now);
    (Resolution::Minute.start_of(number - 1), Resolution::Minute.start_of(number))
}

pub(super) async fn read(store: &dyn Store, span: Span, now: Ticks) -> Result<TrafficReport, StoreError> {
    let areas = Area::ALL.map(Series::AreaCalls);
    let series =
        [Series::SignIns, Series::Deliveries].into_iter().chain(areas.iter().cloned()).collect::<Vec<_>>();
    let counted = [Series::Deliveries].into_iter().chain(areas).collect::<Vec<_>>();
    let (resolution, (minute, minute_end)) = (span.resolution(), last_minute(now));
    let since = resolution.start_of(span.first(now));
    let (series, counted) = try_join(
        store.figures_of(&series, resolution, since, now.next()),
        store.figures_of(&counted, Resolution::Minute, minute, minute_end),
    )
    .await?;
    let mut series = series.iter().map(|found| series_traffic(found, span, now));
    let (sign_ins, deliveries) = (series.next().unwrap_or_default(), series.next().unwrap_or_default());
    let mut counted = counted.iter().map(|found| sum(found));
    let delivered = counted.next().unwrap_or_default();
    let calls = counted.map(|counts| counts.total()).sum();
    let area = |(area, calls): (Area, SeriesTraffic)| AreaTraffic { area: area.as_str(), calls };
    Ok(TrafficReport {
        span,
        point_seconds: span.point_length().as_secs(),
        areas: Area::ALL.into_iter().zip(series).map(area).collect(),
        sign_ins,
        deliveries,
        deliveries_per_second: per_second(delivered.of(Outcome::Succeeded)),
        calls_per_second: per_second(calls),
    })
}

fn series_traffic(found: &[FigurePoint], span: Span, now: Ticks) -> SeriesTraffic {
    let (first, per_point, resolution) = (span.first(now), span.stored_per_point(), span.resolution());
    let point = |index: i64| {
        let (from, to) = (first + index * per_point, first + (index + 1) * per_point);
        let is_within = |point: &&FigurePoint| (from..to).contains(&resolution.number_at(point.start));
        let mut counts = FigureCounts::default();
        found.iter().filter(is_within).for_each(|point| counts.add(&point.counts));
        TrafficPoint { start: resolution.start_of(from), counts: OutcomeCounts::from(&counts) }
    };
    let total = sum(found);
    SeriesTraffic {
        total: OutcomeCounts::from(&total),
        p50_micros: total.percentile_micros(50),
        p95_micros: total.percentile_micros(95),
        p99_micros: total.percentile_micros(99),
        points: (0..span.points()).map(point).collect(),
    }
}

fn sum(points: &[FigurePoint]) -> FigureCounts {
    let mut sum = FigureCounts::default();
    for point in points {
        sum.add(&point.counts);
    }
    sum
}

/// Of a minute, to a hundredth.
#[allow(clippy::cast_precision_loss, reason = "a rate for people to read")]
fn per_second(count: u64) -> f64 {
    (count as f64 / 60.0 * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Ticks {
        Ticks::parse_iso(text).unwrap()
    }

    fn counted(start: &str, succeeded: usize) -> FigurePoint {
        let mut counts = FigureCounts::default();
        (0..succeeded).for_each(|_| counts.count(Outcome::Succeeded, Some(1_000)));
        FigurePoint { start: at(start), counts }
    }

    #[test]
    fn points_cover_the_span_up_to_now() {
        let now = at("2026-11-15T08:30:30Z");
        for (span, points, first, last) in [
            (Span::Hour, 60, "2026-11-15T07:31:00Z", "2026-11-15T08:30:00Z"),
            (Span::Day, 24, "2026-11-14T09:00:00Z", "2026-11-15T08:00:00Z"),
            (Span::Week, 28, "2026-11-08T12:00:00Z", "2026-11-15T06:00:00Z"),
        ] {
            let traffic = series_traffic(&[], span, now);
            let starts: Vec<Ticks> = traffic.points.iter().map(|point| point.start).collect();
            assert_eq!((starts.len(), starts[0], starts[starts.len() - 1]), (points, at(first), at(last)));
            assert_eq!((traffic.p50_micros, traffic.total.total()), (None, 0));
        }
    }

    #[test]
    fn hours_of_a_week_add_up() {
        let found = [counted("2026-11-15T06:00:00Z", 2), counted("2026-11-15T08:00:00Z", 3)];
        let traffic = series_traffic(&found, Span::Week, at("2026-11-15T08:30:30Z"));
        assert_eq!(traffic.points[27].counts.succeeded, 5);
        assert_eq!((traffic.total.succeeded, traffic.points[26].counts.succeeded), (5, 0));
        assert!(traffic.p99_micros.is_some_and(|micros| micros <= 1_050));
    }

    #[test]
    fn rate_is_that_of_the_last_whole_minute() {
        let (since, until) = last_minute(at("2026-11-15T08:30:30Z"));
        assert_eq!((since, until), (at("2026-11-15T08:29:00Z"), at("2026-11-15T08:30:00Z")));
        assert!((per_second(750) - 12.5).abs() < f64::EPSILON);
    }
}
