//! What was tried and how it went. Failed attempts are rows; deliveries that succeeded are packed, one row a
//! checkpoint, whose last ones a crash may lose.

use std::time::Duration;

use async_trait::async_trait;
use domain::{Ticks, WebhookId};

use super::Lane;
use crate::plan::signed;
use crate::{AuditEntry, Result};

/// What an attempt was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptPurpose {
    Event {
        sequence: u64,
    },
    Handshake {
        number: u32,
    },
    /// An event again, as its owner or the operator asked.
    Replay {
        sequence: u64,
    },
    Test,
}

impl AttemptPurpose {
    /// The number of the event that it was about; 0 where it was about none.
    pub fn sequence(self) -> u64 {
        match self {
            Self::Event { sequence } | Self::Replay { sequence } => sequence,
            Self::Handshake { .. } | Self::Test => 0,
        }
    }

    /// Whether it was about this event.
    pub(crate) fn is_of(self, event: u64) -> bool {
        matches!(self, Self::Event { sequence } | Self::Replay { sequence } if sequence == event)
    }
}

/// Where the time of an attempt went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AttemptTiming {
    pub resolve: Duration,
    pub connect: Duration,
    pub tls: Duration,
    pub wait: Duration,
    pub total: Duration,
}

/// An attempt that failed, or one whose success is worth a row of its own (handshakes, tests, replays).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptRecord {
    pub at: Ticks,
    pub purpose: AttemptPurpose,
    /// The how many-th of its occasion, from 1.
    pub number: u32,
    /// None: no answer came.
    pub status: Option<u16>,
    pub succeeded: bool,
    /// In words.
    pub reason: String,
    /// The beginning of the answer's body.
    pub excerpt: String,
    pub timing: AttemptTiming,
}

impl AttemptRecord {
    /// Its place in the history; what `DeliveryQuery::before` continues from.
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
    /// Events after `after`, up to and with `through`.
    Events,
    /// One made-up event.
    Test,
}

/// Deliveries that somebody asked for again: outside the order and the counting of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replay {
    pub number: i64,
    pub kind: ReplayKind,
    pub requested_at: Ticks,
    pub after: u64,
    pub through: u64,
    /// Everything up to here is done.
    pub position: u64,
    pub delivered: u64,
    pub failed: u64,
    pub is_done: bool,
}

impl Replay {
    pub(crate) fn asked(
        number: i64,
        kind: ReplayKind,
        requested_at: Ticks,
        after: u64,
        through: u64,
    ) -> Self {
        let (position, delivered, failed) = (after, 0, 0);
        Self { number, kind, requested_at, after, through, position, delivered, failed, is_done: false }
    }
}

/// How far a replay has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayStep {
    pub number: i64,
    pub position: u64,
    pub delivered: u64,
    pub failed: u64,
    pub is_done: bool,
}

/// What is known of the delivery of one event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryHistory {
    pub sequence: u64,
    pub delivered: Option<SuccessfulDelivery>,
    /// Newest last.
    pub attempts: Vec<AttemptRecord>,
}

/// Which deliveries are wanted, newest first.
#[derive(Clone, Debug)]
pub struct DeliveryQuery {
    pub webhook: WebhookId,
    /// Only older ones than this, by (time, sequence).
    pub before: Option<(Ticks, u64)>,
    pub since: Option<Ticks>,
    pub only_failed: bool,
    pub rows_max: usize,
}

impl DeliveryQuery {
    pub(crate) fn newest_since(webhook: WebhookId, since: Ticks, rows_max: usize) -> Self {
        Self { webhook, before: None, since: Some(since), only_failed: false, rows_max }
    }

    /// (time, number) before which, time from which on, and how many: as the databases count.
    pub(crate) fn bounds(&self) -> [i64; 4] {
        let (at, sequence) = self.before.map_or((i64::MAX, i64::MAX), |(at, number)| (at.0, signed(number)));
        let since = self.since.map_or(i64::MIN, |since| since.0);
        [at, sequence, since, i64::try_from(self.rows_max).unwrap_or(i64::MAX)]
    }

    /// Time before which, time until which a pack with something before it may last, time from which on, how many.
    pub(crate) fn pack_bounds(&self, pack_span: Duration) -> [i64; 4] {
        let [before, _, since, rows_max] = self.bounds();
        [before, (Ticks(before) + pack_span).0, since, rows_max]
    }

    pub(crate) fn takes(&self, at: Ticks, sequence: u64) -> bool {
        self.before.is_none_or(|before| (at, sequence) < before) && self.since.is_none_or(|since| at >= since)
    }
}

/// How a webhook does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebhookStats {
    pub delivered: u64,
    /// Attempts to deliver an event, in its turn, that failed.
    pub failed: u64,
    /// Of the last 2,000 deliveries at most.
    pub p95_ms: Option<u32>,
    pub last_delivered_at: Option<Ticks>,
    pub lanes: u64,
    pub failing_since: Option<Ticks>,
    pub next_attempt_at: Option<Ticks>,
    /// Events that wait: behind the cursor and in lanes; counted up to 10,000.
    pub behind: u64,
}

/// Events that wait are counted up to here.
pub(crate) const BEHIND_MAX: u16 = 10_000;
/// How many deliveries a percentile is taken of.
pub(crate) const P95_OF_MAX: usize = 2_000;

/// The time within which 95 of 100 were done.
pub(crate) fn percentile_95(mut duration_ms: Vec<u32>) -> Option<u32> {
    duration_ms.sort_unstable();
    let place = (duration_ms.len() * 95).div_ceil(100).checked_sub(1)?;
    duration_ms.get(place).copied()
}

#[async_trait]
pub trait History: Send + Sync + 'static {
    /// From which the ids of a webhook's deliveries are derived, also of one that is over.
    fn outgoing_id_key(&self, webhook: WebhookId) -> [u8; 32];

    /// Attempts of a webhook that have a row of their own, newest first.
    async fn attempts(&self, query: &DeliveryQuery) -> Result<Vec<AttemptRecord>>;

    /// Deliveries of a webhook that succeeded, newest first; none where only failed ones are wanted.
    async fn successful_deliveries(&self, query: &DeliveryQuery) -> Result<Vec<SuccessfulDelivery>>;

    /// All that is known of one event's delivery.
    async fn delivery_history(&self, webhook: WebhookId, sequence: u64) -> Result<DeliveryHistory>;

    /// By the numbers of their next events.
    async fn lanes(&self, webhook: WebhookId, rows_max: usize) -> Result<Vec<Lane>>;

    /// How a webhook has done since then.
    async fn webhook_stats(&self, webhook: WebhookId, since: Ticks) -> Result<WebhookStats>;

    /// Asks for deliveries again; none where the webhook is unknown or over.
    async fn request_replay(
        &self,
        webhook: WebhookId,
        kind: ReplayKind,
        after: u64,
        through: u64,
    ) -> Result<Option<Replay>> {
        self.request_replay_audited(webhook, kind, (after, through), None).await
    }

    /// The same, of what lies after one number and not after another; it and its entry in the audit are one transaction.
    async fn request_replay_audited(
        &self,
        webhook: WebhookId,
        kind: ReplayKind,
        span: (u64, u64),
        entry: Option<AuditEntry>,
    ) -> Result<Option<Replay>>;

    /// Newest first.
    async fn replays(&self, webhook: WebhookId, rows_max: usize) -> Result<Vec<Replay>>;

    /// The numbers before the first and of the last event in a span of time: what a replay of it covers.
    async fn sequence_range(&self, webhook: WebhookId, from: Ticks, to: Ticks) -> Result<Option<(u64, u64)>>;
}
