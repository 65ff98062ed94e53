//! Rows of the store as the views that every API shows.

use std::time::Duration;

use domain::WebhookStatus;
use domain::delivery::{
    AttemptMilliseconds, AttemptOccasion, AttemptView, DeliveryStatus, DeliveryView, ReplayView,
};
use domain::envelope::EnvelopeContext;
use domain::event::semantic_name;
use domain::outgoing_id::IdKey;
use store::{
    AttemptPurpose, AttemptRecord, AttemptTiming, DeliveryHistory, Lane, LogEvent, Replay, ReplayKind,
    Webhook,
};

use super::status::{DeliveryFacts, delivery_status};

/// What the views of one webhook's deliveries have in common.
pub(super) struct DeliveryViews<'a> {
    pub(super) webhook: &'a Webhook,
    pub(super) status: WebhookStatus,
    pub(super) lanes: Vec<Lane>,
    pub(super) ids: IdKey,
}

impl DeliveryViews<'_> {
    /// Without the body.
    pub(super) fn view(&self, delivery: DeliveryHistory, event: Option<&LogEvent>) -> DeliveryView {
        let sequence = delivery.sequence;
        let replayed = delivery.attempts.iter().find(|attempt| attempt.succeeded).map(|attempt| attempt.at);
        let delivered_at = delivery.delivered.map(|success| success.at).or(replayed);
        let lane = self.lane(sequence, event);
        let facts = DeliveryFacts {
            is_delivered: delivered_at.is_some(),
            is_pending: lane.is_some() || self.is_ahead(sequence),
            has_failed: !delivery.attempts.is_empty(),
        };
        let status = delivery_status(self.webhook.flags(), facts);
        // Schedules stand still while a webhook is suspended or awaits a contract.
        let is_scheduled = status == DeliveryStatus::Waiting && self.status == WebhookStatus::Active;
        let next = lane.filter(|lane| is_scheduled && lane.sequence == sequence);
        let entry = event.map(|event| &event.entry);
        DeliveryView {
            outgoing_id: entry.map(|entry| self.ids.event_id(sequence, entry.conversation)),
            sequence,
            event: entry.map(|entry| semantic_name(entry.resource, entry.kind)),
            correlation_id: entry.map(|entry| entry.correlation_id.clone()),
            company: entry.map(|entry| entry.company.clone()),
            status,
            delivered_at,
            next_attempt_at: next.map(|lane| lane.retry.next_at),
            attempts: delivery.attempts.into_iter().map(attempt_view).collect(),
            body: None,
        }
    }

    /// Whether an event is ahead of the cursor, in a lane, or behind another event of its record in one.
    pub(super) fn is_pending(&self, sequence: u64, event: Option<&LogEvent>) -> bool {
        self.is_ahead(sequence) || self.lane(sequence, event).is_some()
    }

    fn is_ahead(&self, sequence: u64) -> bool {
        self.webhook.cursor.is_some_and(|cursor| sequence > cursor)
    }

    /// The lane that an event is next in, or waits in behind another event of its record.
    fn lane(&self, sequence: u64, event: Option<&LogEvent>) -> Option<&Lane> {
        self.lanes.iter().find(|lane| match event {
            Some(event) => lane.record_key == event.record_key && lane.sequence <= sequence,
            None => lane.sequence == sequence,
        })
    }

    /// The body of the notification, the same bytes as on every attempt.
    pub(super) fn body(&self, event: &LogEvent) -> String {
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

pub(super) fn attempt_view(attempt: AttemptRecord) -> AttemptView {
    AttemptView {
        occasion: match attempt.purpose {
            AttemptPurpose::Event { .. } => AttemptOccasion::Event,
            AttemptPurpose::Handshake { .. } => AttemptOccasion::Handshake,
            AttemptPurpose::Replay { .. } => AttemptOccasion::Replay,
            AttemptPurpose::Test => AttemptOccasion::Test,
        },
        at: attempt.at,
        number: attempt.number,
        status: attempt.status,
        succeeded: attempt.succeeded,
        reason: attempt.reason,
        excerpt: attempt.excerpt,
        milliseconds: milliseconds(attempt.timing),
    }
}

fn milliseconds(timing: AttemptTiming) -> AttemptMilliseconds {
    let whole = |span: Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
    AttemptMilliseconds {
        resolve: whole(timing.resolve),
        connect: whole(timing.connect),
        tls: whole(timing.tls),
        wait: whole(timing.wait),
        total: whole(timing.total),
    }
}

pub(super) fn replay_view(webhook: &Webhook, replay: &Replay) -> ReplayView {
    let is_test = replay.kind == ReplayKind::Test;
    ReplayView {
        webhook: webhook.id,
        number: replay.number,
        is_test,
        requested_at: replay.requested_at,
        after: replay.after,
        through: if is_test { 0 } else { replay.through },
        position: replay.position,
        delivered: replay.delivered,
        failed: replay.failed,
        is_done: replay.is_done,
    }
}
