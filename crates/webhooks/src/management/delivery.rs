//! One delivery: what was sent, how often it was tried, and what came back.

use domain::envelope::EnvelopeContext;
use domain::event::semantic_name;
use domain::outgoing_id::IdKey;
use domain::{Guid, Ticks};
use serde::Serialize;
use store::{
    AttemptPurpose, AttemptRecord, AttemptTiming, DeliveryHistory, Lane, LoadedWebhook, LogEntry, LogPage,
    LogQuery,
};
use utoipa::ToSchema;
use web::ErrorResponse;

use super::call::Call;
use super::{Answer, Management, Side, answer, refusal};

/// How a delivery stands; one that waits will be tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = WebhookDeliveryStatus)]
pub(super) enum Status {
    SuccessfulDelivery,
    Waiting,
    Failed,
}

impl Status {
    pub(super) const ALL: [(Self, &'static str); 3] =
        [(Self::SuccessfulDelivery, "delivered"), (Self::Waiting, "waiting"), (Self::Failed, "failed")];
}

/// The delivery of one event. What the log no longer has is null.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookDelivery)]
pub(super) struct Item {
    /// The `OutgoingId` of the notification, the same on every attempt.
    #[schema(value_type = Option<String>, format = "uuid")]
    outgoing_id: Option<Guid>,
    /// The number of the change in the log.
    sequence_version: String,
    /// What happened, by its semantic name.
    event: Option<String>,
    /// The record that changed.
    #[schema(value_type = Option<String>)]
    correlation_id: Option<Box<str>>,
    /// The company that it belongs to; empty where it belongs to the tenant.
    #[schema(value_type = Option<String>)]
    company: Option<Box<str>>,
    pub(super) status: Status,
    /// Those that failed, and replays; the oldest first.
    attempts: Vec<Tried>,
    #[schema(format = DateTime)]
    delivered_at: Option<String>,
    #[schema(format = DateTime)]
    next_attempt_at: Option<String>,
    /// What is sent, to the letter; not in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
}

/// One attempt to reach the receiver.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookAttempt)]
pub(super) struct Tried {
    /// `event`, `handshake`, `replay` or `test`.
    #[schema(value_type = String)]
    occasion: &'static str,
    #[schema(format = DateTime)]
    at: String,
    /// Counted from 1.
    number: u32,
    /// What the receiver answered; null where no answer came.
    status: Option<u16>,
    succeeded: bool,
    /// In words; empty where it succeeded.
    reason: String,
    /// The beginning of the answer's body.
    excerpt: String,
    milliseconds: Milliseconds,
}

/// Where the time of an attempt went.
#[derive(Serialize, ToSchema)]
#[schema(as = WebhookAttemptTimes)]
pub(super) struct Milliseconds {
    resolve: u64,
    connect: u64,
    tls: u64,
    wait: u64,
    total: u64,
}

impl Milliseconds {
    fn of(timing: &AttemptTiming) -> Self {
        let whole = |span: std::time::Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        Self {
            resolve: whole(timing.resolve),
            connect: whole(timing.connect),
            tls: whole(timing.tls),
            wait: whole(timing.wait),
            total: whole(timing.total),
        }
    }
}

impl Tried {
    pub(super) fn of(attempt: AttemptRecord) -> Self {
        let purpose = match attempt.purpose {
            AttemptPurpose::Event { .. } => "event",
            AttemptPurpose::Handshake { .. } => "handshake",
            AttemptPurpose::Replay { .. } => "replay",
            AttemptPurpose::Test => "test",
        };
        Self {
            occasion: purpose,
            at: attempt.at.iso(),
            number: attempt.number,
            status: attempt.status,
            succeeded: attempt.succeeded,
            milliseconds: Milliseconds::of(&attempt.timing),
            reason: attempt.reason,
            excerpt: attempt.excerpt,
        }
    }
}

/// Its newest moment, by which lists are ordered.
pub(super) fn newest_mark(delivery: &DeliveryHistory) -> Option<(Ticks, u64)> {
    let tried = delivery.attempts.iter().map(AttemptRecord::cursor);
    tried.chain(delivery.delivered.map(|one| (one.at, one.sequence))).max()
}

/// By itself, or by a replay.
fn delivered_at(delivery: &DeliveryHistory) -> Option<Ticks> {
    let replayed = delivery.attempts.iter().find(|one| one.succeeded).map(|one| one.at);
    delivery.delivered.map(|one| one.at).or(replayed)
}

/// What the items of one webhook have in common.
pub(super) struct Teller<'a> {
    hook: &'a LoadedWebhook,
    lanes: &'a [Lane],
    ids: IdKey,
}

impl<'a> Teller<'a> {
    pub(super) fn new(hook: &'a LoadedWebhook, lanes: &'a [Lane]) -> Self {
        Self { hook, lanes, ids: IdKey::new(&hook.id_key) }
    }

