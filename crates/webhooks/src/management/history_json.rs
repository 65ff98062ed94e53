//! Deliveries, health and replays as JSON for their owner.

use domain::delivery::{
    AttemptMilliseconds, AttemptView, DeliveryStatus, DeliveryView, HandshakeView, LostEvents, ReplayView,
    SuspensionView, WebhookHealth,
};
use domain::{Guid, Suspension, Ticks, WebhookId};
use serde::Serialize;
use utoipa::openapi::schema::Type;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// The delivery of one event. What the log no longer has is null.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookDelivery)]
pub(super) struct DeliveryJson {
    /// The `OutgoingId` of the notification, the same on every attempt.
    #[schema(value_type = Option<String>, format = "uuid")]
    outgoing_id: Option<Guid>,
    /// The number of the change in the log.
    sequence_version: String,
    /// The semantic name of the event.
    event: Option<String>,
    /// The record that changed.
    #[schema(value_type = Option<String>)]
    correlation_id: Option<Box<str>>,
    /// The company that the record belongs to; empty where it belongs to the tenant.
    #[schema(value_type = Option<String>)]
    company: Option<Box<str>>,
    #[schema(value_type = DeliveryStatusSchema)]
    status: DeliveryStatus,
    /// Failed attempts and replays, oldest first.
    attempts: Vec<AttemptJson>,
    #[schema(format = DateTime)]
    delivered_at: Option<String>,
    #[schema(format = DateTime)]
    next_attempt_at: Option<String>,
    /// The body of the notification, byte for byte; not in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
}

/// Owners know three statuses: an event that nothing is known of will not be sent, so it has failed.
fn owner_status(status: DeliveryStatus) -> DeliveryStatus {
    match status {
        DeliveryStatus::Unknown => DeliveryStatus::Failed,
        known => known,
    }
}

impl From<DeliveryView> for DeliveryJson {
    fn from(view: DeliveryView) -> Self {
        Self {
            outgoing_id: view.outgoing_id,
            sequence_version: view.sequence.to_string(),
            event: view.event,
            correlation_id: view.correlation_id,
            company: view.company,
            status: owner_status(view.status),
            attempts: view.attempts.into_iter().map(AttemptJson::from).collect(),
            delivered_at: view.delivered_at.map(Ticks::iso),
            next_attempt_at: view.next_attempt_at.map(Ticks::iso),
            body: view.body,
        }
    }
}

/// The status of a delivery, for the document.
pub(super) struct DeliveryStatusSchema;

impl PartialSchema for DeliveryStatusSchema {
    fn schema() -> RefOr<Schema> {
        let description = "The status of a delivery. A waiting one will be sent; a failed one is not retried, or was never \
                           sent because the webhook was disabled then.";
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some(description))
            .enum_values(Some(DeliveryStatus::LISTED.map(DeliveryStatus::as_str)))
            .into()
    }
}

impl ToSchema for DeliveryStatusSchema {
    fn name() -> std::borrow::Cow<'static, str> {
        "WebhookDeliveryStatus".into()
    }
}

/// One attempt to reach the receiver.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookAttempt)]
pub(super) struct AttemptJson {
    /// `event`, `handshake`, `replay` or `test`.
    #[schema(value_type = String)]
    occasion: &'static str,
    #[schema(format = DateTime)]
    at: String,
    /// Counted from 1.
    number: u32,
    /// The status of the receiver's response; null where there was none.
    status: Option<u16>,
    succeeded: bool,
    /// Why it failed; empty where it succeeded.
    reason: String,
    /// The beginning of the response's body.
    excerpt: String,
    milliseconds: AttemptTimesJson,
}

impl From<AttemptView> for AttemptJson {
    fn from(view: AttemptView) -> Self {
        Self {
            occasion: view.occasion.as_str(),
            at: view.at.iso(),
            number: view.number,
            status: view.status,
            succeeded: view.succeeded,
            reason: view.reason,
            excerpt: view.excerpt,
            milliseconds: view.milliseconds.into(),
        }
    }
}

/// Where the time of an attempt went.
#[derive(Serialize, ToSchema)]
#[schema(as = WebhookAttemptTimes)]
pub(super) struct AttemptTimesJson {
    resolve: u64,
    connect: u64,
    tls: u64,
    wait: u64,
    total: u64,
}

impl From<AttemptMilliseconds> for AttemptTimesJson {
    fn from(timing: AttemptMilliseconds) -> Self {
        let AttemptMilliseconds { resolve, connect, tls, wait, total } = timing;
        Self { resolve, connect, tls, wait, total }
    }
}

