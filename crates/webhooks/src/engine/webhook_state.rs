//! What the engine knows about one webhook: how far it has read the log, what is in flight, and what is parked.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use domain::retry::RetryState;
use domain::webhook::{EventKinds, Family, HANDSHAKE_REQUEST_PAUSE, WebhookFlags};
use domain::{ClientId, Suspension, Ticks};
use store::{
    AttemptRecord, AuditEntry, EventGap, HandshakeStep, LoadedWebhook, ReplayStep, SuccessfulDelivery,
    SuspensionStep,
};

use super::deterministic::{StableMap, StableSet};
use super::feed::Following;
use super::lanes::Lanes;
use super::owner_queues::OwnerNumber;
use super::replay::ReplayQueue;
use super::tail_cache::TailChunk;
use super::{SharedEvent, TailKey, Target};

#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
#[derive(Debug)]
pub(crate) struct WebhookState {
    pub(crate) target: Arc<Target>,
    pub(crate) tail_key: TailKey,
    pub(crate) client: ClientId,
    pub(crate) owner: OwnerNumber,
    pub(crate) kinds: EventKinds,
    pub(crate) flags: WebhookFlags,
    pub(crate) handshake: HandshakeState,
    pub(crate) fence: i64,
    pub(crate) revision: u64,
    /// Identifies this state within the process: an attempt that an earlier state of the webhook started does not change
    /// this one.
    pub(crate) epoch: u64,
    /// The webhook was changed: nothing starts until it is reloaded.
    pub(crate) is_frozen: bool,
    /// Why no authorization entitles its owner to deliveries.
    pub(crate) authorization_gap: Option<Suspension>,
    /// Its owner's access does not stand.
    pub(crate) is_suspended: bool,
    /// Since when it has been suspended, as far as the next checkpoint knows.
    pub(crate) suspended_at: Option<Ticks>,
    pub(crate) has_cursor: bool,
    pub(crate) following: Following,
    /// The webhook has read the log up to this sequence.
    pub(crate) read_to: u64,
    /// The tail's serial at which nothing was left to read.
    pub(crate) caught_up_at: Option<u64>,
    pub(crate) is_reading: bool,
    /// Events that were read and not yet passed by the cursor: sequence, and whether it is delivered or parked.
    window: VecDeque<(u64, bool)>,
    /// Events that can start now.
    pub(crate) queue: VecDeque<SharedEvent>,
    /// Records with an event in the queue or in flight, and their later events.
    busy_records: StableMap<i64, VecDeque<SharedEvent>>,
    /// Records with an attempt in flight that an earlier state of the webhook started. Its result does not count, but until it
    /// has ended, nothing of the record starts: the receiver could get the later event first.
    held_records: StableSet<i64>,
    pub(crate) in_flight: usize,
    pub(crate) lanes: Lanes,
    /// The last attempt took a good part of its timeout, or timed out.
    pub(crate) was_slow: bool,
    /// How many attempts in flight have taken as long already.
    pub(crate) long_in_flight: usize,
    /// It took nearly all of it: one attempt at a time.
    pub(crate) holds_one_slot: bool,
    pub(crate) failures_in_a_row: u32,
    /// The breaker is open: the webhook reads nothing new, and its parked lanes are tried one at a time.
    pub(crate) is_breaker_open: bool,
    pub(crate) has_warned: bool,
    pub(crate) replays: ReplayQueue,
    /// The cursor has moved since the last checkpoint.
    pub(crate) has_moved: bool,
    /// Boxed, because most webhooks have nothing to write most of the time.
    pub(crate) pending: Option<Box<PendingWrites>>,
    /// In its owner's queue of webhooks that may start something;
    pub(crate) is_ready: bool,
    /// in the one of slow webhooks.
    pub(crate) is_slow_ready: bool,
    /// In the core's queue of webhooks that may read something.
    pub(crate) is_read_queued: bool,
    pub(crate) due: Option<Ticks>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct HandshakeState {
    pub(crate) number: u32,
    pub(crate) at: Ticks,
    pub(crate) retry: Option<RetryState>,
    /// When the owner last asked for an attempt that does not wait for the schedule.
    pub(crate) asked_at: Option<Ticks>,
    /// The last request that an attempt of this node has answered.
    pub(crate) answered_at: Option<Ticks>,
    /// When this node last started an attempt.
    pub(crate) started_at: Option<Ticks>,
    pub(crate) is_in_flight: bool,
    /// Accepted by the receiver, perhaps not yet checkpointed.
    pub(crate) is_accepted: bool,
    /// The log's head before the request was sent.
    pub(crate) head: u64,
}

/// What the next checkpoint of a webhook writes beside its cursor.
#[derive(Debug, Default)]
pub(crate) struct PendingWrites {
    pub(crate) parked: StableSet<i64>,
    pub(crate) cleared: StableSet<i64>,
    pub(crate) handshake: Option<HandshakeStep>,
    pub(crate) suspension: Option<SuspensionStep>,
    pub(crate) disabled: Option<String>,
    pub(crate) gap: Option<EventGap>,
    pub(crate) attempts: Vec<AttemptRecord>,
    pub(crate) delivered: Vec<SuccessfulDelivery>,
    pub(crate) replays: Vec<ReplayStep>,
    pub(crate) audit: Vec<AuditEntry>,
}

impl WebhookState {
    pub(crate) fn new(loaded: LoadedWebhook, owner: OwnerNumber, fence: i64, epoch: u64) -> Self {
        let webhook = loaded.webhook;
        Self {
            tail_key: TailKey { tenant: webhook.owner.tenant.clone(), resource: webhook.resource },
            client: webhook.owner.client.clone(),
            owner,
            kinds: webhook.kinds,
            flags: webhook.flags(),
            handshake: HandshakeState::new(&webhook),
            fence,
            revision: webhook.revision,
            epoch,
            is_frozen: false,
            authorization_gap: loaded.authorization_gap,
            is_suspended: false,
            suspended_at: webhook.suspended_at,
            has_cursor: webhook.cursor.is_some(),
            following: Following::ByItself,
            read_to: webhook.cursor.unwrap_or(0),
            caught_up_at: None,
            is_reading: false,
            window: VecDeque::new(),
            queue: VecDeque::new(),
            busy_records: StableMap::default(),
            held_records: StableSet::default(),
            in_flight: 0,
            lanes: Lanes::new(loaded.lanes),
            was_slow: false,
            long_in_flight: 0,
            holds_one_slot: false,
            failures_in_a_row: 0,
            is_breaker_open: false,
            has_warned: false,
            replays: ReplayQueue::new(loaded.replays, webhook.initial_cursor.unwrap_or(u64::MAX)),
            has_moved: false,
            pending: None,
            is_ready: false,
            is_slow_ready: false,
            is_read_queued: false,
            due: None,
            target: Arc::new(Target::new(&webhook, loaded.id_key)),
        }
    }