    /// Where it is tried again, as long as the webhook is active.
    fn lane(&self, sequence: u64) -> Option<&Lane> {
        let is_active = self.hook.webhook.flags().is_active();
        self.lanes.iter().find(|lane| lane.sequence == sequence).filter(|_| is_active)
    }

    pub(super) fn status(&self, delivery: &DeliveryHistory) -> Status {
        match (delivered_at(delivery), self.lane(delivery.sequence)) {
            (Some(_), _) => Status::SuccessfulDelivery,
            (None, Some(_)) => Status::Waiting,
            (None, None) => Status::Failed,
        }
    }

    pub(super) fn item(&self, delivery: DeliveryHistory, entry: Option<&LogEntry>) -> Item {
        let (sequence, status) = (delivery.sequence, self.status(&delivery));
        let delivered_at = delivered_at(&delivery);
        let lane = self.lane(sequence).filter(|_| status == Status::Waiting);
        let next = lane.map(|lane| lane.retry.next_at);
        Item {
            outgoing_id: entry.map(|entry| self.ids.event_id(sequence, entry.conversation)),
            sequence_version: sequence.to_string(),
            event: entry.map(|entry| semantic_name(entry.resource, entry.kind)),
            correlation_id: entry.map(|entry| entry.correlation_id.clone()),
            company: entry.map(|entry| entry.company.clone()),
            status,
            attempts: delivery.attempts.into_iter().map(Tried::of).collect(),
            delivered_at: delivered_at.map(Ticks::iso),
            next_attempt_at: next.map(Ticks::iso),
            body: None,
        }
    }

    fn body(&self, outgoing: Guid, entry: &LogEntry) -> String {
        let webhook = &self.hook.webhook;
        let envelope_context = EnvelopeContext {
            webhook: webhook.id,
            tenant: webhook.owner.tenant.clone(),
            user: webhook.user.clone(),
            resource: webhook.resource,
        };
        envelope_context.notification(outgoing, entry)
    }
}

impl Management {
    pub(super) async fn delivery(&self, side: Side, call: &Call) -> Answer {
        let hook = self.owned_hook(side, call).await?;
        let (outgoing, entry) = self.event_of(&hook, call).await?;
        let (history, id) = (&self.ports.store, hook.webhook.id);
        let delivery =
            history.delivery_history(id, entry.sequence).await.map_err(|error| refusal::store(&error))?;
        let lanes = &hook.lanes;
        let teller = Teller::new(&hook, lanes);
        let mut item = teller.item(delivery, Some(&entry));
        // Nothing was tried yet: it waits for its turn.
        if item.attempts.is_empty() && item.status == Status::Failed && hook.webhook.flags().is_active() {
            item.status = Status::Waiting;
        }
        item.body = Some(teller.body(outgoing, &entry));
        Ok(answer::json(&item))
    }

    /// The event that the address names by its id, where it was ever meant for this webhook.
    pub(super) async fn event_of(
        &self,
        hook: &LoadedWebhook,
        call: &Call,
    ) -> Result<(Guid, LogEntry), ErrorResponse> {
        let outgoing = call.outgoing()?;
        let ids = IdKey::new(&hook.id_key);
        let entitled = |sequence: &u64| hook.webhook.initial_cursor.is_some_and(|began| *sequence > began);
        let sequence = ids.sequence_from_id(outgoing).filter(entitled).ok_or_else(refusal::no_delivery)?;
        let entry = self.entry(hook, sequence).await?.ok_or_else(refusal::no_delivery)?;
        if ids.event_id(sequence, entry.conversation) != outgoing {
            return Err(refusal::no_delivery());
        }
        Ok((outgoing, entry))
    }

    /// An event of this webhook's, where the log still has it.
    pub(super) async fn entry(
        &self,
        hook: &LoadedWebhook,
        sequence: u64,
    ) -> Result<Option<LogEntry>, ErrorResponse> {
        let webhook = &hook.webhook;
        let query = LogQuery {
            tenant: webhook.owner.tenant.clone(),
            events: Some(webhook.kinds.iter().map(|kind| (webhook.resource, kind)).collect()),
            company: None,
            after: sequence.saturating_sub(1),
            rows_max: 1,
        };
        let page = self.ports.store.read_log(&query).await.map_err(|error| refusal::store(&error))?;
        Ok(match page {
            LogPage::Entries(entries) => entries.into_iter().find(|entry| entry.sequence == sequence),
            LogPage::BelowFloor { .. } => None,
        })
    }
}
