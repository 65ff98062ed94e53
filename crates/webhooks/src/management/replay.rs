//! Asking for deliveries again, and for a test event. Both are sent beside everything else, and only to a webhook that
//! is active.

use axum::body::Body;
use domain::Guid;
use serde::Serialize;
use store::{AuditEntry, AuditKind, LoadedWebhook, Replay, ReplayKind};
use utoipa::ToSchema;
use web::ErrorResponse;

use super::body::Members;
use super::call::Call;
use super::refusal::{coded, inactive, no_webhook};
use super::{Answer, Management, Side, answer, refusal};

/// As many as may be under way at a time.
const OPEN_MAX: usize = 10;

/// Deliveries that were asked for again, and how far that has come.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookReplay)]
pub(super) struct ReplayTold {
    #[schema(value_type = String, format = "uuid")]
    webhook_id: Guid,
    number: i64,
    /// `events` or `test`.
    #[schema(value_type = String)]
    kind: &'static str,
    #[schema(format = DateTime)]
    asked_at: String,
    /// Events behind this number.
    after: String,
    /// Up to and with this one.
    upto: String,
    delivered: u64,
    failed: u64,
    is_done: bool,
}

impl ReplayTold {
    pub(super) fn of(webhook_id: Guid, replay: &Replay) -> Self {
        Self {
            webhook_id,
            number: replay.number,
            kind: match replay.kind {
                ReplayKind::Events => "events",
                ReplayKind::Test => "test",
            },
            asked_at: replay.requested_at.iso(),
            after: replay.after.to_string(),
            upto: replay.through.to_string(),
            delivered: replay.delivered,
            failed: replay.failed,
            is_done: replay.is_done,
        }
    }
}

impl Management {
    pub(super) async fn replay_one(&self, side: Side, call: &Call) -> Answer {
        let hook = self.ready(side, call).await?;
        let (_, entry) = self.event_of(&hook, call).await?;
        self.ask(call, &hook, ReplayKind::Events, entry.sequence.saturating_sub(1), entry.sequence).await
    }

    pub(super) async fn replay(&self, side: Side, call: &Call, body: Body) -> Answer {
        let mut members = Members::read(body).await?;
        let from = members.time("from");
        let to = members.time_or_none("to").unwrap_or(call.now);
        if from.is_some_and(|from| from > to) {
            members.invalid("from", "from must not be later than to.");
        }
        let from = members.finish(from)?;
        let hook = self.ready(side, call).await?;
        let span = self.ports.store.sequence_range(hook.webhook.id, from, to).await;
        let Some((after, upto)) = span.map_err(|error| refusal::store(&error))? else {
            let message = "No event of this webhook that is still kept lies between from and to.";
            return Err(coded(404, "nothing_to_replay", Some("from"), message));
        };
        let began = hook.webhook.initial_cursor.unwrap_or(u64::MAX);
        if upto <= began {
            let message = "All events between from and to are older than the webhook's contract.";
            return Err(coded(409, "not_entitled", Some("to"), message));
        }
        self.ask(call, &hook, ReplayKind::Events, after.max(began), upto).await
    }

    pub(super) async fn test(&self, side: Side, call: &Call) -> Answer {
        let hook = self.ready(side, call).await?;
        self.ask(call, &hook, ReplayKind::Test, 0, 0).await
    }

    /// A webhook of the caller's to which something can be sent.
    async fn ready(&self, side: Side, call: &Call) -> Result<LoadedWebhook, ErrorResponse> {
        let hook = self.owned_hook(side, call).await?;
        if !hook.webhook.flags().is_active() {
            return Err(inactive());
        }
        if hook.replays.len() >= OPEN_MAX {
            let message =
                format!("{OPEN_MAX} replays of this webhook are under way; wait until one is done.");
            return Err(coded(409, "too_many_replays", None, &message));
        }
        Ok(hook)
    }

    async fn ask(
        &self,
        call: &Call,
        hook: &LoadedWebhook,
        kind: ReplayKind,
        after: u64,
        upto: u64,
    ) -> Answer {
        let webhook = &hook.webhook;
        let entry = (kind == ReplayKind::Events).then(|| {
            let note = format!("webhook {}: events {} to {upto} again", webhook.id, after.saturating_add(1));
            AuditEntry::new(AuditKind::WebhookReplayed, call.now, &call.context())
                .user(&call.caller.user)
                .tenant(&webhook.owner.tenant)
                .client(&webhook.owner.client)
                .note(note)
        });
        let asked = self.ports.store.request_replay_audited(webhook.id, kind, (after, upto), entry).await;
        let replay = asked.map_err(|error| refusal::store(&error))?.ok_or_else(no_webhook)?;
        self.ports.nudge.touched(webhook.id).await;
        Ok(answer::accepted(&ReplayTold::of(webhook.id, &replay)))
    }
}