    /// Takes over what the owner can change without a new revision; attempts in flight stay valid.
    pub(crate) fn update(&mut self, loaded: LoadedWebhook) {
        let webhook = loaded.webhook;
        let before = self.flags;
        self.flags = webhook.flags();
        // Only the owner enables a disabled webhook, and that makes a new revision.
        self.flags.disabled |= before.disabled;
        let handshake = HandshakeState::new(&webhook);
        self.handshake.asked_at = handshake.asked_at;
        if handshake.number != self.handshake.number {
            self.handshake = handshake;
            self.pending().handshake = None;
        } else if before.handshake_accepted {
            self.flags.handshake_accepted = true;
        } else if let Some(cursor) = webhook.cursor.filter(|_| self.flags.handshake_accepted) {
            self.flags.handshake_accepted = false;
            self.set_handshake_accepted(cursor);
        }
        self.authorization_gap = loaded.authorization_gap;
        self.target = Arc::new(Target::new(&webhook, loaded.id_key));
        self.replays.update(loaded.replays, webhook.initial_cursor.unwrap_or(u64::MAX));
        self.is_frozen = false;
    }

    /// The wall clock went back by so much: retries stay as far away as they were. None is later than `latest`, the latest
    /// that the schedule can give.
    pub(crate) fn clock_went_back(&mut self, back: Duration, now: Ticks, latest: Ticks) {
        self.move_due(now, |retry| retry.next_at = retry.next_at.minus(back).min(latest));
    }

