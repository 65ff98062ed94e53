//! The figures of a webhook: from what the engine counted, whatever the history holds.

use std::time::Duration;

use domain::Ticks;
use domain::delivery::FigureSpan;
use domain::figures::{FigureCounts, Outcome, Resolution, Series};
use store::{FigureDelta, Figures as _};

use crate::fixture::Fixture;

const HOUR: Duration = Duration::from_secs(60 * 60);

async fn count(fixture: &Fixture, series: &Series, at: Ticks, outcome: Outcome, millis: &[u64]) {
    let mut counts = FigureCounts::default();
    for millis in millis {
        counts.count(outcome, Some(millis * 1000));
    }
    fixture.store.add_figures(&[FigureDelta { series: series.clone(), at, counts }]).await.unwrap();
}

#[tokio::test]
async fn figures_cover_a_day_or_a_week_by_hour() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.active_webhook().await;
    let webhook = fixture.stored_webhook(&id).await;
    let (now, series) = (fixture.now(), Series::WebhookDeliveries(webhook.id));
    count(&fixture, &series, now, Outcome::Succeeded, &[20; 99]).await;
    count(&fixture, &series, now, Outcome::Failed, &[9000]).await;
    count(&fixture, &series, now.minus(HOUR * 23), Outcome::Succeeded, &[20; 100]).await;
    count(&fixture, &series, now.minus(HOUR * 24), Outcome::Failed, &[20; 50]).await;
    count(&fixture, &Series::Deliveries, now, Outcome::Failed, &[20]).await;

    let day = fixture.history.figures(&webhook, FigureSpan::Day).await.unwrap();
    assert_eq!((day.total.delivered, day.total.failed_attempts), (199, 1));
    assert_eq!(day.total.success_rate, Some(0.995));
    assert!(day.total.p50_micros.is_some_and(|micros| (19_836..=35_705).contains(&micros)));
    let hour_start = Resolution::Hour.start_of(Resolution::Hour.number_at(now));
    assert_eq!(day.points.len(), 24);
    assert_eq!((day.points[23].start, day.points[23].delivered), (hour_start, 99));
    assert_eq!((day.points[0].start, day.points[0].delivered), (hour_start.minus(HOUR * 23), 100));
    assert_eq!(day.points[0].start, day.total.start);
    let empty = &day.points[1];
    assert_eq!((empty.delivered, empty.success_rate, empty.p95_micros), (0, None, None));

    let week = fixture.history.figures(&webhook, FigureSpan::Week).await.unwrap();
    assert_eq!((week.total.delivered, week.total.failed_attempts, week.points.len()), (199, 51, 168));
}
