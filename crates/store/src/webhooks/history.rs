//! Delivery history. Failed attempts have one row each; successful deliveries are packed, one row per
//! checkpoint, and a crash may lose the last ones.

use std::collections::HashMap;
use std::time::Duration;

use async_trait::async_trait;
use domain::{Resource, TenantId, Ticks, WebhookId};

use super::{Lane, LogEvent};
use crate::plan::signed;
use crate::{AuditContext, Result};

/// What an attempt was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptPurpose {
    Event {
        sequence: u64,
    },
    Handshake {
        number: u32,
    },
    /// An event sent again at the owner's or the operator's request.
    Replay {
        sequence: u64,
    },
    Test,
}

impl AttemptPurpose {
    /// The event's sequence; 0 for handshakes and tests.
    pub fn sequence(self) -> u64 {
        self.event().unwrap_or_default()
    }

    /// The event that it was about; None for a handshake or a test.
    pub(crate) fn event(self) -> Option<u64> {
        match self {
            Self::Event { sequence } | Self::Replay { sequence } => Some(sequence),
            Self::Handshake { .. } | Self::Test => None,
        }
    }
}

/// The phases of an attempt's duration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AttemptTiming {
    pub resolve: Duration,
    pub connect: Duration,
    pub tls: Duration,
    pub wait: Duration,
    pub total: Duration,
}

/// A failed attempt, or a successful handshake, test or replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptRecord {
    pub at: Ticks,
    pub purpose: AttemptPurpose,
    /// The number of the attempt for its purpose, from 1.
    pub number: u32,
    /// None if there was no response.
    pub status: Option<u16>,
    pub succeeded: bool,
    /// The outcome in words.
    pub reason: String,
    /// The beginning of the response body.
    pub excerpt: String,
    pub timing: AttemptTiming,
}

impl AttemptRecord {
    /// The position in the history, for `DeliveryQuery::before`.
    pub fn cursor(&self) -> (Ticks, u64) {
        (self.at, self.purpose.sequence())
    }
}

/// A delivery that succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuccessfulDelivery {
    pub sequence: u64,
    pub at: Ticks,
    pub status: u16,
    pub duration_ms: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayKind {
    /// Events after `after`, through `through` (inclusive).
    Events,
    /// One test event.
    Test,
}

/// Deliveries requested again; they ignore the order of events and do not count as failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replay {
    pub number: i64,
    pub kind: ReplayKind,
    pub requested_at: Ticks,
    pub after: u64,
    /// Of a test event: the code of its kind, or 0 for the first kind that the webhook subscribes to.
    pub through: u64,
    /// Everything up to here is done.
    pub position: u64,
    pub delivered: u64,
    pub failed: u64,
    pub is_done: bool,
}

impl Replay {
    pub(crate) fn new(number: i64, kind: ReplayKind, requested_at: Ticks, after: u64, through: u64) -> Self {
        let (position, delivered, failed) = (after, 0, 0);
        Self { number, kind, requested_at, after, through, position, delivered, failed, is_done: false }
    }
}

/// The progress of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayStep {
    pub number: i64,
    pub position: u64,
    pub delivered: u64,
    pub failed: u64,
    pub is_done: bool,
}

/// The history of one event's delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryHistory {
    pub sequence: u64,
    pub delivered: Option<SuccessfulDelivery>,
    /// Newest last.
    pub attempts: Vec<AttemptRecord>,
}

impl DeliveryHistory {
    /// Sorts what was read of many deliveries out by event: one for each sequence, in their order. Of an event that was
    /// delivered more than once the last success counts.
    pub(crate) fn group(
        sequences: &[u64],
        successes: impl IntoIterator<Item = SuccessfulDelivery>,
        attempts: impl IntoIterator<Item = AttemptRecord>,
    ) -> Vec<Self> {
        let mut last: HashMap<u64, SuccessfulDelivery> = HashMap::new();
        for success in successes {
            let known = last.entry(success.sequence).or_insert(success);
            if success.at > known.at {
                *known = success;
            }
        }
        let mut by_event: HashMap<u64, Vec<AttemptRecord>> = HashMap::new();
        for attempt in attempts {
            by_event.entry(attempt.purpose.sequence()).or_default().push(attempt);
        }
        let of = |sequence: &u64| Self {
            sequence: *sequence,
            delivered: last.get(sequence).copied(),
            attempts: by_event.get(sequence).cloned().unwrap_or_default(),
        };
        sequences.iter().map(of).collect()
    }
}

/// Filters for deliveries, newest first.
#[derive(Clone, Debug)]
pub struct DeliveryQuery {
    pub webhook: WebhookId,
    /// Only deliveries older than this (time, sequence).
    pub before: Option<(Ticks, u64)>,
    pub since: Option<Ticks>,
    pub only_failed: bool,
    pub rows_max: usize,
}

impl DeliveryQuery {
    pub(crate) fn newest_since(webhook: WebhookId, since: Ticks, rows_max: usize) -> Self {
        Self { webhook, before: None, since: Some(since), only_failed: false, rows_max }
    }

