//! The history of a webhook as plain values: deliveries, attempts, health and replays, as the owner's API, the operator's
//! API, the portal and the console show them.

mod figures;

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::digits::parse_digits;
use crate::event::EventKind;
use crate::ids::Guid;
use crate::suspension::Suspension;
use crate::time::Ticks;
use crate::webhook::WebhookId;
use crate::webhook_status::WebhookStatus;

pub use figures::{FigureSpan, WebhookFigure, WebhookFigures};

pub const DELIVERIES_PER_PAGE_DEFAULT: usize = 25;
pub const DELIVERIES_PER_PAGE_MAX: usize = 100;

/// The status of a delivery. A waiting one will be sent; a failed one is not retried any more. Nothing is known of an
/// unknown one: it was not sent because the webhook was disabled then, or its history has expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeliveryStatus {
    Delivered,
    Waiting,
    Failed,
    Unknown,
}

impl DeliveryStatus {
    pub const ALL: [Self; 4] = [Self::Delivered, Self::Waiting, Self::Failed, Self::Unknown];

    /// Those that a list can be filtered by: a list has no unknown deliveries.
    pub const LISTED: [Self; 3] = [Self::Delivered, Self::Waiting, Self::Failed];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Waiting => "waiting",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }

    /// One of `LISTED`, by its name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::LISTED.into_iter().find(|status| status.as_str() == text)
    }
}

impl Serialize for DeliveryStatus {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// What an attempt sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AttemptOccasion {
    Event,
    Handshake,
    Replay,
    Test,
}

impl AttemptOccasion {
    pub const ALL: [Self; 4] = [Self::Event, Self::Handshake, Self::Replay, Self::Test];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Handshake => "handshake",
            Self::Replay => "replay",
            Self::Test => "test",
        }
    }
}

impl Serialize for AttemptOccasion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// One attempt to reach the receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptView {
    pub occasion: AttemptOccasion,
    pub at: Ticks,
    /// Counted from 1.
    pub number: u32,
    /// The status of the receiver's response; None where there was none.
    pub status: Option<u16>,
    pub succeeded: bool,
    /// Why it failed; empty where it succeeded.
    pub reason: String,
    /// The beginning of the response's body.
    pub excerpt: String,
    pub milliseconds: AttemptMilliseconds,
}

/// Where the time of an attempt went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AttemptMilliseconds {
    pub resolve: u64,
    pub connect: u64,
    pub tls: u64,
    pub wait: u64,
    pub total: u64,
}

/// The delivery of one event. What the log no longer has is None.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryView {
    /// The `OutgoingId` of the notification, the same on every attempt.
    pub outgoing_id: Option<Guid>,
    pub sequence: u64,
    /// The semantic name of the event.
    pub event: Option<String>,
    pub correlation_id: Option<Box<str>>,
    /// Empty where the record belongs to the tenant.
    pub company: Option<Box<str>>,
    pub status: DeliveryStatus,
    pub delivered_at: Option<Ticks>,
    pub next_attempt_at: Option<Ticks>,
    /// Failed ones and replays, oldest first.
    pub attempts: Vec<AttemptView>,
    /// The body of the notification, byte for byte; not in lists.
    pub body: Option<String>,
}

/// Which deliveries a page shows. All conditions must hold.
#[derive(Clone, Debug)]
pub struct DeliveryPageQuery {
    pub status: Option<DeliveryStatus>,
    /// Only events of this kind that the log still has.
    pub kind: Option<EventKind>,
    /// Only events of the records with this correlation id that the log still has.
    pub record: Option<Box<str>>,
    /// Only deliveries with an attempt or a success at or after this time.
    pub since: Option<Ticks>,
    /// Only deliveries whose newest attempt or success was before this time.
    pub until: Option<Ticks>,
    /// The `next` of the page before.
    pub before: Option<DeliveryCursor>,
    /// From 1 to `DELIVERIES_PER_PAGE_MAX`.
    pub page_size: usize,
}

impl Default for DeliveryPageQuery {
    fn default() -> Self {
        Self {
            status: None,
            kind: None,
            record: None,
            since: None,
            until: None,
            before: None,
            page_size: DELIVERIES_PER_PAGE_DEFAULT,
        }
    }
}

impl DeliveryPageQuery {
    /// Whether most of what is read may be left out.
    pub fn is_selective(&self) -> bool {
        self.status.is_some() || self.kind.is_some() || self.record.is_some()
    }

    /// Where the page begins: only older attempts and successes are read.
    pub fn start(&self) -> Option<DeliveryCursor> {
        let until = self.until.map(|at| DeliveryCursor { at, sequence: 0 });
        self.before.into_iter().chain(until).min()
    }
}

/// Deliveries, newest first. A page may be shorter than its size and still have a next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryPage {
    pub deliveries: Vec<DeliveryView>,
    pub next: Option<DeliveryCursor>,
}

/// A position in the history of a webhook, written as `<ticks>-<sequence>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeliveryCursor {
    pub at: Ticks,
    pub sequence: u64,
}

impl fmt::Display for DeliveryCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.at.0, self.sequence)
    }
}

