//! Deliveries, health and replays as JSON for the operator.

use domain::delivery::{
    AttemptMilliseconds, AttemptOccasion, AttemptView, DeliveryPage, DeliveryStatus, DeliveryView,
    HandshakeView, LostEvents, ReplayView, SuspensionView, WebhookHealth,
};
use domain::{Suspension, Ticks};
use serde::Serialize;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::webhook_json::names_schema;

/// Deliveries, newest first.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = DeliveryPage)]
pub struct DeliveryPageJson {
    pub deliveries: Vec<DeliveryJson>,
    /// Send it as `before` to get older deliveries; null at the end. A page may be shorter than its size and have a next.
    #[schema(required = true)]
    pub next: Option<String>,
}

impl From<DeliveryPage> for DeliveryPageJson {
    fn from(page: DeliveryPage) -> Self {
        Self {
            deliveries: page.deliveries.into_iter().map(DeliveryJson::from).collect(),
            next: page.next.map(|next| next.to_string()),
        }
    }
}

/// The delivery of one event. What the log no longer has is null.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Delivery)]
pub struct DeliveryJson {
    /// The `OutgoingId` of the notification, the same on every attempt.
    #[schema(required = true, format = "uuid", examples("5f0a7c1d-90b2-8c3e-a1f4-2d6b8e7c9a10"))]
    pub outgoing_id: Option<String>,
    /// The number of the change in the log.
    #[schema(examples("1018"))]
    pub sequence_version: String,
    /// The semantic name of the event.
    #[schema(required = true, examples("Svc.ACC.Customers.CustomerCreated"))]
    pub event: Option<String>,
    /// The record that changed.
    #[schema(required = true)]
    pub correlation_id: Option<String>,
    /// The company that the record belongs to; empty where it belongs to the tenant.
    #[schema(required = true)]
    pub company: Option<String>,
    #[schema(value_type = DeliveryStatusSchema)]
    pub status: DeliveryStatus,
    #[schema(required = true, format = DateTime)]
    pub delivered_at: Option<String>,
    #[schema(required = true, format = DateTime)]
    pub next_attempt_at: Option<String>,
    /// Failed attempts and replays, oldest first.
    pub attempts: Vec<AttemptJson>,
    /// The body of the notification, byte for byte. Not in lists.
    #[schema(required = false, nullable = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

impl From<DeliveryView> for DeliveryJson {
    fn from(view: DeliveryView) -> Self {
        Self {
            outgoing_id: view.outgoing_id.map(|id| id.to_string()),
            sequence_version: view.sequence.to_string(),
            event: view.event,
            correlation_id: view.correlation_id.map(String::from),
            company: view.company.map(String::from),
            status: view.status,
            delivered_at: view.delivered_at.map(Ticks::iso),
            next_attempt_at: view.next_attempt_at.map(Ticks::iso),
            attempts: view.attempts.into_iter().map(AttemptJson::from).collect(),
            body: view.body,
        }
    }
}

/// The status of a delivery, for the document.
struct DeliveryStatusSchema;

impl PartialSchema for DeliveryStatusSchema {
    fn schema() -> RefOr<Schema> {
        let description = "The status of a delivery. A waiting one will be sent; a failed one is not retried any more. \
                           Nothing is known of an unknown one: it was not sent because the webhook was disabled then, or \
                           its history has expired.";
        names_schema(Some(description), DeliveryStatus::ALL.map(DeliveryStatus::as_str))
    }
}

impl ToSchema for DeliveryStatusSchema {
    fn name() -> std::borrow::Cow<'static, str> {
        "DeliveryStatus".into()
    }
}

/// What an attempt sent, for the document.
struct AttemptOccasionSchema;

impl PartialSchema for AttemptOccasionSchema {
    fn schema() -> RefOr<Schema> {
        names_schema(Some("What an attempt sent."), AttemptOccasion::ALL.map(AttemptOccasion::as_str))
    }
}

impl ToSchema for AttemptOccasionSchema {
    fn name() -> std::borrow::Cow<'static, str> {
        "AttemptOccasion".into()
    }
}

/// One attempt to reach the receiver.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Attempt)]
pub struct AttemptJson {
    #[schema(value_type = AttemptOccasionSchema)]
    pub occasion: AttemptOccasion,
    #[schema(format = DateTime)]
    pub at: String,
    /// Counted from 1.
    #[schema(examples(1))]
    pub number: u32,
    /// The status of the receiver's response; null where there was none.
    #[schema(required = true, examples(500))]
    pub status: Option<u16>,
    pub succeeded: bool,
    /// Why it failed; empty where it succeeded.
    #[schema(examples("the response status was 500; expected a 2xx status"))]
    pub reason: String,
    /// The beginning of the response's body.
    pub excerpt: String,
    pub milliseconds: AttemptTimesJson,
}

