//! The health of a webhook: what its owner and the operator need to know when no events arrive.

use std::time::Duration;

use domain::delivery::{HandshakeView, LostEvents, SuspensionView, WebhookHealth};
use domain::{Suspension, Ticks, WebhookStatus};
use store::{DeliveryQuery, Webhook, WebhookStats, read_webhook_stats};

use super::view::{attempt_view, replay_view};
use super::{History, Result};

const SPAN_DEFAULT: Duration = Duration::from_secs(24 * 60 * 60);
const ATTEMPTS_MAX: usize = 10;
const REPLAYS_MAX: usize = 10;

impl History {
    /// Without `since`, counts are of the last 24 hours.
    pub async fn health(&self, webhook: &Webhook, since: Option<Ticks>) -> Result<WebhookHealth> {
        let now = self.ports.clock.now();
        let since = since.unwrap_or_else(|| now.minus(SPAN_DEFAULT));
        let (store, id) = (&self.ports.store, webhook.id);
        let (status, suspension) = self.status(webhook).await?;
        let stats = read_webhook_stats(&**store, id, since, now).await?;
        let newest = DeliveryQuery {
            webhook: id,
            before: None,
            since: None,
            only_failed: false,
            rows_max: ATTEMPTS_MAX,
        };
        let attempts = store.attempts(&newest).await?;
        let replays = store.replays(id, REPLAYS_MAX).await?;
        Ok(WebhookHealth {
            status,
            suspension: suspension.map(|reason| SuspensionView { reason, since: webhook.suspended_at }),
            since,
            delivered: stats.delivered,
            failed_attempts: stats.failed,
            success_rate: success_rate(&stats),
            p95_milliseconds: stats.p95_ms,
            last_delivered_at: stats.last_delivered_at,
            failing_since: stats.failing_since,
            // Schedules stand still while a webhook is suspended.
            next_attempt_at: stats.next_attempt_at.filter(|_| status != WebhookStatus::Suspended),
            events_behind: stats.behind,
            lanes: stats.lanes,
            handshake: HandshakeView {
                number: webhook.handshake.number,
                requested_at: webhook.handshake.at,
                is_accepted: webhook.handshake.accepted,
                failed_attempts: webhook.handshake.retry.map_or(0, |retry| retry.attempts),
            },
            lost: webhook.event_gap.map(|gap| LostEvents {
                at: gap.at,
                after: gap.after,
                through: gap.through,
            }),
            host_mismatch: Some(webhook.host_mismatch.clone()).filter(|mismatch| !mismatch.is_empty()),
            warnings: warnings(webhook, (status, suspension), &stats, self.retry_window),
            recent_attempts: attempts.into_iter().map(attempt_view).collect(),
            replays: replays.iter().map(|replay| replay_view(webhook, replay)).collect(),
        })
    }
}

/// What needs attention, most urgent first; nothing for a webhook that is unsubscribed or deleted.
fn warnings(
    webhook: &Webhook,
    (status, suspension): (WebhookStatus, Option<Suspension>),
    stats: &WebhookStats,
    retry_window: Duration,
) -> Vec<String> {
    let mut warnings = Vec::new();
    if status.is_final() {
        return warnings;
    }
    let flags = webhook.flags();
    if let Some(disabled) = &webhook.disabled {
        warnings.push(format!(
            "Disabled by the service at {}: {}. Enable it to go on from the first undelivered event.",
            disabled.at.iso(),
            disabled.reason
        ));
    } else if let Some(suspension) = suspension {
        warnings.push(suspension.explanation());
    } else if let Some(since) = stats.failing_since {
        warnings.push(format!(
            "Deliveries have failed since {}; if this goes on, the webhook will be disabled at about {}.",
            since.iso(),
            (since + retry_window).iso()
        ));
    }
    if !flags.handshake_accepted && !flags.disabled {
        warnings.push(
            "The receiver has not accepted the handshake yet; nothing is delivered before it does.".into(),
        );
    }
    if webhook.event_gap.is_some() {
        warnings
            .push("Some events will never be delivered: they were older than the log's retention.".into());
    }
    if !webhook.host_mismatch.is_empty() {
        warnings.push(format!("The receiver may not be yours: {}.", webhook.host_mismatch));
    }
    warnings
}

/// The share of all attempts that succeeded, to four digits.
fn success_rate(stats: &WebhookStats) -> Option<f64> {
    let all = stats.delivered.saturating_add(stats.failed);
    let share = u128::from(stats.delivered) * 10_000 / u128::from(all.max(1));
    (all > 0).then(|| f64::from(u32::try_from(share).unwrap_or(0)) / 10_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn success_rate_counts_all_attempts() {
        let rate =
            |delivered, failed| success_rate(&WebhookStats { delivered, failed, ..WebhookStats::default() });
        assert_eq!(rate(0, 0), None);
        assert_eq!(rate(3, 0), Some(1.0));
        assert_eq!(rate(2, 1), Some(0.6666));
        assert_eq!(rate(0, u64::MAX), Some(0.0));
    }
}
