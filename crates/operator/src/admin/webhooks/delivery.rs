//! One delivery: what was sent, how often it was tried, and what came back.

use std::time::Duration;

use domain::envelope::EnvelopeContext;
use domain::event::semantic_name;
use domain::outgoing_id::IdKey;
use domain::webhook::WebhookFlags;
use domain::{Guid, Ticks};
use serde::Serialize;
use store::{AttemptPurpose, AttemptRecord, AttemptTiming, DeliveryHistory, Lane, LogEvent, Webhook};
use utoipa::ToSchema;

use crate::admin::{Admin, AdminError, Result};

/// As many as a webhook can have.
const LANES_MAX: usize = 2_000;

/// How a delivery stands. One that waits is still to be sent; one that failed is not tried any more; of an unknown one
/// nothing is kept: it was not sent because the webhook was disabled then, or its history is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DeliveryStatus {
    SuccessfulDelivery,
    Waiting,
    Failed,
    Unknown,
}

impl DeliveryStatus {
    /// Those that a list can be asked for.
    pub const LISTED: [Self; 3] = [Self::SuccessfulDelivery, Self::Waiting, Self::Failed];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::SuccessfulDelivery => "delivered",
            Self::Waiting => "waiting",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::LISTED.into_iter().find(|status| status.as_str() == word)
    }
}

/// The delivery of one event. What the log no longer has is null.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Delivery)]
pub struct DeliveryShown {
    /// The `OutgoingId` of the notification, the same on every attempt.
    #[schema(required = true, format = "uuid", examples("5f0a7c1d-90b2-8c3e-a1f4-2d6b8e7c9a10"))]
    pub outgoing_id: Option<String>,
    /// The number of the change in the log.
    #[schema(examples("1018"))]
    pub sequence_version: String,
    /// What happened, by its semantic name.
    #[schema(required = true, examples("Svc.ACC.Customers.CustomerCreated"))]
    pub event: Option<String>,
    /// The record that changed.
    #[schema(required = true)]
    pub correlation_id: Option<String>,
    /// The company that it belongs to; empty where it belongs to the tenant.
    #[schema(required = true)]
    pub company: Option<String>,
    pub status: DeliveryStatus,
    #[schema(required = true, format = DateTime)]
    pub delivered_at: Option<String>,
    #[schema(required = true, format = DateTime)]
    pub next_attempt_at: Option<String>,
    /// Those that failed, and replays; oldest first.
    pub attempts: Vec<AttemptShown>,
    /// What is sent, to the letter. Not in lists.
    #[schema(required = false, nullable = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

/// What an attempt was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum AttemptOccasion {
    LogEvent,
    Handshake,
    Replay,
    Test,
}

impl AttemptOccasion {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LogEvent => "event",
            Self::Handshake => "handshake",
            Self::Replay => "replay",
            Self::Test => "test",
        }
    }
}

/// One attempt to reach the receiver.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AttemptRecord)]
pub struct AttemptShown {
    pub occasion: AttemptOccasion,
    #[schema(format = DateTime)]
    pub at: String,
    /// Counted from 1.
    #[schema(examples(1))]
    pub number: u32,
    /// What the receiver answered; null where no answer came.
    #[schema(required = true, examples(500))]
    pub status: Option<u16>,
    pub succeeded: bool,
    /// Why it failed, in words.
    #[schema(examples("the answer was 500; a 2xx is wanted"))]
    pub reason: String,
    /// The beginning of the answer's body.
    pub excerpt: String,
    pub milliseconds: Milliseconds,
}

/// Where the time of an attempt went.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = AttemptTimes)]
pub struct Milliseconds {
    #[schema(examples(1))]
    pub resolve: u64,
    #[schema(examples(12))]
    pub connect: u64,
    #[schema(examples(20))]
    pub tls: u64,
    #[schema(examples(52))]
    pub wait: u64,
    #[schema(examples(85))]
    pub total: u64,
}

