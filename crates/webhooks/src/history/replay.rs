//! Replays and test events. Both are sent beside the regular deliveries, only to an active webhook, and only events that
//! the webhook was entitled to.

use domain::delivery::{ReplayRequest, ReplayView};
use domain::{Ticks, WebhookStatus};
use store::{AuditContext, ReplayKind, Webhook};

use super::view::replay_view;
use super::{History, HistoryError, Result};

/// How many replays of a webhook may run at a time.
const OPEN_MAX: usize = 10;
const LISTED_MAX: usize = 100;

impl History {
    /// The newest replays, newest first.
    pub async fn replays(&self, webhook: &Webhook) -> Result<Vec<ReplayView>> {
        let replays = self.ports.store.replays(webhook.id, LISTED_MAX).await?;
        Ok(replays.iter().map(|replay| replay_view(webhook, replay)).collect())
    }

    /// Starts a replay or sends a test event. The replay and its audit entry are one transaction.
    pub async fn request_replay(
        &self,
        webhook: &Webhook,
        request: ReplayRequest,
        context: &AuditContext,
    ) -> Result<ReplayView> {
        if let ReplayRequest::Span { from, to: Some(to) } = request
            && from > to
        {
            return Err(HistoryError::SpanReversed);
        }
        self.check_active(webhook).await?;
        let (kind, span) = match request {
            ReplayRequest::TestEvent => (ReplayKind::Test, (0, 0)),
            ReplayRequest::TestEventOf(kind) if webhook.kinds.contains(kind) => {
                (ReplayKind::Test, (0, u64::try_from(kind.code()).unwrap_or_default()))
            }
            ReplayRequest::TestEventOf(_) => return Err(HistoryError::NotSubscribed),
            ReplayRequest::Delivery(name) => {
                let (sequence, event) = self.find_event(webhook, name).await?;
                if event.is_none() {
                    return Err(self.missing_event(webhook, sequence).await?);
                }
                (ReplayKind::Events, (sequence.saturating_sub(1), sequence))
            }
            ReplayRequest::Span { from, to } => {
                (ReplayKind::Events, self.find_span(webhook, from, to).await?)
            }
        };
        let replay = self.ports.store.request_replay(webhook.id, kind, span, context).await?;
        let replay = replay.ok_or(HistoryError::NoWebhook)?;
        self.ports.notifier.webhook_changed(webhook.id).await;
        Ok(replay_view(webhook, &replay))
    }

    /// Why the log does not have an event: it was pruned, or there never was one. An id of another webhook's delivery
    /// decodes to any number, most likely one that the log has not reached.
    async fn missing_event(&self, webhook: &Webhook, sequence: u64) -> Result<HistoryError> {
        let bounds = self.ports.store.log_bounds(&webhook.owner.tenant).await?;
        Ok(if sequence <= bounds.floor { HistoryError::EventPruned } else { HistoryError::NoDelivery })
    }

    /// Refuses a webhook to which nothing can be sent now.
    async fn check_active(&self, webhook: &Webhook) -> Result<()> {
        let (status, suspension) = self.status(webhook).await?;
        if let Some(suspension) = suspension {
            return Err(HistoryError::Suspended(suspension));
        }
        if status != WebhookStatus::Active {
            return Err(HistoryError::Inactive(status));
        }
        let loaded = self.ports.store.load_webhook(webhook.id).await?;
        let open = loaded.map_or(0, |loaded| loaded.replays.len());
        if open >= OPEN_MAX { Err(HistoryError::TooManyReplays(open)) } else { Ok(()) }
    }

    /// The sequences that a span of time covers: after the first and up to the second.
    async fn find_span(&self, webhook: &Webhook, from: Ticks, to: Option<Ticks>) -> Result<(u64, u64)> {
        // The end of the log is not the time now: a batch of changes has versions a little ahead of the clock.
        let to = to.unwrap_or(Ticks(i64::MAX));
        let span = self.ports.store.sequence_range(webhook.id, from, to).await?;
        let (after, through) = span.ok_or(HistoryError::NothingToReplay)?;
        let initial_cursor = webhook.initial_cursor.unwrap_or(u64::MAX);
        if through <= initial_cursor {
            return Err(HistoryError::NotEntitled);
        }
        Ok((after.max(initial_cursor), through))
    }
}
