//! Counters and gauges of the engine, for the metrics endpoint.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use domain::WebhookId;
use domain::figures::{Outcome, Series};
use parking_lot::Mutex;
use store::FigureBuffer;

use super::backlog::Backlog;

#[derive(Clone, Debug, Default)]
pub struct DeliveryCounts(Arc<Values>);

#[derive(Debug, Default)]
struct Values {
    delivered: AtomicU64,
    failed: AtomicU64,
    in_flight: AtomicU64,
    webhooks: AtomicU64,
    backlog: Mutex<Backlog>,
    figures: FigureBuffer,
}

impl DeliveryCounts {
    /// Successful deliveries since the program started.
    pub fn delivered(&self) -> u64 {
        self.0.delivered.load(Ordering::Relaxed)
    }

    /// Failed delivery attempts since the program started.
    pub fn failed(&self) -> u64 {
        self.0.failed.load(Ordering::Relaxed)
    }

    pub fn in_flight(&self) -> u64 {
        self.0.in_flight.load(Ordering::Relaxed)
    }

    /// Webhooks that this node delivers to.
    pub fn webhooks(&self) -> u64 {
        self.0.webhooks.load(Ordering::Relaxed)
    }

    /// As it was a few seconds ago.
    pub fn backlog(&self) -> Backlog {
        *self.0.backlog.lock()
    }

    pub(super) fn set_backlog(&self, backlog: Backlog) {
        *self.0.backlog.lock() = backlog;
    }

    /// The attempts since the last flush of the figures.
    pub fn figures(&self) -> &FigureBuffer {
        &self.0.figures
    }

    /// A webhook of a sandbox has figures of its own, and is in no others.
    pub(super) fn count_attempt(
        &self,
        (webhook, is_sandbox): (WebhookId, bool),
        has_succeeded: bool,
        latency: Duration,
    ) {
        let outcome = if has_succeeded { Outcome::Succeeded } else { Outcome::Failed };
        self.0.figures.count(Series::WebhookDeliveries(webhook), outcome, Some(latency));
        if !is_sandbox {
            let counter = if has_succeeded { &self.0.delivered } else { &self.0.failed };
            counter.fetch_add(1, Ordering::Relaxed);
            self.0.figures.count(Series::Deliveries, outcome, Some(latency));
        }
    }

    pub(super) fn set_gauges(&self, in_flight: usize, webhooks: usize) {
        self.0.in_flight.store(in_flight as u64, Ordering::Relaxed);
        self.0.webhooks.store(webhooks as u64, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use domain::figures::{FigurePoint, Resolution};
    use domain::{Guid, Ticks};
    use store::{FigureDelta, Figures, Result, flush_figures};

    use super::*;

    #[derive(Default)]
    struct Added(Mutex<Vec<FigureDelta>>);

    #[async_trait]
    impl Figures for Added {
        async fn add_figures(&self, deltas: &[FigureDelta]) -> Result<()> {
            self.0.lock().extend_from_slice(deltas);
            Ok(())
        }

        async fn figures(&self, _: &Series, _: Resolution, _: Ticks, _: Ticks) -> Result<Vec<FigurePoint>> {
            Ok(Vec::new())
        }
    }

    #[tokio::test]
    async fn attempts_count_for_their_webhook_and_for_all() {
        let (counts, added) = (DeliveryCounts::default(), Added::default());
        let [one, other, sandbox] = [1, 2, 3].map(|byte| Guid::from_bytes([byte; 16]));
        for (webhook, has_succeeded) in [(one, true), (one, false), (other, true), (sandbox, true)] {
            counts.count_attempt((webhook, webhook == sandbox), has_succeeded, Duration::from_millis(20));
        }
        flush_figures(&added, &[counts.figures()], Ticks(1)).await.unwrap();
        flush_figures(&added, &[counts.figures()], Ticks(2)).await.unwrap();
        let mut added = added.0.into_inner();
        added.sort_by_key(|delta| delta.series.clone());
        let totals = added.iter().map(|delta| {
            let [succeeded, failed] = [Outcome::Succeeded, Outcome::Failed].map(|one| delta.counts.of(one));
            (delta.series.clone(), succeeded, failed)
        });
        let expected = [
            (Series::Deliveries, 2, 1),
            (Series::WebhookDeliveries(one), 1, 1),
            (Series::WebhookDeliveries(other), 1, 0),
            (Series::WebhookDeliveries(sandbox), 1, 0),
        ];
        assert_eq!(totals.collect::<Vec<_>>(), expected);
        assert_eq!((counts.delivered(), counts.failed()), (2, 1));
    }
}