/// How well the deliveries of a webhook go.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookHealth)]
pub(super) struct HealthJson {
    #[schema(value_type = String, format = "uuid")]
    webhook_id: Guid,
    is_active: bool,
    /// The counts below are of what happened since then.
    #[schema(format = DateTime)]
    since: String,
    delivered: u64,
    failed_attempts: u64,
    /// The share of all attempts that succeeded; null where there were none.
    success_rate: Option<f64>,
    /// 95 of 100 deliveries took at most this long.
    p95_milliseconds: Option<u32>,
    #[schema(format = DateTime)]
    last_delivered_at: Option<String>,
    #[schema(format = DateTime)]
    failing_since: Option<String>,
    #[schema(format = DateTime)]
    next_attempt_at: Option<String>,
    /// Events that wait, counted up to 10,000.
    events_behind: u64,
    /// Records whose next event failed and is retried.
    records_waiting: u64,
    handshake: HandshakeJson,
    /// Why nothing is sent; null: the webhook is not suspended. `isActive` does not change.
    suspension: Option<SuspensionJson>,
    lost: Option<LostEventsJson>,
    /// Why the receiver's host may not be the subscriber's.
    doubt: Option<String>,
    /// What needs attention, as sentences.
    warnings: Vec<String>,
    recent_attempts: Vec<AttemptJson>,
    replays: Vec<ReplayJson>,
}

impl HealthJson {
    pub(super) fn new(webhook_id: WebhookId, is_active: bool, health: WebhookHealth) -> Self {
        Self {
            webhook_id,
            is_active,
            since: health.since.iso(),
            delivered: health.delivered,
            failed_attempts: health.failed_attempts,
            success_rate: health.success_rate,
            p95_milliseconds: health.p95_milliseconds,
            last_delivered_at: health.last_delivered_at.map(Ticks::iso),
            failing_since: health.failing_since.map(Ticks::iso),
            next_attempt_at: health.next_attempt_at.map(Ticks::iso),
            events_behind: health.events_behind,
            records_waiting: health.lanes,
            handshake: health.handshake.into(),
            suspension: health.suspension.map(SuspensionJson::from),
            lost: health.lost.map(LostEventsJson::from),
            doubt: health.host_mismatch,
            warnings: health.warnings,
            recent_attempts: health.recent_attempts.into_iter().map(AttemptJson::from).collect(),
            replays: health.replays.iter().map(ReplayJson::from).collect(),
        }
    }
}

/// Why nothing is sent: the application's access does not stand. Deliveries resume with the first undelivered event.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookSuspension)]
pub(super) struct SuspensionJson {
    #[schema(schema_with = suspension_reason_schema)]
    reason: &'static str,
    /// Null where the delivery engine has not noticed it yet.
    #[schema(format = DateTime)]
    since: Option<String>,
    /// What has happened, and what ends the suspension.
    explanation: String,
}

impl From<SuspensionView> for SuspensionJson {
    fn from(view: SuspensionView) -> Self {
        Self {
            reason: view.reason.as_str(),
            since: view.since.map(Ticks::iso),
            explanation: view.reason.explanation(),
        }
    }
}

fn suspension_reason_schema() -> utoipa::openapi::Object {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(Suspension::ALL.map(Suspension::as_str)))
        .build()
}

/// The Acknowledge or the echo that the receiver has to accept.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookHandshake)]
pub(super) struct HandshakeJson {
    number: u32,
    #[schema(format = DateTime)]
    asked_at: String,
    is_accepted: bool,
    failed_attempts: u32,
}

impl From<HandshakeView> for HandshakeJson {
    fn from(view: HandshakeView) -> Self {
        Self {
            number: view.number,
            asked_at: view.requested_at.iso(),
            is_accepted: view.is_accepted,
            failed_attempts: view.failed_attempts,
        }
    }
}

/// Events after one number, up to and including another, that will never be delivered.
#[derive(Serialize, ToSchema)]
#[schema(as = WebhookLost)]
pub(super) struct LostEventsJson {
    #[schema(format = DateTime)]
    at: String,
    after: String,
    upto: String,
}

impl From<LostEvents> for LostEventsJson {
    fn from(lost: LostEvents) -> Self {
        Self { at: lost.at.iso(), after: lost.after.to_string(), upto: lost.through.to_string() }
    }
}

/// A replay and its progress.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookReplay)]
pub(super) struct ReplayJson {
    #[schema(value_type = String, format = "uuid")]
    webhook_id: Guid,
    number: i64,
    /// `events` or `test`.
    #[schema(value_type = String)]
    kind: &'static str,
    #[schema(format = DateTime)]
    asked_at: String,
    /// Events after this number.
    after: String,
    /// Up to and including this one.
    upto: String,
    delivered: u64,
    failed: u64,
    is_done: bool,
}

impl From<&ReplayView> for ReplayJson {
    fn from(view: &ReplayView) -> Self {
        Self {
            webhook_id: view.webhook,
            number: view.number,
            kind: view.kind(),
            asked_at: view.requested_at.iso(),
            after: view.after.to_string(),
            upto: view.through.to_string(),
            delivered: view.delivered,
            failed: view.failed,
            is_done: view.is_done,
        }
    }
}
