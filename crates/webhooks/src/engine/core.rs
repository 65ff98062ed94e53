//! The core: applies inputs to its state and decides what to start next. The files beside this one hold the rules for
//! events, handshakes, replays, checkpoints and shards.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::{TenantId, Ticks, WebhookId};
use store::ChangeSet;

use super::attempts_in_flight::AttemptsInFlight;
use super::backlog::BacklogCount;
use super::checkpoint::Checkpoints;
use super::counts::DeliveryCounts;
use super::deterministic::{SeededRandom, StableMap};
use super::feed::{Feed, Following};
use super::handshake::AskedHosts;
use super::owner_interner::OwnerInterner;
use super::owner_queues::OwnerQueues;
use super::send_gate::SendGate;
use super::shard_assignment::ShardAssignment;
use super::suspension::Access;
use super::webhook_state::WebhookState;
use super::{Command, Input, Moment, Settings, TailKey};

/// A wall clock that goes back by more than this was ahead before.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct Core {
    pub(super) settings: Settings,
    pub(super) random: SeededRandom,
    pub(super) now: Moment,
    /// Boxed, because a hash map also allocates its empty slots.
    pub(super) webhooks: StableMap<WebhookId, Box<WebhookState>>,
    pub(super) owners: OwnerInterner,
    pub(super) feed: Feed,
    pub(super) shards: ShardAssignment,
    /// What attempts compare before they are sent; it holds when the shard leases end and how recent the core's knowledge is.
    pub(super) gate: SendGate,
    /// The orderly stop has begun: nothing starts any more.
    is_stopping: bool,
    pub(super) access: Access,
    pub(super) attempts: AttemptsInFlight,
    pub(super) asked_hosts: AskedHosts,
    pub(super) next_epoch: u64,
    /// Webhooks that may have something to start, and the slots of their owners.
    pub(super) owner_queues: OwnerQueues,
    pub(super) due: BTreeSet<(Ticks, WebhookId)>,
    pub(super) checkpoints: Checkpoints,
    pub(super) commands: Vec<Command>,
    pub(super) counts: DeliveryCounts,
    pub(super) backlog_count: BacklogCount,
}

impl Core {
    pub fn new(settings: Settings, seed: u64, now: Moment) -> Self {
        Self {
            gate: SendGate::new(&settings),
            settings,
            random: SeededRandom::new(seed),
            now,
            webhooks: StableMap::default(),
            owners: OwnerInterner::default(),
            feed: Feed::default(),
            shards: ShardAssignment::default(),
            is_stopping: false,
            access: Access::default(),
            attempts: AttemptsInFlight::default(),
            asked_hosts: AskedHosts::default(),
            next_epoch: 0,
            owner_queues: OwnerQueues::default(),
            due: BTreeSet::new(),
            checkpoints: Checkpoints::default(),
            commands: Vec::new(),
            counts: DeliveryCounts::default(),
            backlog_count: BacklogCount::default(),
        }
    }

    /// Applies an input. [`Core::settle`] returns the commands that follow from any number of inputs.
    pub fn handle(&mut self, now: Moment, input: Input) {
        self.set_now(now);
        match input {
            Input::Tick => {}
            Input::ShardsLeased { shards, until, asked, given } => {
                self.shards_leased(shards, until, asked, &given);
            }
            Input::ShardLoaded { shard, fence, webhooks, is_last } => {
                self.shard_loaded(shard, fence, webhooks, is_last);
            }
            Input::WebhookChanged(webhook) => self.webhook_changed(webhook),
            Input::WebhookLoaded { webhook, reload, loaded } => {
                self.webhook_loaded(webhook, reload, loaded.map(|loaded| *loaded));
            }
            Input::Committed(changes) => self.committed(changes),
            Input::HeadsRead(heads) => self.heads_read(&heads),
            Input::DisabledOwnersRead { disabled, access_version } => {
                self.disabled_owners_read(disabled, access_version);
            }
            Input::ChangesRead { until } => self.gate.set_known_until(until),
            Input::TailRead { key, after, serial, read } => self.tail_read(&key, after, serial, read.ok()),
            Input::RecordRead { webhook, epoch, record_key, upto, read } => {
                self.record_read(webhook, epoch, record_key, upto, read.ok());
            }
            Input::HeadRead { webhook, number, head } => self.head_read(webhook, number, head.ok()),
            Input::AttemptFinished { attempt_id, exchange } => self.attempt_finished(attempt_id, &exchange),
            Input::AttemptNotSent { attempt_id } => self.attempt_not_sent(attempt_id),
            Input::CheckpointWritten(results) => self.checkpoint_written(results.ok()),
        }
    }

