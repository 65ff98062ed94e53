//! The delivery history, health and replays of a webhook.

use std::collections::VecDeque;

use domain::{Guid, Secret, Ticks};
use futures_util::{StreamExt as _, stream};
use http::Method;
use http::header::{HeaderValue, LINK};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Error;
use crate::api::number;
use crate::api::{Api, BoxStream};
use crate::api::{Call, none_if_not_found};
use crate::http_client::parse_body;
use crate::url::encode_query;

/// The status of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeliveryStatus {
    /// The receiver accepted it.
    Delivered,
    /// The service will try again.
    Waiting,
    /// The service gave up.
    Failed,
}

impl DeliveryStatus {
    fn as_str(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Waiting => "waiting",
            Self::Failed => "failed",
        }
    }
}

/// The delivery of one event. Fields are `None` if the log of the service no longer has them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Delivery {
    /// The id of the delivery: `OutgoingId`, and the header `webhook-id`.
    pub outgoing_id: Option<Guid>,
    /// The log position of the event.
    #[serde(with = "number")]
    pub sequence_version: u64,
    /// The semantic name of the event.
    pub event: Option<String>,
    /// The id of the record that changed.
    pub correlation_id: Option<String>,
    /// The company that owns the record.
    pub company: Option<String>,
    /// The status of the delivery.
    pub status: DeliveryStatus,
    /// Failed attempts and replays, oldest first.
    pub attempts: Vec<Attempt>,
    /// When the receiver accepted it: ISO 8601, UTC.
    pub delivered_at: Option<String>,
    /// When the service tries again: ISO 8601, UTC.
    pub next_attempt_at: Option<String>,
    /// The exact body; only from [`History::delivery`].
    #[serde(default)]
    pub body: Option<String>,
}

/// One delivery attempt.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Attempt {
    /// The purpose: `event`, `handshake`, `replay` or `test`.
    pub occasion: String,
    /// When the attempt was made: ISO 8601, UTC.
    pub at: String,
    /// The number of the attempt, from 1.
    pub number: u32,
    /// The HTTP status of the response; `None` without a response.
    pub status: Option<u16>,
    /// Whether the receiver accepted it.
    pub succeeded: bool,
    /// Why it failed, for people.
    pub reason: String,
    /// The beginning of the response body.
    pub excerpt: String,
    /// How long each phase took.
    pub milliseconds: AttemptTimes,
}

/// The duration of each phase of an attempt, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct AttemptTimes {
    /// Resolving the host name.
    pub resolve: u64,
    /// Opening the TCP connection.
    pub connect: u64,
    /// The TLS handshake.
    pub tls: u64,
    /// Waiting for the response.
    pub wait: u64,
    /// The whole attempt.
    pub total: u64,
}

/// A replay of deliveries, and its progress.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Replay {
    /// The webhook.
    pub webhook_id: Guid,
    /// The number of the replay, unique within the webhook.
    pub number: i64,
    /// What is sent: `events` or `test`.
    pub kind: String,
    /// When the replay was requested: ISO 8601, UTC.
    pub asked_at: String,
    /// The events after this log position are sent again,
    #[serde(with = "number")]
    pub after: u64,
    /// up to and including this log position.
    #[serde(with = "number")]
    pub upto: u64,
    /// How many events the receiver accepted so far.
    pub delivered: u64,
    /// How many events failed so far.
    pub failed: u64,
    /// Whether the replay has finished.
    pub is_done: bool,
}

/// The health of a webhook.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WebhookHealth {
    /// The webhook.
    pub webhook_id: Guid,
    /// Whether the service delivers to it.
    pub is_active: bool,
    /// The start of the period that the numbers cover: ISO 8601, UTC.
    pub since: String,
    /// Successful deliveries in the period.
    pub delivered: u64,
    /// Failed attempts in the period.
    pub failed_attempts: u64,
    /// The share of successful attempts, from 0 to 1; `None` without attempts.
    pub success_rate: Option<f64>,
    /// The 95th percentile of the time that deliveries took.
    pub p95_milliseconds: Option<u32>,
    /// The last successful delivery: ISO 8601, UTC.
    pub last_delivered_at: Option<String>,
    /// When the current failures began: ISO 8601, UTC.
    pub failing_since: Option<String>,
    /// When the service tries again: ISO 8601, UTC.
    pub next_attempt_at: Option<String>,
    /// Events in the log that are not delivered yet.
    pub events_behind: u64,
    /// Records whose deliveries wait for a retry.
    pub records_waiting: u64,
    /// The current handshake.
    pub handshake: Handshake,
    /// Why nothing is sent now; `None`: the webhook is not suspended.
    #[serde(default)]
    pub suspension: Option<Suspension>,
    /// Events that will never be delivered: read the list again.
    pub lost: Option<EventGap>,
    /// Why the receiver's host may not belong to the subscriber.
    pub doubt: Option<String>,
    /// Problems that need attention, for people.
    pub warnings: Vec<String>,
    /// The latest attempts.
    pub recent_attempts: Vec<Attempt>,
    /// The latest replays.
    pub replays: Vec<Replay>,
}

/// Why the service sends nothing to a webhook: no user's authorization entitles the application to its events.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Suspension {
    /// For programs, for example `access_withdrawn`.
    pub reason: String,
    /// Since when: ISO 8601, UTC.
    pub since: Option<String>,
    /// For people: what has happened, and what ends it.
    pub explanation: String,
}

