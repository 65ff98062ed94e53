//! How a webhook does: what its owner needs to know when nothing comes, and before it ends.

use std::time::Duration;

use domain::{Guid, Ticks};
use serde::Serialize;
use store::{DeliveryQuery, EventGap, Webhook, WebhookStats};
use utoipa::ToSchema;

use super::call::Call;
use super::delivery::Tried;
use super::replay::ReplayTold;
use super::{Answer, Management, Side, answer, refusal};

const SPAN_DEFAULT: Duration = Duration::from_secs(24 * 60 * 60);
const SHOWN_MAX: usize = 10;

/// How a webhook does.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookHealth)]
pub(super) struct Health {
    #[schema(value_type = String, format = "uuid")]
    webhook_id: Guid,
    is_active: bool,
    /// What is counted below was so since then.
    #[schema(format = DateTime)]
    since: String,
    delivered: u64,
    failed_attempts: u64,
    /// Of all attempts, those that succeeded; null where there were none.
    success_rate: Option<f64>,
    /// Within which 95 of 100 deliveries were done.
    p95_milliseconds: Option<u32>,
    #[schema(format = DateTime)]
    last_delivered_at: Option<String>,
    #[schema(format = DateTime)]
    failing_since: Option<String>,
    #[schema(format = DateTime)]
    next_attempt_at: Option<String>,
    /// Events that wait, counted up to 10,000.
    events_behind: u64,
    /// Records whose next event failed and is tried again.
    records_waiting: u64,
    handshake: Handshake,
    lost: Option<LostTold>,
    /// Why the receiver's host may not be the subscriber's.
    doubt: Option<String>,
    /// What to look after, in words.
    warnings: Vec<String>,
    recent_attempts: Vec<Tried>,
    replays: Vec<ReplayTold>,
}

/// The Acknowledge or the echo that the receiver has to accept.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookHandshake)]
pub(super) struct Handshake {
    number: u32,
    #[schema(format = DateTime)]
    asked_at: String,
    is_accepted: bool,
    failed_attempts: u32,
}

/// What will never be told: events behind one number, up to and with the other.
#[derive(Serialize, ToSchema)]
#[schema(as = WebhookLost)]
pub(super) struct LostTold {
    #[schema(format = DateTime)]
    at: String,
    after: String,
    upto: String,
}

impl LostTold {
    fn of(lost: &EventGap) -> Self {
        Self { at: lost.at.iso(), after: lost.after.to_string(), upto: lost.through.to_string() }
    }
}

impl Management {
    pub(super) async fn health(&self, side: Side, call: &Call) -> Answer {
        let since = call.query_time("since")?.unwrap_or(call.now.minus(SPAN_DEFAULT));
        let webhook = self.owned(side, call).await?;
        let (history, id) = (&self.ports.store, webhook.id);
        let store = |error: store::StoreError| refusal::store(&error);
        let webhook_stats = history.webhook_stats(id, since).await.map_err(store)?;
        let query =
            DeliveryQuery { webhook: id, before: None, since: None, only_failed: false, rows_max: SHOWN_MAX };
        let attempts = history.attempts(&query).await.map_err(store)?;
        let replays = history.replays(id, SHOWN_MAX).await.map_err(store)?;
        let warnings = self.warnings(&webhook, &webhook_stats);
        Ok(answer::json(&Health {
            webhook_id: id,
            is_active: webhook.flags().is_active(),
            since: since.iso(),
            delivered: webhook_stats.delivered,
            failed_attempts: webhook_stats.failed,
            success_rate: rate(&webhook_stats),
            p95_milliseconds: webhook_stats.p95_ms,
            last_delivered_at: webhook_stats.last_delivered_at.map(Ticks::iso),
            failing_since: webhook_stats.failing_since.map(Ticks::iso),
            next_attempt_at: webhook_stats.next_attempt_at.map(Ticks::iso),
            events_behind: webhook_stats.behind,
            records_waiting: webhook_stats.lanes,
            handshake: Handshake {
                number: webhook.handshake.number,
                asked_at: webhook.handshake.at.iso(),
                is_accepted: webhook.handshake.accepted,
                failed_attempts: webhook.handshake.retry.map_or(0, |retry| retry.attempts),
            },
            lost: webhook.event_gap.as_ref().map(LostTold::of),
            doubt: Some(webhook.host_mismatch.clone()).filter(|host_mismatch| !host_mismatch.is_empty()),
            warnings,
            recent_attempts: attempts.into_iter().map(Tried::of).collect(),
            replays: replays.iter().map(|replay| ReplayTold::of(id, replay)).collect(),
        }))
    }

    fn warnings(&self, webhook: &Webhook, webhook_stats: &WebhookStats) -> Vec<String> {
        let mut warnings = Vec::new();
        let flags = webhook.flags();
        if flags.is_final() {
            return warnings;
        }
        if let Some(disabled) = &webhook.disabled {
            warnings.push(format!(
                "Disabled by the service at {}: {}. Enable it to go on from the first event that was not delivered.",
                disabled.at.iso(),
                disabled.reason
            ));
        } else if let Some(since) = webhook_stats.failing_since {
            warnings.push(format!(
                "Deliveries have failed since {}; the webhook is disabled at about {} if that goes on.",
                since.iso(),
                (since + self.settings.window).iso()
            ));
        }
        if !flags.handshake_accepted && !flags.disabled {
            warnings
                .push("The receiver has not accepted the handshake yet; nothing is delivered before.".into());
        }
        if webhook.event_gap.is_some() {
            warnings.push("Some events will never be told, for they are older than what is kept.".into());
        }
        if !webhook.host_mismatch.is_empty() {
            warnings.push(format!("The receiver may not be yours: {}.", webhook.host_mismatch));
        }
        warnings
    }
}

/// Of all attempts, those that succeeded; to four digits.
fn rate(webhook_stats: &WebhookStats) -> Option<f64> {
    let all = webhook_stats.delivered + webhook_stats.failed;
    let share = |part: u64| u32::try_from(u128::from(part) * 10_000 / u128::from(all.max(1))).unwrap_or(0);
    (all > 0).then(|| f64::from(share(webhook_stats.delivered)) / 10_000.0)
}
