//! The figures of a webhook, for charts: from the ring of figures, whatever the length of the history.

use domain::delivery::{FigureSpan, WebhookFigure, WebhookFigures};
use domain::figures::{FigureCounts, Resolution, Series};
use store::Webhook;

use super::{History, Result};

impl History {
    pub async fn figures(&self, webhook: &Webhook, span: FigureSpan) -> Result<WebhookFigures> {
        let now = self.ports.clock.now();
        let hour = Resolution::Hour;
        let last = hour.number_at(now);
        let first = last - i64::from(span.hours()) + 1;
        let (series, since) = (Series::WebhookDeliveries(webhook.id), hour.start_of(first));
        let stored = self.ports.store.figures(&series, hour, since, now.next()).await?;
        let mut total = FigureCounts::default();
        for point in &stored {
            total.add(&point.counts);
        }
        let mut stored = stored.into_iter().peekable();
        let points = (first..=last).map(|number| {
            let start = hour.start_of(number);
            let counts = stored.next_if(|point| point.start == start).map(|point| point.counts);
            WebhookFigure::new(start, &counts.unwrap_or_default())
        });
        let points = points.collect();
        Ok(WebhookFigures { span, total: WebhookFigure::new(since, &total), points })
    }
}