impl From<AttemptTiming> for Milliseconds {
    fn from(timing: AttemptTiming) -> Self {
        let whole = |span: Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        Self {
            resolve: whole(timing.resolve),
            connect: whole(timing.connect),
            tls: whole(timing.tls),
            wait: whole(timing.wait),
            total: whole(timing.total),
        }
    }
}

impl From<AttemptRecord> for AttemptShown {
    fn from(attempt: AttemptRecord) -> Self {
        Self {
            occasion: match attempt.purpose {
                AttemptPurpose::Event { .. } => AttemptOccasion::LogEvent,
                AttemptPurpose::Handshake { .. } => AttemptOccasion::Handshake,
                AttemptPurpose::Replay { .. } => AttemptOccasion::Replay,
                AttemptPurpose::Test => AttemptOccasion::Test,
            },
            at: attempt.at.iso(),
            number: attempt.number,
            status: attempt.status,
            succeeded: attempt.succeeded,
            reason: attempt.reason,
            excerpt: attempt.excerpt,
            milliseconds: attempt.timing.into(),
        }
    }
}

/// What the deliveries of one webhook have in common.
pub(super) struct Teller {
    pub(super) webhook: Webhook,
    lanes: Vec<Lane>,
    ids: IdKey,
}

impl Teller {
    pub(super) fn tell(&self, delivery: DeliveryHistory, event: Option<&LogEvent>) -> DeliveryShown {
        let sequence = delivery.sequence;
        let replayed = delivery.attempts.iter().find(|one| one.succeeded).map(|one| one.at);
        let delivered_at = delivery.delivered.map(|one| one.at).or(replayed);
        let lane = self.lane(sequence, event);
        let is_ahead = self.webhook.cursor.is_some_and(|cursor| sequence > cursor);
        let flags = self.webhook.flags();
        let has_failed = !delivery.attempts.is_empty();
        let status = match delivered_at {
            Some(_) => DeliveryStatus::SuccessfulDelivery,
            None => undelivered(flags, lane.is_some() || is_ahead, has_failed),
        };
        let is_next = |lane: &&Lane| {
            status == DeliveryStatus::Waiting && lane.sequence == sequence && flags.is_active()
        };
        let entry = event.map(|event| &event.entry);
        DeliveryShown {
            outgoing_id: entry.map(|entry| self.ids.event_id(sequence, entry.conversation).to_string()),
            sequence_version: sequence.to_string(),
            event: entry.map(|entry| semantic_name(entry.resource, entry.kind)),
            correlation_id: entry.map(|entry| entry.correlation_id.to_string()),
            company: entry.map(|entry| entry.company.to_string()),
            status,
            delivered_at: delivered_at.map(Ticks::iso),
            next_attempt_at: lane.filter(is_next).map(|lane| lane.retry.next_at.iso()),
            attempts: delivery.attempts.into_iter().map(AttemptShown::from).collect(),
            body: None,
        }
    }

    /// The lane that an event is in, or waits behind.
    fn lane(&self, sequence: u64, event: Option<&LogEvent>) -> Option<&Lane> {
        self.lanes.iter().find(|lane| match event {
            Some(event) => lane.record_key == event.record_key && lane.sequence <= sequence,
            None => lane.sequence == sequence,
        })
    }

    fn body(&self, event: &LogEvent) -> String {
        let envelope_context = EnvelopeContext {
            webhook: self.webhook.id,
            tenant: self.webhook.owner.tenant.clone(),
            user: self.webhook.user.clone(),
            resource: self.webhook.resource,
        };
        let outgoing = self.ids.event_id(event.entry.sequence, event.entry.conversation);
        envelope_context.notification(outgoing, &event.entry)
    }
}

/// How an event stands that was not delivered: `is_held` where it is in a lane or behind the cursor.
fn undelivered(flags: WebhookFlags, is_held: bool, has_failed: bool) -> DeliveryStatus {
    let will_be_sent = flags.enabled && !flags.is_final() && is_held;
    match (will_be_sent && !(flags.disabled && has_failed), has_failed) {
        (true, _) => DeliveryStatus::Waiting,
        (false, true) => DeliveryStatus::Failed,
        (false, false) => DeliveryStatus::Unknown,
    }
}