impl From<AttemptView> for AttemptJson {
    fn from(view: AttemptView) -> Self {
        Self {
            occasion: view.occasion,
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
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = AttemptTimes)]
pub struct AttemptTimesJson {
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

impl From<AttemptMilliseconds> for AttemptTimesJson {
    fn from(timing: AttemptMilliseconds) -> Self {
        let AttemptMilliseconds { resolve, connect, tls, wait, total } = timing;
        Self { resolve, connect, tls, wait, total }
    }
}

/// How well the deliveries of a webhook go.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookHealth)]
pub struct HealthJson {
    /// The counts below are of what happened since then, 24 hours ago.
    #[schema(format = DateTime)]
    pub since: String,
    #[schema(examples(120))]
    pub delivered: u64,
    /// Failed attempts to deliver an event.
    #[schema(examples(2))]
    pub failed_attempts: u64,
    /// The share of all attempts that succeeded; null where there were none.
    #[schema(required = true, minimum = 0, maximum = 1, examples(0.9836))]
    pub success_rate: Option<f64>,
    /// 95 of 100 deliveries took at most this long.
    #[schema(required = true, examples(85))]
    pub p95_milliseconds: Option<u32>,
    #[schema(required = true, format = DateTime)]
    pub last_delivered_at: Option<String>,
    /// The first failure of what has not succeeded since.
    #[schema(required = true, format = DateTime)]
    pub failing_since: Option<String>,
    #[schema(required = true, format = DateTime)]
    pub next_attempt_at: Option<String>,
    /// Events that wait, counted up to 10,000.
    #[schema(examples(0))]
    pub events_behind: u64,
    /// Records whose next event failed; their later events wait behind it.
    #[schema(examples(0))]
    pub lanes: u64,
    pub handshake: HandshakeJson,
    /// Why nothing is sent; null: the webhook is not suspended.
    #[schema(required = true)]
    pub suspension: Option<SuspensionJson>,
    /// Events that will never be delivered, because the log no longer has them.
    #[schema(required = true)]
    pub lost: Option<LostEventsJson>,
    /// The newest attempts that are recorded one by one: failures, handshakes, tests, replays.
    pub recent_attempts: Vec<AttemptJson>,
}

impl From<WebhookHealth> for HealthJson {
    fn from(health: WebhookHealth) -> Self {
        Self {
            since: health.since.iso(),
            delivered: health.delivered,
            failed_attempts: health.failed_attempts,
            success_rate: health.success_rate,
            p95_milliseconds: health.p95_milliseconds,
            last_delivered_at: health.last_delivered_at.map(Ticks::iso),
            failing_since: health.failing_since.map(Ticks::iso),
            next_attempt_at: health.next_attempt_at.map(Ticks::iso),
            events_behind: health.events_behind,
            lanes: health.lanes,
            handshake: health.handshake.into(),
            suspension: health.suspension.map(SuspensionJson::from),
            lost: health.lost.map(LostEventsJson::from),
            recent_attempts: health.recent_attempts.into_iter().map(AttemptJson::from).collect(),
        }
    }
}

/// Why nothing is sent: the application's access does not stand. Deliveries resume with the first undelivered event.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookSuspension)]
pub struct SuspensionJson {
    #[schema(schema_with = suspension_reason_schema)]
    pub reason: &'static str,
    /// Null where the delivery engine has not noticed it yet.
    #[schema(required = true, format = DateTime)]
    pub since: Option<String>,
    /// What has happened, and what ends the suspension.
    pub explanation: String,
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

fn suspension_reason_schema() -> RefOr<Schema> {
    names_schema(None, Suspension::ALL.map(Suspension::as_str))
}

/// The Acknowledge or the echo that the receiver has to accept.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookHandshake)]
pub struct HandshakeJson {
    /// Counts up with each new address.
    #[schema(examples(1))]
    pub number: u32,
    #[schema(format = DateTime)]
    pub asked_at: String,
    pub is_accepted: bool,
    #[schema(examples(0))]
    pub failed_attempts: u32,
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

/// Events after one number, up to and including another.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = WebhookLost)]
pub struct LostEventsJson {
    #[schema(format = DateTime)]
    pub at: String,
    #[schema(examples("1017"))]
    pub after: String,
    #[schema(examples("2048"))]
    pub upto: String,
}

impl From<LostEvents> for LostEventsJson {
    fn from(lost: LostEvents) -> Self {
        Self { at: lost.at.iso(), after: lost.after.to_string(), upto: lost.through.to_string() }
    }
}

/// What is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = WebhookReplayKind)]
pub enum ReplayKindJson {
    Events,
    /// One generated event.
    Test,
}

/// A replay and its progress.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookReplay)]
pub struct ReplayJson {
    #[schema(format = "uuid", examples("0b9f6c1e-3c58-4d2f-9a51-6f6f2b1d7c40"))]
    pub webhook: String,
    /// Counts up with each replay of the webhook.
    #[schema(examples(1))]
    pub number: i64,
    pub kind: ReplayKindJson,
    #[schema(format = DateTime)]
    pub asked_at: String,
    /// Events after this number of the log,
    #[schema(examples("1017"))]
    pub after: String,
    /// up to and including this one.
    #[schema(examples("1018"))]
    pub upto: String,
    #[schema(examples(1))]
    pub delivered: u64,
    #[schema(examples(0))]
    pub failed: u64,
    pub is_done: bool,
}

impl From<&ReplayView> for ReplayJson {
    fn from(view: &ReplayView) -> Self {
        Self {
            webhook: view.webhook.to_string(),
            number: view.number,
            kind: if view.is_test { ReplayKindJson::Test } else { ReplayKindJson::Events },
            asked_at: view.requested_at.iso(),
            after: view.after.to_string(),
            upto: view.through.to_string(),
            delivered: view.delivered,
            failed: view.failed,
            is_done: view.is_done,
        }
    }
}

/// The newest replays, newest first.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = ReplayPage)]
pub struct ReplayPageJson {
    pub replays: Vec<ReplayJson>,
}