    fn set_now(&mut self, now: Moment) {
        let before = std::mem::replace(&mut self.now, now);
        let expected = before.wall + now.steady.saturating_sub(before.steady);
        let back = expected.since(now.wall);
        if back > CLOCK_TOLERANCE {
            let latest = self.latest_due();
            for state in self.webhooks.values_mut() {
                state.clock_went_back(back, now.wall, latest);
            }
            self.asked_hosts.clear();
            self.wake_all();
        }
    }

    /// The latest time that the schedule can give a retry now: a tenth of the pause for the jitter, and another where the
    /// attempt is made at the end of the window.
    pub(super) fn latest_due(&self) -> Ticks {
        let longest = self.settings.schedule.pauses.iter().max().copied().unwrap_or_default();
        self.now.wall + longest + longest / 5
    }

    /// Starts what is due at `now` and returns the commands to execute.
    pub fn settle(&mut self, now: Moment) -> Vec<Command> {
        self.set_now(now);
        self.gate.set_access_version(self.access.applied());
        while let Some((at, webhook)) = self.due.first().copied().filter(|(at, _)| *at <= now.wall) {
            self.due.remove(&(at, webhook));
            if let Some(state) = self.webhooks.get_mut(&webhook) {
                state.due = None;
            }
            self.wake(webhook);
        }
        self.mark_slow();
        self.dispatch();
        self.read_for_queued();
        self.feed.trim();
        self.dispatch();
        self.give_idle_shards();
        self.checkpoint();
        self.counts.set_gauges(self.attempts.len(), self.webhooks.len());
        self.count_backlog();
        std::mem::take(&mut self.commands)
    }

    /// How long until the core has something to do without a new input; `None`: it only waits for inputs.
    pub fn next_wakeup(&self) -> Option<Duration> {
        let now = self.now;
        let due = self.due.first().map(|(at, _)| at.since(now.wall));
        let reads = self.feed.pause_left(now.steady);
        let counting = self.backlog_count.next_slice(now.steady);
        [due, reads, self.next_checkpoint(), counting].into_iter().flatten().min()
    }

    /// What the driver asks before it sends a request.
    pub fn gate(&self) -> SendGate {
        self.gate.clone()
    }

    pub fn counts(&self) -> DeliveryCounts {
        self.counts.clone()
    }

    /// Starts nothing from now on; attempts in flight finish and are checkpointed.
    pub fn stop(&mut self) {
        self.is_stopping = true;
        self.gate.stop();
        self.checkpoints.stop();
    }

    /// Whether nothing is in flight and all outcomes are in the store.
    pub fn is_idle(&self) -> bool {
        self.attempts.is_empty() && self.checkpoints.is_idle()
    }

    /// How many webhooks read the log by themselves, not with an idle group.
    pub fn readers(&self) -> usize {
        self.feed.tails.values().map(|tail| tail.readers.len()).sum()
    }

    fn can_read(&self) -> bool {
        !self.is_stopping && self.feed.pause_left(self.now.steady).is_none()
    }

    /// Whether attempts may start now: access is known, nothing is stopping, and the [`SendGate`] is open.
    pub(super) fn can_start(&self) -> bool {
        self.access.is_current() && !self.is_stopping && self.gate.may_begin(self.now.steady)
    }