    /// Moves the due times of stored retries that a clock ahead of this one set: what failed in the future failed just now.
    pub(crate) fn clamp_loaded(&mut self, now: Ticks, latest: Ticks) {
        self.move_due(now, |retry| {
            let ahead = retry.first_failed_at.since(now);
            retry.next_at = retry.next_at.minus(ahead).min(latest);
        });
    }

    fn move_due(&mut self, now: Ticks, update: impl Fn(&mut RetryState)) {
        self.lanes.update_due(&update);
        if let Some(retry) = &mut self.handshake.retry {
            update(retry);
        }
        self.handshake.started_at = self.handshake.started_at.map(|at| at.min(now));
    }

    /// The accepted handshake is checkpointed: events flow from `head` on, or from the cursor that the webhook already has.
    pub(crate) fn set_handshake_accepted(&mut self, head: u64) {
        if !self.flags.handshake_accepted {
            self.flags.handshake_accepted = true;
            if !self.has_cursor {
                self.has_cursor = true;
                self.read_to = head;
                self.replays.set_start(head);
            }
        }
    }

    pub(crate) fn pending(&mut self) -> &mut PendingWrites {
        self.pending.get_or_insert_default()
    }

    pub(crate) fn family(&self) -> Family {
        self.target.family()
    }

    /// Whether its events may be sent now.
    pub(crate) fn is_active(&self) -> bool {
        self.flags.is_active() && !self.is_suspended && !self.is_frozen
    }

    pub(crate) fn needs_handshake(&self) -> bool {
        self.flags.needs_handshake(self.family()) && !self.is_suspended && !self.is_frozen
    }

    /// Every event up to this sequence is delivered, parked, or not subscribed to.
    pub(crate) fn cursor(&self) -> u64 {
        self.window.front().map_or(self.read_to, |(first, _)| first - 1)
    }

    /// Frees the memory that only a webhook with events in flight needs.
    pub(crate) fn release_buffers(&mut self) {
        if self.in_flight == 0 && self.window.is_empty() && self.held_records.is_empty() {
            self.window = VecDeque::new();
            self.queue = VecDeque::new();
            self.busy_records = StableMap::default();
            self.target.release_prepared();
        }
    }

    pub(crate) fn buffered(&self) -> usize {
        self.window.len()
    }

    /// Whether every event that was read is delivered or parked.
    pub(crate) fn holds_nothing(&self) -> bool {
        self.window.is_empty() && self.queue.is_empty() && self.held_records.is_empty()
    }

    /// Takes events from a chunk of the log until the window is full; returns how many.
    pub(crate) fn take_events(&mut self, chunk: &TailChunk, window_max: usize) -> usize {
        let before = self.window.len();
        for event in chunk.events_after(self.read_to) {
            if self.window.len() >= window_max {
                self.caught_up_at = None;
                return self.window.len() - before;
            }
            self.read_to = event.entry.sequence;
            self.has_moved = true;
            if !self.kinds.contains(event.entry.kind) || self.lanes.defer(event.record_key, self.read_to) {
                continue;
            }
            self.window.push_back((self.read_to, false));
            if let Some(later) = self.busy_records.get_mut(&event.record_key) {
                later.push_back(event.clone());
            } else {
                self.busy_records.insert(event.record_key, VecDeque::new());
                self.queue.push_back(event.clone());
            }
        }
        if chunk.upto > self.read_to {
            self.read_to = chunk.upto;
            self.has_moved = true;
        }
        self.caught_up_at = chunk.reached_head_at;
        self.window.len() - before
    }

    /// An event was delivered: the next one of its record can start.
    pub(crate) fn mark_delivered(&mut self, event: &SharedEvent) {
        self.mark_done(event.entry.sequence);
        self.queue_next_of(event.record_key);
    }