impl Admin {
    /// A delivery, named by its `OutgoingId` or by its number in the log.
    pub async fn delivery(&self, id: &str, name: &str) -> Result<DeliveryShown> {
        let teller = self.teller(self.kept_webhook(id).await?).await?;
        let (sequence, event) = self.named_event(&teller.webhook, name).await?;
        let history = self.store.delivery_history(teller.webhook.id, sequence).await?;
        if event.is_none() && history.delivered.is_none() && history.attempts.is_empty() {
            return Err(missing(&teller.webhook, name));
        }
        let body = event.as_ref().map(|event| teller.body(event));
        Ok(DeliveryShown { body, ..teller.tell(history, event.as_ref()) })
    }

    pub(super) async fn teller(&self, webhook: Webhook) -> Result<Teller> {
        let lanes = self.store.lanes(webhook.id, LANES_MAX).await?;
        let ids = IdKey::new(&self.store.outgoing_id_key(webhook.id));
        Ok(Teller { webhook, lanes, ids })
    }

    /// The event that a name stands for, where it was ever meant for this webhook; with what the log still has of it.
    pub(super) async fn named_event(&self, webhook: &Webhook, name: &str) -> Result<(u64, Option<LogEvent>)> {
        let ids = IdKey::new(&self.store.outgoing_id_key(webhook.id));
        let outgoing = Guid::parse(name);
        let sequence = match outgoing {
            Some(id) => ids.sequence_from_id(id),
            None => name.parse().ok(),
        };
        let is_entitled = |sequence: &u64| webhook.initial_cursor.is_some_and(|began| *sequence > began);
        let sequence = sequence.filter(is_entitled).ok_or_else(|| missing(webhook, name))?;
        let event = self.event(webhook, sequence).await?;
        if let (Some(id), Some(event)) = (outgoing, &event)
            && ids.event_id(sequence, event.entry.conversation) != id
        {
            return Err(missing(webhook, name));
        }
        Ok((sequence, event))
    }

    /// An event of this webhook's, where the log still has it.
    pub(super) async fn event(&self, webhook: &Webhook, sequence: u64) -> Result<Option<LogEvent>> {
        let (tenant, before) = (&webhook.owner.tenant, sequence.saturating_sub(1));
        let tail = self.store.read_tail(tenant, webhook.resource, before, 1).await?;
        let is_it =
            |event: &LogEvent| event.entry.sequence == sequence && webhook.kinds.contains(event.entry.kind);
        Ok(tail.events.into_iter().find(is_it))
    }
}

fn missing(webhook: &Webhook, name: &str) -> AdminError {
    AdminError::Missing(format!("delivery \"{name}\" of webhook {}", webhook.id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_delivered_waits_has_failed_or_is_unknown() {
        let active = WebhookFlags { enabled: true, handshake_accepted: true, ..WebhookFlags::default() };
        for (flags, is_held, has_failed, status) in [
            (active, true, true, DeliveryStatus::Waiting),
            (active, true, false, DeliveryStatus::Waiting),
            (WebhookFlags { handshake_accepted: false, ..active }, true, true, DeliveryStatus::Waiting),
            (active, false, true, DeliveryStatus::Failed),
            (active, false, false, DeliveryStatus::Unknown),
            (WebhookFlags { disabled: true, ..active }, true, true, DeliveryStatus::Failed),
            (WebhookFlags { disabled: true, ..active }, true, false, DeliveryStatus::Waiting),
            (WebhookFlags { enabled: false, ..active }, true, false, DeliveryStatus::Unknown),
            (WebhookFlags { deleted: true, ..active }, true, true, DeliveryStatus::Failed),
        ] {
            assert_eq!(undelivered(flags, is_held, has_failed), status, "{flags:?} {is_held} {has_failed}");
        }
    }
}