    fn committed(&mut self, changes: ChangeSet) {
        // In a fixed order, so that the simulation can repeat a run.
        let mut webhooks: Vec<WebhookId> = changes.webhooks.into_iter().collect();
        webhooks.sort_unstable();
        for webhook in webhooks {
            self.webhook_changed(webhook);
        }
        self.access.signalled(changes.access_version);
        for (tenant, resources) in changes.tenants {
            for key in self.feed.tails_of(&tenant, |resource| resources.contains(resource)) {
                if let Some(tail) = self.feed.tails.get_mut(&key) {
                    tail.log_grew();
                    self.queue_reads(&key);
                }
            }
        }
    }

    fn heads_read(&mut self, heads: &[(TenantId, u64)]) {
        for (tenant, head) in heads {
            for key in self.feed.tails_of(tenant, |_| true) {
                if self.feed.tails.get_mut(&key).is_some_and(|tail| tail.set_head(*head)) {
                    self.queue_reads(&key);
                }
            }
        }
    }

    fn queue_reads(&mut self, key: &TailKey) {
        for webhook in self.feed.readers_of(key) {
            self.queue_read(webhook);
        }
        self.feed.push_tail(key);
    }

    pub(super) fn wake_all(&mut self) {
        let all: Vec<WebhookId> = self.webhooks.keys().copied().collect();
        for webhook in all {
            self.wake(webhook);
            self.queue_read(webhook);
        }
    }

    /// The webhook may have something to start.
    pub(super) fn wake(&mut self, webhook: WebhookId) {
        let Some(state) = self.webhooks.get_mut(&webhook) else { return };
        let is_slow = state.is_slow();
        let is_queued = if is_slow { &mut state.is_slow_ready } else { &mut state.is_ready };
        if !std::mem::replace(is_queued, true) {
            self.owner_queues.push(state.owner, webhook, is_slow);
        }
    }

    /// The webhook may have something to read.
    pub(super) fn queue_read(&mut self, webhook: WebhookId) {
        self.leave_group(webhook);
        let Some(state) = self.webhooks.get_mut(&webhook) else { return };
        let is_active = state.is_active();
        if is_active == (state.following == Following::Resting) {
            state.following = if is_active { Following::ByItself } else { Following::Resting };
            self.feed.set_active(&state.tail_key, webhook, is_active);
        }
        if is_active && !std::mem::replace(&mut state.is_read_queued, true) {
            self.feed.push(webhook);
        }
    }

    /// Round robin over the owners and over the webhooks of each: a webhook starts one thing and goes to the end of its
    /// queue, so that none waits for another.
    fn dispatch(&mut self) {
        if !self.can_start() || !self.can_read() {
            return;
        }
        while let Some(next) = self.owner_queues.next(self.settings.in_flight_max) {
            let webhook = next.webhook;
            let Some(state) = self.webhooks.get_mut(&webhook) else { continue };
            let is_queued = if next.is_slow { &mut state.is_slow_ready } else { &mut state.is_ready };
            if !std::mem::take(is_queued) {
                // An earlier state of the webhook queued it.
                continue;
            }
            // It has become slow since it was queued: it waits among the slow ones.
            let must_wait = state.is_slow() && !next.is_slow;
            if must_wait || self.start_next(webhook) {
                self.wake(webhook);
            } else {
                self.set_due(webhook);
            }
        }
        self.owner_queues.end_round();
    }

    /// Notes when the webhook next has something to start without a new input.
    fn set_due(&mut self, webhook: WebhookId) {
        let host_asked_at = self.host_asked_at(webhook);
        let Some(state) = self.webhooks.get_mut(&webhook) else { return };
        let next = state.next_due(self.now.wall, host_asked_at, self.settings.retention);
        if state.due != next {
            if let Some(at) = state.due {
                self.due.remove(&(at, webhook));
            }
            if let Some(at) = next {
                self.due.insert((at, webhook));
            }
            state.due = next;
        }
    }

    fn read_for_queued(&mut self) {
        if !self.can_read() {
            return;
        }
        loop {
            // First, so that a webhook that arrives where its group is joins it.
            while let Some(key) = self.feed.pop_tail() {
                self.advance_groups(&key);
            }
            let Some(webhook) = self.feed.pop() else { return };
            if let Some(state) = self.webhooks.get_mut(&webhook) {
                state.is_read_queued = false;
                self.pull(webhook);
            }
        }
    }
}
