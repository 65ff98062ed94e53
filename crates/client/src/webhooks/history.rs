//! What became of a webhook's deliveries, how it does, and asking for deliveries again.

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

/// How a delivery stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeliveryStatus {
    Delivered,
    /// It will be tried again.
    Waiting,
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

/// The delivery of one event. What the service's log no longer has is None.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Delivery {
    pub outgoing_id: Option<Guid>,
    #[serde(with = "number")]
    pub sequence_version: u64,
    pub event: Option<String>,
    pub correlation_id: Option<String>,
    pub company: Option<String>,
    pub status: DeliveryStatus,
    /// Those that failed, and replays; the oldest first.
    pub attempts: Vec<Attempt>,
    pub delivered_at: Option<String>,
    pub next_attempt_at: Option<String>,
    /// What is sent, to the letter; only of a single delivery.
    #[serde(default)]
    pub body: Option<String>,
}

/// One attempt to reach the receiver.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Attempt {
    /// `event`, `handshake`, `replay` or `test`.
    pub occasion: String,
    pub at: String,
    pub number: u32,
    /// What the receiver answered; None where no answer came.
    pub status: Option<u16>,
    pub succeeded: bool,
    /// Why not, in words.
    pub reason: String,
    /// The beginning of the answer.
    pub excerpt: String,
    pub milliseconds: AttemptTimes,
}

/// Where the time of an attempt went, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct AttemptTimes {
    pub resolve: u64,
    pub connect: u64,
    pub tls: u64,
    pub wait: u64,
    pub total: u64,
}

/// Deliveries that were asked for again, and how far that has come.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Replay {
    pub webhook_id: Guid,
    pub number: i64,
    /// `events` or `test`.
    pub kind: String,
    pub asked_at: String,
    #[serde(with = "number")]
    pub after: u64,
    #[serde(with = "number")]
    pub upto: u64,
    pub delivered: u64,
    pub failed: u64,
    pub is_done: bool,
}

/// How a webhook does.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WebhookHealth {
    pub webhook_id: Guid,
    pub is_active: bool,
    pub since: String,
    pub delivered: u64,
    pub failed_attempts: u64,
    pub success_rate: Option<f64>,
    pub p95_milliseconds: Option<u32>,
    pub last_delivered_at: Option<String>,
    pub failing_since: Option<String>,
    pub next_attempt_at: Option<String>,
    pub events_behind: u64,
    pub records_waiting: u64,
    pub handshake: Handshake,
    /// What will never be told: read the list anew.
    pub lost: Option<EventGap>,
    pub doubt: Option<String>,
    /// What to look after, in words.
    pub warnings: Vec<String>,
    pub recent_attempts: Vec<Attempt>,
    pub replays: Vec<Replay>,
}

/// The Acknowledge or the echo that the receiver has to accept.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Handshake {
    pub number: u32,
    pub asked_at: String,
    pub is_accepted: bool,
    pub failed_attempts: u32,
}

/// Events behind one number, up to and with the other.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct EventGap {
    pub at: String,
    #[serde(with = "number")]
    pub after: u64,
    #[serde(with = "number")]
    pub upto: u64,
}

/// A secret that was replaced.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RotatedSecret {
    pub webhook_id: Guid,
    /// Until then the old secret signs, too.
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

/// What one webhook has done.
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

    /// The newest first.
    pub fn deliveries(&self) -> Deliveries {
        Deliveries { history: self.clone(), status: None, since: None }
    }

    /// One, with its body; None where it is not this webhook's.
    pub async fn delivery(&self, outgoing_id: Guid) -> Result<Option<Delivery>, Error> {
        none_if_not_found(self.api.typed(self.call(Method::GET, &format!("/deliveries/{outgoing_id}"))).await)
    }

    /// Sends one again: the same id, the same bytes.
    pub async fn replay_one(&self, outgoing_id: Guid) -> Result<Replay, Error> {
        self.api.typed(self.call(Method::POST, &format!("/deliveries/{outgoing_id}/replay"))).await
    }

    /// Sends everything again that happened between two moments; without an end, up to now.
    pub async fn replay(&self, from: Ticks, to: Option<Ticks>) -> Result<Replay, Error> {
        let mut body = json!({ "from": from.iso() });
        if let Some(to) = to {
            body["to"] = Value::from(to.iso());
        }
        self.api.typed(Call { body: Some(body), ..self.call(Method::POST, "/replay") }).await
    }

    /// Sends one made-up event.
    pub async fn test(&self) -> Result<Replay, Error> {
        self.api.typed(self.call(Method::POST, "/test")).await
    }

    /// How it does, over the last 24 hours.
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
    /// Only those that stand like this.
    pub fn status(mut self, status: DeliveryStatus) -> Self {
        self.status = Some(status);
        self
    }

    pub fn since(mut self, time: Ticks) -> Self {
        self.since = Some(time);
        self
    }

    /// All of them; pages are read as they are needed.
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
        // Only the query is taken over: whatever host the link names, it is this service that is asked.
        let next = link.filter(|link| link.contains("rel=\"next\"")).and_then(|link| {
            let address = link.trim_start_matches('<').split('>').next()?;
            Some(address.split_once('?')?.1.to_owned())
        });
        let read: VecDeque<Delivery> = parse_body("GET deliveries", &response)?;
        Ok((read, next))
    }
}
