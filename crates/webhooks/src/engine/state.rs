//! What the engine knows of one webhook: how far it has read, what is under way, and what is parked.

use std::collections::VecDeque;
use std::sync::Arc;

use domain::retry::RetryState;
use domain::webhook::{EventKinds, Family, WebhookFlags};
use domain::{ClientId, Ticks};
use store::{
    AttemptRecord, AuditEntry, EventGap, HandshakeStep, LoadedWebhook, ReplayStep, SuccessfulDelivery,
};

use super::feed::Piece;
use super::lanes::Lanes;
use super::replay::Replaying;
use super::work::{Map, Set};
use super::{FeedKey, SharedEvent, Target};

#[expect(clippy::struct_excessive_bools, reason = "facts, each for itself")]
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) target: Arc<Target>,
    pub(crate) feed: FeedKey,
    pub(crate) client: ClientId,
    pub(crate) kinds: EventKinds,
    pub(crate) flags: WebhookFlags,
    pub(crate) handshake: Shaking,
    pub(crate) fence: i64,
    pub(crate) revision: u64,
    /// Of this process: what was started before it moved does not count for what is here.
    pub(crate) epoch: u64,
    /// Somebody has changed the webhook: nothing is started until it is known anew.
    pub(crate) is_frozen: bool,
    /// Its tenant or its client is disabled.
    pub(crate) is_suspended: bool,
    pub(crate) has_cursor: bool,
    /// The log was read up to here.
    pub(crate) read_to: u64,
    /// The feed's serial at which nothing was left to read.
    pub(crate) caught_up: Option<u64>,
    pub(crate) is_reading: bool,
    window: VecDeque<(u64, bool)>,
    /// What can be started.
    pub(crate) queue: VecDeque<SharedEvent>,
    /// Records with an event in the queue or under way, and the events behind it.
    busy: Map<i64, VecDeque<SharedEvent>>,
    pub(crate) in_flight: usize,
    pub(crate) lanes: Lanes,
    /// The last attempt timed out.
    pub(crate) is_slow: bool,
    pub(crate) failures_in_a_row: u32,
    /// The breaker: nothing new is pulled, parked lanes are tried one after the other.
    pub(crate) is_open: bool,
    pub(crate) is_warned: bool,
    pub(crate) replaying: Replaying,
    /// The cursor has moved since the last checkpoint.
    pub(crate) has_moved: bool,
    /// Only where there is something: most webhooks rest.
    pub(crate) pending: Option<Box<Pending>>,
    /// In the queue of those that may start something.
    pub(crate) is_ready: bool,
    pub(crate) is_hungry: bool,
    pub(crate) due: Option<Ticks>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Shaking {
    pub(crate) number: u32,
    pub(crate) at: Ticks,
    pub(crate) retry: Option<RetryState>,
    pub(crate) is_under_way: bool,
    /// Accepted, and not yet written down.
    pub(crate) is_accepted: bool,
    /// Where the log stood before the request was sent.
    pub(crate) head: u64,
}

/// What is to be written down at the next checkpoint.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    pub(crate) parked: Set<i64>,
    pub(crate) cleared: Set<i64>,
    pub(crate) handshake: Option<HandshakeStep>,
    pub(crate) disabled: Option<String>,
    pub(crate) lost: Option<EventGap>,
    pub(crate) attempts: Vec<AttemptRecord>,
    pub(crate) delivered: Vec<SuccessfulDelivery>,
    pub(crate) replays: Vec<ReplayStep>,
    pub(crate) audit: Vec<AuditEntry>,
}

impl State {
    pub(crate) fn new(hook: LoadedWebhook, fence: i64, epoch: u64) -> Self {
        let webhook = hook.webhook;
        Self {
            feed: FeedKey { tenant: webhook.owner.tenant.clone(), resource: webhook.resource },
            client: webhook.owner.client.clone(),
            kinds: webhook.kinds,
            flags: webhook.flags(),
            handshake: Shaking::of(&webhook),
            fence,
            revision: webhook.revision,
            epoch,
            is_frozen: false,
            is_suspended: false,
            has_cursor: webhook.cursor.is_some(),
            read_to: webhook.cursor.unwrap_or(0),
            caught_up: None,
            is_reading: false,
            window: VecDeque::new(),
            queue: VecDeque::new(),
            busy: Map::default(),
            in_flight: 0,
            lanes: Lanes::new(hook.lanes),
            is_slow: false,
            failures_in_a_row: 0,
            is_open: false,
            is_warned: false,
            replaying: Replaying::new(hook.replays, webhook.initial_cursor.unwrap_or(u64::MAX)),
            has_moved: false,
            pending: None,
            is_ready: false,
            is_hungry: false,
            due: None,
            target: Arc::new(Target::new(&webhook, hook.id_key)),
        }
    }

