//! Statistics of a webhook, however long its history is.

use domain::figures::{FigureCounts, FigurePoint, Outcome, Resolution, Series};
use domain::{Ticks, WebhookId};

use super::{History, WebhookStats};
use crate::{Figures, Result};

/// A webhook's statistics since a time. Where the history since then is too long to be counted, the counts come from the
/// figures: then they may lack the last second, and of the hour that contains `since` a proportional share counts.
pub async fn read_webhook_stats<S: History + Figures + ?Sized>(
    store: &S,
    webhook: WebhookId,
    since: Ticks,
    now: Ticks,
) -> Result<WebhookStats> {
    let stats = store.webhook_stats(webhook, since).await?;
    if !stats.is_partial {
        return Ok(stats);
    }
    let series = Series::WebhookDeliveries(webhook);
    let points = store.figures(&series, Resolution::Hour, since, now.next()).await?;
    let [delivered, failed] = [Outcome::Succeeded, Outcome::Failed].map(|outcome| {
        points.iter().map(|point| share_since(point, since, |counts| counts.of(outcome))).sum::<u64>()
    });
    Ok(WebhookStats { delivered: stats.delivered.max(delivered), failed: stats.failed.max(failed), ..stats })
}

/// The part of an hour's count that lies after a time, as if the hour were even.
fn share_since(point: &FigurePoint, since: Ticks, count: impl Fn(&FigureCounts) -> u64) -> u64 {
    let hour = Resolution::Hour.span();
    let left = hour.saturating_sub(since.since(point.start));
    let share = u128::from(count(&point.counts)) * left.as_millis() / hour.as_millis();
    u64::try_from(share).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn first_hour_counts_by_its_share() {
        let start = Ticks::parse_iso("2026-11-15T08:00:00Z").unwrap();
        let mut counts = FigureCounts::default();
        for _ in 0..100 {
            counts.count(Outcome::Succeeded, None);
        }
        let point = FigurePoint { start, counts };
        let share = |since| share_since(&point, since, |counts| counts.of(Outcome::Succeeded));
        assert_eq!(share(start.minus(Duration::from_secs(9))), 100);
        assert_eq!(share(start), 100);
        assert_eq!(share(start + Duration::from_secs(45 * 60)), 25);
        assert_eq!(share(start + Duration::from_secs(90 * 60)), 0);
    }
}