    fn queue_next_of(&mut self, record_key: i64) {
        if let Some(later) = self.busy_records.get_mut(&record_key) {
            match later.pop_front() {
                Some(next) => self.queue.push_back(next),
                None => {
                    self.busy_records.remove(&record_key);
                }
            }
        }
    }

    /// Starts nothing of the record until [`WebhookState::release`].
    pub(crate) fn hold(&mut self, record_key: i64) {
        self.held_records.insert(record_key);
        if !self.lanes.hold(record_key) {
            self.busy_records.entry(record_key).or_default();
        }
    }

    /// The attempt that an earlier state of the webhook started has ended.
    pub(crate) fn release(&mut self, record_key: i64) {
        if self.held_records.remove(&record_key) && !self.lanes.release(record_key) {
            self.queue_next_of(record_key);
        }
    }

    /// An event was parked: its lane takes over the later events of the record.
    pub(crate) fn mark_parked(&mut self, event: &SharedEvent) {
        self.mark_done(event.entry.sequence);
        for later in self.busy_records.remove(&event.record_key).unwrap_or_default() {
            self.lanes.defer(later.record_key, later.entry.sequence);
            self.mark_done(later.entry.sequence);
        }
    }

    fn mark_done(&mut self, sequence: u64) {
        if let Ok(place) = self.window.binary_search_by_key(&sequence, |(sequence, _)| *sequence) {
            self.window[place].1 = true;
        }
        while self.window.front().is_some_and(|(_, is_done)| *is_done) {
            self.window.pop_front();
        }
        self.has_moved = true;
    }
}

impl HandshakeState {
    fn new(webhook: &store::Webhook) -> Self {
        Self {
            number: webhook.handshake.number,
            at: webhook.handshake.at,
            retry: webhook.handshake.retry,
            asked_at: webhook.handshake.asked_at,
            answered_at: None,
            started_at: None,
            is_in_flight: false,
            is_accepted: webhook.handshake.accepted,
            head: 0,
        }
    }

    /// Takes over what an earlier state of the webhook knows about the same handshake: its attempt in flight still counts,
    /// and none starts beside it.
    pub(crate) fn continue_from(&mut self, earlier: &Self) {
        if self.number == earlier.number && !self.is_accepted {
            let Self { answered_at, started_at, is_in_flight, head, .. } = *earlier;
            *self = Self { answered_at, started_at, is_in_flight, head, ..*self };
        }
    }

    /// An attempt starts, which answers what the owner asked. Returns whether it is before its time.
    pub(crate) fn start(&mut self, head: u64, now: Ticks) -> bool {
        self.head = head;
        self.started_at = Some(now);
        self.answered_at = self.answered_at.max(self.asked_at);
        self.retry.is_some_and(|retry| retry.next_at > now)
    }

    /// The attempt was not sent: as before [`HandshakeState::start`].
    pub(crate) fn undo_start(&mut self, before: &Self) {
        self.is_in_flight = false;
        (self.started_at, self.answered_at) = (before.started_at, before.answered_at);
    }

    /// The owner's request that no attempt has answered yet.
    pub(crate) fn unanswered(&self) -> Option<Ticks> {
        self.asked_at.filter(|asked| Some(*asked) > self.answered_at)
    }

    /// When the next attempt is due: on the schedule, or at once if the owner has asked, but not soon after another one.
    /// `host_asked_at`: when the receiver's host last got an attempt that was asked for.
    pub(crate) fn due_at(&self, now: Ticks, host_asked_at: Option<Ticks>) -> Ticks {
        let Some(retry) = self.retry else { return now };
        let Some(asked) = self.unanswered() else { return retry.next_at };
        let last = self.started_at.max(host_asked_at);
        // Another node's clock may be ahead.
        let asked = asked.min(now);
        retry.next_at.min(last.map_or(asked, |last| asked.max(last + HANDSHAKE_REQUEST_PAUSE)))
    }
}