impl FromStr for DeliveryCursor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parse = || {
            let (ticks, sequence) = text.split_once('-')?;
            let at = Ticks(ticks.parse().ok().filter(|ticks| *ticks >= 0)?);
            let cursor = Self { at, sequence: sequence.parse().ok()? };
            (cursor.to_string() == text).then_some(cursor)
        };
        parse().ok_or_else(|| format!("{text:?} is not the next of an earlier page"))
    }
}

/// How a delivery is named: by the `OutgoingId` of its notification, or by its event's number in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryName {
    Outgoing(Guid),
    Sequence(u64),
}

impl DeliveryName {
    pub fn parse(text: &str) -> Option<Self> {
        Guid::parse(text).map(Self::Outgoing).or_else(|| parse_digits(text).map(Self::Sequence))
    }
}

/// How well the deliveries of a webhook go.
#[derive(Clone, Debug, PartialEq)]
pub struct WebhookHealth {
    pub status: WebhookStatus,
    /// Why nothing is sent, where the status is suspended.
    pub suspension: Option<SuspensionView>,
    /// The counts and the percentile are of what happened since then.
    pub since: Ticks,
    pub delivered: u64,
    /// Failed attempts to deliver an event in its turn.
    pub failed_attempts: u64,
    /// The share of all attempts that succeeded, to four digits; None where there were none.
    pub success_rate: Option<f64>,
    pub p95_milliseconds: Option<u32>,
    pub last_delivered_at: Option<Ticks>,
    pub failing_since: Option<Ticks>,
    pub next_attempt_at: Option<Ticks>,
    /// Events that wait, counted up to 10,000.
    pub events_behind: u64,
    /// Records whose next event failed; their later events wait behind it.
    pub lanes: u64,
    pub handshake: HandshakeView,
    pub lost: Option<LostEvents>,
    /// Why the receiver's host may not be the subscriber's.
    pub host_mismatch: Option<String>,
    /// What needs attention, as sentences.
    pub warnings: Vec<String>,
    pub recent_attempts: Vec<AttemptView>,
    /// Newest first.
    pub replays: Vec<ReplayView>,
}

impl WebhookHealth {
    /// Without what tells of events and answers: for somebody who may not see a webhook's content now.
    #[must_use]
    pub fn without_content(self) -> Self {
        Self { lost: None, recent_attempts: Vec::new(), replays: Vec::new(), ..self }
    }
}

/// Why a webhook is suspended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuspensionView {
    pub reason: Suspension,
    /// None where the delivery engine has not noticed it yet.
    pub since: Option<Ticks>,
}

/// The Acknowledge or the echo that the receiver has to accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandshakeView {
    /// Counts up with each new address.
    pub number: u32,
    pub requested_at: Ticks,
    pub is_accepted: bool,
    pub failed_attempts: u32,
}

/// Events after one number, up to and including another, that will never be delivered: the log no longer has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostEvents {
    pub at: Ticks,
    pub after: u64,
    pub through: u64,
}

/// What is sent once more, outside the order of the deliveries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayRequest {
    Delivery(DeliveryName),
    /// All events of a span of time, both ends included; without `to`, up to the end of the log.
    Span {
        from: Ticks,
        to: Option<Ticks>,
    },
    /// One generated event, of the first kind that the webhook subscribes to.
    TestEvent,
    /// One generated event of this kind.
    TestEventOf(EventKind),
}

/// A replay and its progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayView {
    pub webhook: WebhookId,
    /// Counts up with each replay of the webhook.
    pub number: i64,
    /// One generated event, instead of events of the log.
    pub is_test: bool,
    pub requested_at: Ticks,
    /// Events after this number,
    pub after: u64,
    /// up to and including this one.
    pub through: u64,
    /// Everything up to here is done.
    pub position: u64,
    pub delivered: u64,
    pub failed: u64,
    pub is_done: bool,
}

impl ReplayView {
    pub fn kind(&self) -> &'static str {
        if self.is_test { "test" } else { "events" }
    }
}

/// Why the history could not be read, or a replay not be started. `E` is the store's error.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError<E> {
    #[error("there is no such webhook")]
    NoWebhook,
    #[error("there is no such delivery")]
    NoDelivery,
    #[error("the log no longer has this event, so it cannot be sent again")]
    EventPruned,
    #[error("from must not be later than to")]
    SpanReversed,
    #[error("no event of this webhook between from and to is still in the log")]
    NothingToReplay,
    #[error("the webhook does not subscribe to this event")]
    NotSubscribed,
    #[error("all events between from and to are older than the webhook's contract")]
    NotEntitled,
    #[error("the webhook is {}; events are sent only to an active one", .0.as_str())]
    Inactive(WebhookStatus),
    #[error("the webhook is suspended: {}", .0.cause())]
    Suspended(Suspension),
    #[error("{0} replays of this webhook are running; wait until one has finished")]
    TooManyReplays(usize),
    #[error(transparent)]
    Store(E),
}

impl<E> From<E> for HistoryError<E> {
    fn from(error: E) -> Self {
        Self::Store(error)
    }
}

#[cfg(test)]
mod tests;
