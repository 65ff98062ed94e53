//! How a webhook does: what the operator needs to know when somebody says that nothing comes.

use std::time::Duration;

use domain::Ticks;
use serde::Serialize;
use store::{DeliveryQuery, Webhook, WebhookStats};
use utoipa::ToSchema;

use super::AttemptShown;
use crate::admin::{Admin, Result};

const SPAN: Duration = Duration::from_secs(24 * 60 * 60);
const ATTEMPTS_SHOWN_MAX: usize = 10;

/// How a webhook does.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookHealth)]
pub struct Health {
    /// What is counted below was so since then: 24 hours.
    #[schema(format = DateTime)]
    pub since: String,
    #[schema(examples(120))]
    pub delivered: u64,
    /// Attempts to deliver an event that failed.
    #[schema(examples(2))]
    pub failed_attempts: u64,
    /// Of all attempts, those that succeeded; null where there were none.
    #[schema(required = true, minimum = 0, maximum = 1, examples(0.9836))]
    pub success_rate: Option<f64>,
    /// Within which 95 of 100 deliveries were done.
    #[schema(required = true, examples(85))]
    pub p95_milliseconds: Option<u32>,
    #[schema(required = true, format = DateTime)]
    pub last_delivered_at: Option<String>,
    /// Since when something has failed that has not succeeded yet.
    #[schema(required = true, format = DateTime)]
    pub failing_since: Option<String>,
    #[schema(required = true, format = DateTime)]
    pub next_attempt_at: Option<String>,
    /// Events that wait, counted up to 10,000.
    #[schema(examples(0))]
    pub events_behind: u64,
    /// Records whose next event failed: later ones of theirs wait behind it.
    #[schema(examples(0))]
    pub lanes: u64,
    pub handshake: HandshakeShown,
    /// What it will never be told, for the log no longer has it.
    #[schema(required = true)]
    pub lost: Option<LostShown>,
    /// The newest attempts that have a row of their own: failures, handshakes, tests, replays.
    pub recent_attempts: Vec<AttemptShown>,
}

/// The Acknowledge or the echo that the receiver has to accept.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookHandshake)]
pub struct HandshakeShown {
    /// Counts up with each new address.
    #[schema(examples(1))]
    pub number: u32,
    #[schema(format = DateTime)]
    pub asked_at: String,
    pub is_accepted: bool,
    #[schema(examples(0))]
    pub failed_attempts: u32,
}

/// Events behind one number, up to and with the other.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = WebhookLost)]
pub struct LostShown {
    #[schema(format = DateTime)]
    pub at: String,
    #[schema(examples("1017"))]
    pub after: String,
    #[schema(examples("2048"))]
    pub upto: String,
}

impl Admin {
    pub(super) async fn health(&self, webhook: &Webhook) -> Result<Health> {
        let since = self.now().minus(SPAN);
        let webhook_stats = self.store.webhook_stats(webhook.id, since).await?;
        let newest = DeliveryQuery {
            webhook: webhook.id,
            before: None,
            since: None,
            only_failed: false,
            rows_max: ATTEMPTS_SHOWN_MAX,
        };
        let attempts = self.store.attempts(&newest).await?;
        let handshake = webhook.handshake;
        Ok(Health {
            since: since.iso(),
            delivered: webhook_stats.delivered,
            failed_attempts: webhook_stats.failed,
            success_rate: success_rate(&webhook_stats),
            p95_milliseconds: webhook_stats.p95_ms,
            last_delivered_at: webhook_stats.last_delivered_at.map(Ticks::iso),
            failing_since: webhook_stats.failing_since.map(Ticks::iso),
            next_attempt_at: webhook_stats.next_attempt_at.map(Ticks::iso),
            events_behind: webhook_stats.behind,
            lanes: webhook_stats.lanes,
            handshake: HandshakeShown {
                number: handshake.number,
                asked_at: handshake.at.iso(),
                is_accepted: handshake.accepted,
                failed_attempts: handshake.retry.map_or(0, |retry| retry.attempts),
            },
            lost: webhook.event_gap.map(|lost| LostShown {
                at: lost.at.iso(),
                after: lost.after.to_string(),
                upto: lost.through.to_string(),
            }),
            recent_attempts: attempts.into_iter().map(AttemptShown::from).collect(),
        })
    }
}

/// To four digits.
fn success_rate(webhook_stats: &WebhookStats) -> Option<f64> {
    let all = webhook_stats.delivered.saturating_add(webhook_stats.failed);
    let share = u128::from(webhook_stats.delivered) * 10_000 / u128::from(all.max(1));
    (all > 0).then(|| f64::from(u32::try_from(share).unwrap_or(0)) / 10_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_of_all_attempts() {
        let rate =
            |delivered, failed| success_rate(&WebhookStats { delivered, failed, ..WebhookStats::default() });
        assert_eq!(rate(0, 0), None);
        assert_eq!(rate(3, 0), Some(1.0));
        assert_eq!(rate(2, 1), Some(0.6666));
        assert_eq!(rate(0, u64::MAX), Some(0.0));
    }
}