/// The handshake that the receiver must accept: the Acknowledge, or the echo of invoicing.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Handshake {
    /// The number of the handshake, from 1.
    pub number: u32,
    /// When the handshake began: ISO 8601, UTC.
    pub asked_at: String,
    /// Whether the receiver accepted it.
    pub is_accepted: bool,
    /// Failed attempts of this handshake.
    pub failed_attempts: u32,
}

/// A range of lost events.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct EventGap {
    /// When the gap was detected: ISO 8601, UTC.
    pub at: String,
    /// The events after this log position are lost,
    #[serde(with = "number")]
    pub after: u64,
    /// up to and including this log position.
    #[serde(with = "number")]
    pub upto: u64,
}

/// The result of replacing a secret.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RotatedSecret {
    /// The webhook.
    pub webhook_id: Guid,
    /// Until when the old secret signs, too: ISO 8601, UTC.
    pub old_secret_until: Option<String>,
}

impl RotatedSecret {
    pub(super) async fn request(
        api: &Api,
        call: Call,
        new: &Secret,
        overlap_hours: u32,
    ) -> Result<Self, Error> {
        let body = json!({ "secret": new.reveal(), "overlapHours": overlap_hours });
        api.typed(Call { body: Some(body), ..call }).await
    }
}

/// The delivery history of one webhook.
#[derive(Clone, Debug)]
pub struct History {
    api: Api,
    path: String,
    context: Option<HeaderValue>,
}

impl History {
    pub(super) fn new(api: Api, path: String, context: Option<HeaderValue>) -> Self {
        Self { api, path, context }
    }

    fn call(&self, method: Method, suffix: &str) -> Call {
        let call = Call::new(method, format!("{}{suffix}", self.path));
        Call { context: self.context.clone(), ..call }
    }

    /// The deliveries, newest first.
    pub fn deliveries(&self) -> Deliveries {
        Deliveries { history: self.clone(), status: None, since: None }
    }

    /// One delivery with its body; `None` if it does not belong to this webhook.
    pub async fn delivery(&self, outgoing_id: Guid) -> Result<Option<Delivery>, Error> {
        none_if_not_found(self.api.typed(self.call(Method::GET, &format!("/deliveries/{outgoing_id}"))).await)
    }

    /// Sends one delivery again, with the same id and body.
    pub async fn replay_one(&self, outgoing_id: Guid) -> Result<Replay, Error> {
        self.api.typed(self.call(Method::POST, &format!("/deliveries/{outgoing_id}/replay"))).await
    }

    /// Sends all events between two times again; without `to`, up to now.
    pub async fn replay(&self, from: Ticks, to: Option<Ticks>) -> Result<Replay, Error> {
        let mut body = json!({ "from": from.iso() });
        if let Some(to) = to {
            body["to"] = Value::from(to.iso());
        }
        self.api.typed(Call { body: Some(body), ..self.call(Method::POST, "/replay") }).await
    }

    /// Sends a test event.
    pub async fn test(&self) -> Result<Replay, Error> {
        self.api.typed(self.call(Method::POST, "/test")).await
    }

    /// The health of the webhook over the last 24 hours.
    pub async fn health(&self) -> Result<WebhookHealth, Error> {
        self.api.typed(self.call(Method::GET, "/health")).await
    }
}

/// The deliveries of a webhook, newest first.
#[derive(Clone, Debug)]
pub struct Deliveries {
    history: History,
    status: Option<DeliveryStatus>,
    since: Option<Ticks>,
}

impl Deliveries {
    /// Only deliveries with this status.
    pub fn status(mut self, status: DeliveryStatus) -> Self {
        self.status = Some(status);
        self
    }

    /// Only deliveries of events at or after this time.
    pub fn since(mut self, time: Ticks) -> Self {
        self.since = Some(time);
        self
    }

    /// All deliveries as a stream; pages are read as needed.
    pub fn stream(self) -> BoxStream<Delivery> {
        let first = Some(self.initial_query());
        stream::try_unfold((self, first, VecDeque::new()), |(deliveries, mut next, mut read)| async move {
            loop {
                if let Some(delivery) = read.pop_front() {
                    return Ok(Some((delivery, (deliveries, next, read))));
                }
                let Some(query) = next else { return Ok(None) };
                (read, next) = deliveries.page(&query).await?;
            }
        })
        .boxed()
    }

    fn initial_query(&self) -> String {
        let since = self.since.map(Ticks::iso);
        let mut pairs = vec![("pageSize", "100")];
        pairs.extend(self.status.map(|status| ("status", status.as_str())));
        pairs.extend(since.as_deref().map(|since| ("since", since)));
        encode_query(pairs)
    }

    async fn page(&self, query: &str) -> Result<(VecDeque<Delivery>, Option<String>), Error> {
        let call = self.history.call(Method::GET, &format!("/deliveries?{query}"));
        let response = self.history.api.send(call).await?;
        let link = response.headers().get(LINK).and_then(|link| link.to_str().ok());
        // Use only the query of the link, so that it cannot send the credentials to another host.
        let next = link.filter(|link| link.contains("rel=\"next\"")).and_then(|link| {
            let address = link.trim_start_matches('<').split('>').next()?;
            Some(address.split_once('?')?.1.to_owned())
        });
        let read: VecDeque<Delivery> = parse_body("GET deliveries", &response)?;
        Ok((read, next))
    }
}
