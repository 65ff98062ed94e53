//! Asking for deliveries again, and for a test event. Both are sent beside everything else, and only to a webhook that
//! is active, of what it was ever entitled to.

use domain::Ticks;
use serde::Serialize;
use store::{AuditContext, AuditKind, Replay, ReplayKind, Webhook};
use utoipa::ToSchema;

use super::WebhookStatus;
use crate::admin::{Admin, AdminError, Result};

/// As many as may be under way at a time.
const OPEN_MAX: usize = 10;
const SHOWN_MAX: usize = 100;

/// What is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = WebhookReplayKind)]
pub enum ReplayWord {
    Events,
    /// One made-up event.
    Test,
}

/// Deliveries that were asked for again, and how far that has come.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookReplay)]
pub struct ReplayShown {
    #[schema(format = "uuid", examples("0b9f6c1e-3c58-4d2f-9a51-6f6f2b1d7c40"))]
    pub webhook: String,
    /// Counts up with each.
    #[schema(examples(1))]
    pub number: i64,
    pub kind: ReplayWord,
    #[schema(format = DateTime)]
    pub asked_at: String,
    /// Events behind this number of the log,
    #[schema(examples("1017"))]
    pub after: String,
    /// up to and with this one.
    #[schema(examples("1018"))]
    pub upto: String,
    #[schema(examples(1))]
    pub delivered: u64,
    #[schema(examples(0))]
    pub failed: u64,
    pub is_done: bool,
}

/// The newest replays, newest first.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ReplayPage {
    pub replays: Vec<ReplayShown>,
}

impl ReplayShown {
    fn of(webhook: &Webhook, replay: &Replay) -> Self {
        Self {
            webhook: webhook.id.to_string(),
            number: replay.number,
            kind: match replay.kind {
                ReplayKind::Events => ReplayWord::Events,
                ReplayKind::Test => ReplayWord::Test,
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

impl Admin {
    /// Sends one made-up event.
    pub async fn test_webhook(&self, id: &str, context: &AuditContext) -> Result<ReplayShown> {
        let webhook = self.ready(id).await?;
        self.ask(&webhook, ReplayKind::Test, (0, 0), context).await
    }

    /// Sends one event again: named by its `OutgoingId`, or by its number in the log.
    pub async fn replay_delivery(
        &self,
        id: &str,
        delivery: &str,
        context: &AuditContext,
    ) -> Result<ReplayShown> {
        let webhook = self.ready(id).await?;
        let (sequence, event) = self.named_event(&webhook, delivery).await?;
        if event.is_none() {
            return Err(AdminError::Missing(format!("event \"{delivery}\" in the log any more")));
        }
        self.ask(&webhook, ReplayKind::Events, (sequence.saturating_sub(1), sequence), context).await
    }

    /// Sends all its events of a span of time again; without an end: up to now.
    pub async fn replay_span(
        &self,
        id: &str,
        from: Ticks,
        to: Option<Ticks>,
        context: &AuditContext,
    ) -> Result<ReplayShown> {
        // Not the time now: many changes at once have versions a little ahead of it.
        let to = to.unwrap_or(Ticks(i64::MAX));
        if from > to {
            return Err(AdminError::Invalid("from must not be later than to".into()));
        }
        let webhook = self.ready(id).await?;
        let Some((after, upto)) = self.store.sequence_range(webhook.id, from, to).await? else {
            let what = format!("event of webhook {id} that is still kept between from and to");
            return Err(AdminError::Missing(what));
        };
        let began = webhook.initial_cursor.unwrap_or(u64::MAX);
        if upto <= began {
            let why = format!("all events between from and to are older than the contract of webhook {id}");
            return Err(AdminError::Refused { code: "not_entitled", why });
        }
        self.ask(&webhook, ReplayKind::Events, (after.max(began), upto), context).await
    }

    /// What was asked for again, newest first.
    pub async fn replays(&self, id: &str) -> Result<ReplayPage> {
        let webhook = self.kept_webhook(id).await?;
        let replays = self.store.replays(webhook.id, SHOWN_MAX).await?;
        Ok(ReplayPage { replays: replays.iter().map(|one| ReplayShown::of(&webhook, one)).collect() })
    }

    /// A webhook to which something can be sent now.
    async fn ready(&self, id: &str) -> Result<Webhook> {
        let webhook = self.kept_webhook(id).await?;
        let status = WebhookStatus::of(&webhook, &self.store.disabled_owners().await?);
        if status != WebhookStatus::Active {
            let word = status.as_str();
            let why = format!("webhook {id} is {word}, and only to an active one something can be sent");
            return Err(AdminError::Refused { code: "inactive", why });
        }
        let open = self.store.load_webhook(webhook.id).await?.map_or(0, |hook| hook.replays.len());
        if open >= OPEN_MAX {
            let why = format!("{open} replays of webhook {id} are under way; wait until one is done");
            return Err(AdminError::Refused { code: "too_many_replays", why });
        }
        Ok(webhook)
    }

    async fn ask(
        &self,
        webhook: &Webhook,
        kind: ReplayKind,
        (after, upto): (u64, u64),
        context: &AuditContext,
    ) -> Result<ReplayShown> {
        let entry = match kind {
            ReplayKind::Test => {
                self.entry(AuditKind::WebhookChanged, webhook, context, "a test event asked for")
            }
            ReplayKind::Events => {
                let what = format!("events {} to {upto} asked for again", after.saturating_add(1));
                self.entry(AuditKind::WebhookReplayed, webhook, context, &what)
            }
        };
        let asked = self.store.request_replay_audited(webhook.id, kind, (after, upto), Some(entry)).await?;
        let replay = asked.ok_or_else(|| AdminError::Missing(format!("webhook \"{}\"", webhook.id)))?;
        Ok(ReplayShown::of(webhook, &replay))
    }
}