    /// SQL parameters: time and sequence to stop before, earliest time, row limit.
    pub(crate) fn bounds(&self) -> [i64; 4] {
        let (at, sequence) = self.before.map_or((i64::MAX, i64::MAX), |(at, number)| (at.0, signed(number)));
        let since = self.since.map_or(i64::MIN, |since| since.0);
        [at, sequence, since, i64::try_from(self.rows_max).unwrap_or(i64::MAX)]
    }

    /// SQL parameters for packs: time to stop before, latest end of a pack that may start before it, earliest
    /// time, row limit.
    pub(crate) fn pack_bounds(&self, pack_span: Duration) -> [i64; 4] {
        let [before, _, since, rows_max] = self.bounds();
        [before, (Ticks(before) + pack_span).0, since, rows_max]
    }

    pub(crate) fn includes(&self, at: Ticks, sequence: u64) -> bool {
        self.before.is_none_or(|before| (at, sequence) < before) && self.since.is_none_or(|since| at >= since)
    }
}

/// Delivery statistics of a webhook.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebhookStats {
    pub delivered: u64,
    /// Failed attempts at regular deliveries.
    pub failed: u64,
    /// Over at most the last 2,000 deliveries.
    pub p95_ms: Option<u32>,
    pub last_delivered_at: Option<Ticks>,
    pub lanes: u64,
    pub failing_since: Option<Ticks>,
    pub next_attempt_at: Option<Ticks>,
    /// Undelivered events after the cursor and in lanes; counted up to 10,000.
    pub behind: u64,
    /// The history since then is too long to be counted: `delivered` and `failed` are of its newest part.
    pub is_partial: bool,
}

/// How many rows of deliveries, and of failed attempts, are counted. A row of deliveries holds those of one checkpoint.
pub(crate) const COUNTED_ROWS_MAX: u32 = 20_000;
/// Undelivered events are counted up to this.
pub(crate) const BEHIND_MAX: u16 = 10_000;
/// How many deliveries the percentile covers.
pub(crate) const P95_OF_MAX: usize = 2_000;

/// The 95th percentile.
pub(crate) fn percentile_95(mut duration_ms: Vec<u32>) -> Option<u32> {
    duration_ms.sort_unstable();
    let index = (duration_ms.len() * 95).div_ceil(100).checked_sub(1)?;
    duration_ms.get(index).copied()
}

#[async_trait]
pub trait History: Send + Sync + 'static {
    /// The key from which a webhook's outgoing ids are derived, even after the webhook was deleted.
    fn outgoing_id_key(&self, webhook: WebhookId) -> [u8; 32];

    /// A webhook's attempts with a row of their own, newest first.
    async fn attempts(&self, query: &DeliveryQuery) -> Result<Vec<AttemptRecord>>;

    /// A webhook's successful deliveries, newest first; none if the query asks for failures only.
    async fn successful_deliveries(&self, query: &DeliveryQuery) -> Result<Vec<SuccessfulDelivery>>;

    /// The history of one event's delivery.
    async fn delivery_history(&self, webhook: WebhookId, sequence: u64) -> Result<DeliveryHistory> {
        let found = self.find_deliveries(webhook, &[sequence]).await?.pop();
        Ok(found.unwrap_or(DeliveryHistory { sequence, delivered: None, attempts: Vec::new() }))
    }

    /// The history of many events' deliveries, one for each sequence and in their order; the number of queries does not
    /// depend on how many there are.
    async fn find_deliveries(&self, webhook: WebhookId, sequences: &[u64]) -> Result<Vec<DeliveryHistory>>;

    /// The events of one resource with these sequences that the log still has, in ascending order; one query.
    async fn find_events(
        &self,
        tenant: &TenantId,
        resource: Resource,
        sequences: &[u64],
    ) -> Result<Vec<LogEvent>>;

    /// Ordered by the sequence of the next event.
    async fn lanes(&self, webhook: WebhookId, rows_max: usize) -> Result<Vec<Lane>>;

    /// A webhook's statistics since a time. The cost is bounded; see [`WebhookStats::is_partial`] and
    /// [`crate::read_webhook_stats`].
    async fn webhook_stats(&self, webhook: WebhookId, since: Ticks) -> Result<WebhookStats>;

    /// Requests deliveries again; none if the webhook does not exist, or is unsubscribed or deleted.
    /// The span is (after, through). The request and its audit entry are one transaction.
    async fn request_replay(
        &self,
        webhook: WebhookId,
        kind: ReplayKind,
        span: (u64, u64),
        context: &AuditContext,
    ) -> Result<Option<Replay>>;

    /// Newest first.
    async fn replays(&self, webhook: WebhookId, rows_max: usize) -> Result<Vec<Replay>>;

    /// The range (after, through) of the webhook's events in a span of time, as a replay takes it.
    async fn sequence_range(&self, webhook: WebhookId, from: Ticks, to: Ticks) -> Result<Option<(u64, u64)>>;
}
