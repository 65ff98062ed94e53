//! The ring of figures: nodes add to the same minutes and hours; old points and too many are deleted.

use std::time::Duration;

use domain::figures::{FigureCounts, FigurePoint, Outcome, Resolution, Series};
use domain::ids::SubscriptionId;
use domain::{Area, Guid, Ticks};
use store::{FigureBuffer, FigureDelta, RetentionCutoffs, flush_figures};

use super::fixture::{Fixture, concurrently};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);

fn at(text: &str) -> Ticks {
    Ticks::parse_iso(text).unwrap()
}

fn counts(outcome: Outcome, count: u64) -> FigureCounts {
    let mut counts = FigureCounts::default();
    for _ in 0..count {
        counts.count(outcome, Some(1500));
    }
    counts
}

fn delta(series: &Series, at: Ticks, outcome: Outcome, count: u64) -> FigureDelta {
    FigureDelta { series: series.clone(), at, counts: counts(outcome, count) }
}

fn expired_at(now: Ticks) -> RetentionCutoffs {
    let never = Ticks(0);
    RetentionCutoffs {
        now,
        processes: never,
        audit: never,
        calls: never,
        reads: never,
        deliveries: never,
        mails: never,
    }
}

async fn totals(
    fixture: &Fixture,
    series: &Series,
    resolution: Resolution,
    since: Ticks,
) -> Vec<(Ticks, u64)> {
    let points = fixture.store.figures(series, resolution, since, since + HOUR * 24).await;
    points.unwrap().iter().map(|point| (point.start, point.counts.total())).collect()
}

pub(crate) async fn figures_add_up_by_minute_and_hour(fixture: Fixture) {
    let store = &fixture.store;
    let noon = at("2026-11-15T12:00:00Z");
    let series = Series::SubscriptionCalls(SubscriptionId::new("a"));
    let first = [
        delta(&series, noon, Outcome::Succeeded, 2),
        delta(&series, noon + Duration::from_secs(59), Outcome::Refused, 1),
        delta(&Series::AreaCalls(Area::Accounting), noon, Outcome::Succeeded, 9),
    ];
    store.add_figures(&first).await.unwrap();
    store.add_figures(&[]).await.unwrap();
    store.add_figures(&[delta(&series, noon + MINUTE * 2, Outcome::Succeeded, 4)]).await.unwrap();
    let until = noon + HOUR;
    let minutes = store.figures(&series, Resolution::Minute, noon, until).await.unwrap();
    let mut both = counts(Outcome::Succeeded, 2);
    both.add(&counts(Outcome::Refused, 1));
    let points = [
        FigurePoint { start: noon, counts: both },
        FigurePoint { start: noon + MINUTE * 2, counts: counts(Outcome::Succeeded, 4) },
    ];
    assert_eq!(minutes, points);
    let hours = store.figures(&series, Resolution::Hour, noon + MINUTE, until).await.unwrap();
    both.add(&counts(Outcome::Succeeded, 4));
    assert_eq!(hours, [FigurePoint { start: noon, counts: both }]);
    assert_eq!(store.figures(&series, Resolution::Hour, noon.minus(HOUR), noon).await, Ok(Vec::new()));
    assert_eq!(store.figures(&Series::SignIns, Resolution::Hour, noon, until).await, Ok(Vec::new()));
    let both = [Series::SignIns, series];
    let together = store.figures_of(&both, Resolution::Minute, noon, until).await;
    assert_eq!(together, Ok(vec![Vec::new(), minutes]), "several series, in their order");
}

pub(crate) async fn single_webhooks_have_hours_only(fixture: Fixture) {
    let (store, noon) = (&fixture.store, at("2026-11-15T12:00:00Z"));
    let webhook = Series::WebhookDeliveries(Guid::from_bytes([7; 16]));
    store.add_figures(&[delta(&webhook, noon, Outcome::Failed, 3)]).await.unwrap();
    let read = async |resolution| store.figures(&webhook, resolution, noon, noon + HOUR).await.unwrap().len();
    assert_eq!((read(Resolution::Minute).await, read(Resolution::Hour).await), (0, 1));
}

pub(crate) async fn concurrent_additions_lose_nothing(fixture: Fixture) {
    let (store, noon) = (fixture.store.clone(), at("2026-11-15T12:00:00Z"));
    let all = [Series::SignIns, Series::Deliveries, Series::SubscriptionCalls(SubscriptionId::new("a"))];
    concurrently(9, &[&store], |node, store| {
        let mut all = all.clone();
        async move {
            all.rotate_left(node % 3);
            let deltas = all.map(|series| delta(&series, noon, Outcome::Succeeded, 2));
            store.add_figures(&deltas).await.unwrap();
        }
    })
    .await;
    for series in &all {
        for resolution in Resolution::ALL {
            assert_eq!(totals(&fixture, series, resolution, noon).await, [(noon, 18)], "{series:?}");
        }
    }
}

pub(crate) async fn old_figures_expire(fixture: Fixture) {
    let (store, noon) = (&fixture.store, at("2026-11-15T12:00:00Z"));
    let later = noon + MINUTE;
    let counted = [noon, later].map(|at| delta(&Series::SignIns, at, Outcome::Succeeded, 1));
    store.add_figures(&counted).await.unwrap();
    let day = Duration::from_hours(24);
    let expire = async |now| store.expire(expired_at(now), 10).await.unwrap().figures;
    assert_eq!(expire(noon + day).await, 0);
    assert_eq!(expire(later + day).await, 1, "the first minute");
    assert_eq!(totals(&fixture, &Series::SignIns, Resolution::Minute, noon).await, [(later, 1)]);
    assert_eq!(totals(&fixture, &Series::SignIns, Resolution::Hour, noon).await, [(noon, 2)]);
    assert_eq!(expire(noon + day * 8).await, 1, "the second minute; the hour stays for 8 days");
    assert_eq!(expire(noon + day * 8 + HOUR).await, 1, "the hour");
}

pub(crate) async fn buffer_is_flushed_once_and_counts_again_after_an_error(fixture: Fixture) {
    let (store, noon) = (&fixture.store, at("2026-11-15T12:00:00Z"));
    let (one, other) = (FigureBuffer::default(), FigureBuffer::default());
    one.count(Series::SignIns, Outcome::Succeeded, None);
    one.count(Series::SignIns, Outcome::Refused, None);
    other.count(Series::Deliveries, Outcome::Succeeded, Some(Duration::from_millis(3)));
    for _ in 0..2 {
        flush_figures(&**store, &[&one, &other], noon).await.unwrap();
    }
    assert_eq!(totals(&fixture, &Series::SignIns, Resolution::Hour, noon).await, [(noon, 2)]);
    let points = store.figures(&Series::Deliveries, Resolution::Hour, noon, noon + HOUR).await.unwrap();
    assert!(points[0].counts.percentile_micros(50).is_some_and(|micros| (1890..=3401).contains(&micros)));

    one.count(Series::SignIns, Outcome::Refused, None);
    let other_handle = fixture.reopen().await.store;
    other_handle.close().await;
    assert!(flush_figures(&*other_handle, &[&one], noon).await.is_err());
    flush_figures(&**store, &[&one], noon).await.unwrap();
    assert_eq!(totals(&fixture, &Series::SignIns, Resolution::Hour, noon).await, [(noon, 3)]);
}