    /// Takes over what its owner may have changed without touching what is under way.
    pub(crate) fn learn(&mut self, hook: LoadedWebhook) {
        let webhook = hook.webhook;
        let before = self.flags;
        self.flags = webhook.flags();
        // Only its owner takes that back, and then the revision is another one.
        self.flags.disabled |= before.disabled;
        let shaking = Shaking::of(&webhook);
        if shaking.number != self.handshake.number {
            self.handshake = shaking;
            self.pending().handshake = None;
        } else if before.handshake_accepted {
            self.flags.handshake_accepted = true;
        } else if let Some(cursor) = webhook.cursor.filter(|_| self.flags.handshake_accepted) {
            self.flags.handshake_accepted = false;
            self.contract(cursor);
        }
        self.target = Arc::new(Target::new(&webhook, hook.id_key));
        self.replaying.learn(hook.replays, webhook.initial_cursor.unwrap_or(u64::MAX));
        self.is_frozen = false;
    }

    /// Nothing waits beyond `latest`, which is as late as anything can be set: a clock that was ahead has done so.
    pub(crate) fn clamp(&mut self, latest: Ticks) {
        self.lanes.clamp(latest);
        if let Some(retry) = &mut self.handshake.retry {
            retry.next_at = retry.next_at.min(latest);
        }
    }

    /// The receiver's acceptance is written down: events go from here on, or from where they had come.
    pub(crate) fn contract(&mut self, head: u64) {
        if !self.flags.handshake_accepted {
            self.flags.handshake_accepted = true;
            if !self.has_cursor {
                self.has_cursor = true;
                self.read_to = head;
                self.replaying.begin(head);
            }
        }
    }

    pub(crate) fn pending(&mut self) -> &mut Pending {
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

    /// Everything up to here is delivered, parked, or none of its business.
    pub(crate) fn done_to(&self) -> u64 {
        self.window.front().map_or(self.read_to, |(first, _)| first - 1)
    }

    /// Lets go of what only a busy webhook needs.
    pub(crate) fn rest(&mut self) {
        if self.in_flight == 0 && self.window.is_empty() {
            self.window = VecDeque::new();
            self.queue = VecDeque::new();
            self.busy = Map::default();
            self.target.rest();
        }
    }

    pub(crate) fn buffered(&self) -> usize {
        self.window.len()
    }

    /// Takes what it can of a piece of the log; tells how many events it now holds more.
    pub(crate) fn take(&mut self, piece: &Piece, window_max: usize) -> usize {
        let before = self.window.len();
        for event in piece.events_after(self.read_to) {
            if self.window.len() >= window_max {
                return self.window.len() - before;
            }
            self.read_to = event.entry.sequence;
            self.has_moved = true;
            if !self.kinds.contains(event.entry.kind) || self.lanes.leave(event.record_key, self.read_to) {
                continue;
            }
            self.window.push_back((self.read_to, false));
            if let Some(behind) = self.busy.get_mut(&event.record_key) {
                behind.push_back(event.clone());
            } else {
                self.busy.insert(event.record_key, VecDeque::new());
                self.queue.push_back(event.clone());
            }
        }
        if piece.upto > self.read_to {
            self.read_to = piece.upto;
            self.has_moved = true;
        }
        self.caught_up = piece.reached;
        self.window.len() - before
    }

    /// An event was delivered: the next one of its record can go.
    pub(crate) fn delivered(&mut self, event: &SharedEvent) {
        self.pass(event.entry.sequence);
        if let Some(behind) = self.busy.get_mut(&event.record_key) {
            match behind.pop_front() {
                Some(next) => self.queue.push_back(next),
                None => {
                    self.busy.remove(&event.record_key);
                }
            }
        }
    }

    /// An event was parked: those behind it are left to its lane.
    pub(crate) fn parked(&mut self, event: &SharedEvent) {
        self.pass(event.entry.sequence);
        for behind in self.busy.remove(&event.record_key).unwrap_or_default() {
            self.lanes.leave(behind.record_key, behind.entry.sequence);
            self.pass(behind.entry.sequence);
        }
    }

    fn pass(&mut self, sequence: u64) {
        if let Ok(place) = self.window.binary_search_by_key(&sequence, |(sequence, _)| *sequence) {
            self.window[place].1 = true;
        }
        while self.window.front().is_some_and(|(_, is_done)| *is_done) {
            self.window.pop_front();
        }
        self.has_moved = true;
    }
}

impl Shaking {
    fn of(webhook: &store::Webhook) -> Self {
        Self {
            number: webhook.handshake.number,
            at: webhook.handshake.at,
            retry: webhook.handshake.retry,
            is_under_way: false,
            is_accepted: webhook.handshake.accepted,
            head: 0,
        }
    }
}
