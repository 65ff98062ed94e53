//! The simulated world: nodes, a store, receivers and a queue of timed events. One seed determines every step.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use domain::{Ticks, WebhookId};
use store::{
    Deliveries as _, History as _, StoreError, Webhook, WebhookCheckpoint, WebhookQuery, Webhooks as _,
};
use webhooks::egress::Exchange;
use webhooks::engine::{Attempt, Command, Input, TailKey};

use crate::authorization::ALL_SCOPES;

use super::fixture::{Fixture, block_on};
use super::node::{Node, PAUSES, TIMEOUT, WINDOW};
use super::oracle::Oracle;
use super::random::SeededRandom;
use super::receiver::Behaviour;

/// How long faults are injected, and how long the world then runs without any.
pub(crate) const FAULTS: Duration = Duration::from_secs(90);
const RECOVERY: Duration = Duration::from_secs(60);
const RENEW_EVERY: Duration = Duration::from_millis(500);
/// How long an orderly stop waits for attempts in flight, and how often it looks.
const STOP_WAIT: Duration = Duration::from_millis(700);
const STOP_TICK: Duration = Duration::from_millis(20);

/// Something that happens at a moment of simulated time. `incarnation` says which run of the node it belongs to.
pub(crate) enum SimEvent {
    Input {
        node: usize,
        incarnation: u32,
        input: Box<Input>,
    },
    Execute {
        node: usize,
        incarnation: u32,
        command: Box<Command>,
    },
    /// The task of an attempt begins.
    Begin {
        node: usize,
        incarnation: u32,
        attempt_id: u64,
        attempt: Attempt,
    },
    /// Its connection is open.
    Transmit {
        node: usize,
        incarnation: u32,
        attempt_id: u64,
        attempt: Attempt,
        begun: Duration,
    },
    /// Its request reaches the receiver.
    Arrive {
        node: usize,
        incarnation: u32,
        attempt_id: u64,
        attempt: Attempt,
        begun: Duration,
    },
    /// Its response, or its timeout.
    Respond {
        node: usize,
        incarnation: u32,
        attempt_id: u64,
        exchange: Box<Exchange>,
    },
    Wake {
        node: usize,
        incarnation: u32,
    },
    Renew {
        node: usize,
        incarnation: u32,
    },
    RenewOnce {
        node: usize,
        incarnation: u32,
    },
    Stopping {
        node: usize,
        incarnation: u32,
    },
    Poll {
        node: usize,
        incarnation: u32,
    },
    ReadOwners {
        node: usize,
        incarnation: u32,
    },
    Enable(WebhookId),
    Start {
        node: usize,
    },
    Change,
    Fault,
}

impl SimEvent {
    /// The node whose process handles it.
    fn process(&self) -> Option<usize> {
        match self {
            Self::Input { node, .. }
            | Self::Begin { node, .. }
            | Self::Transmit { node, .. }
            | Self::Wake { node, .. }
            | Self::Renew { node, .. }
            | Self::RenewOnce { node, .. }
            | Self::Stopping { node, .. }
            | Self::Poll { node, .. }
            | Self::ReadOwners { node, .. } => Some(*node),
            Self::Execute { .. }
            | Self::Arrive { .. }
            | Self::Respond { .. }
            | Self::Start { .. }
            | Self::Enable(_)
            | Self::Change
            | Self::Fault => None,
        }
    }
}

pub(crate) struct World {
    pub(crate) random: SeededRandom,
    pub(crate) fixture: Fixture,
    pub(crate) nodes: Vec<Node>,
    pub(crate) behaviours: HashMap<String, Behaviour>,
    pub(crate) oracle: Oracle,
    pub(crate) at: Duration,
    pub(crate) is_recovering: bool,
    /// The store never fails.
    pub(crate) has_reliable_store: bool,
    queue: BTreeMap<(Duration, u64), SimEvent>,
    next: u64,
    steps: u64,
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = SeededRandom::new(seed);
        let nodes =
            (0..=u8::try_from(random.below(3)).unwrap()).map(|number| Node::new(number + 1)).collect();
        Self {
            fixture: Fixture::new(seed),
            nodes,
            behaviours: HashMap::new(),
            oracle: Oracle::default(),
            at: Duration::ZERO,
            is_recovering: false,
            has_reliable_store: false,
            queue: BTreeMap::new(),
            next: 0,
            steps: 0,
            random,
        }
    }

    /// Runs through faults and recovery; returns counters with which two runs can be compared.
    pub(crate) fn run(mut self) -> (u64, u64, u64, u64) {
        self.oracle.read_log(&self.fixture.store, self.at);
        for node in 0..self.nodes.len() {
            self.after(Duration::ZERO, SimEvent::Start { node });
        }
        self.after(Duration::ZERO, SimEvent::Fault);
        self.after(Duration::ZERO, SimEvent::Change);
        self.run_until(FAULTS);
        self.for_each_webhook(|world, webhook| {
            world.oracle.check_nothing_forgotten(&world.fixture.store, webhook);
        });
        self.end_faults();
        // Requests that were in flight when the faults ended may still fail.
        self.run_until(FAULTS + TIMEOUT * 2);
        self.enable_disabled_webhooks();
        self.run_until(FAULTS + RECOVERY);
        self.for_each_webhook(|world, webhook| {
            world.oracle.check_all_delivered(&world.fixture.store, webhook);
        });
        (self.steps, self.oracle.attempts, self.oracle.successes, self.oracle.disabled)
    }

    /// One webhook whose receiver accepts the handshake and then behaves as given, without any other fault. Returns the
    /// webhook at the end, and when its first attempt failed. `more_events`: other events follow the first one.
    pub(crate) fn run_with_behaviour(
        mut self,
        behaviour: Behaviour,
        more_events: bool,
    ) -> (Webhook, Option<Ticks>) {
        let id = self.start_one(behaviour);
        if more_events {
            self.after(Duration::from_secs(1), SimEvent::Change);
        }
        self.run_until(TIMEOUT + WINDOW * 2);
        let lanes = block_on(self.fixture.store.lanes(id, usize::MAX)).unwrap();
        (self.webhook(id), lanes.iter().map(|lane| lane.retry.first_failed_at).min())
    }

    /// One webhook whose receiver always fails; its access ends after three quarters of the window, for longer than the
    /// window. Returns whether the service has disabled it at the end of the suspension, three quarters of a window later,
    /// and after the whole window.
    pub(crate) fn run_with_suspension(mut self) -> [bool; 3] {
        let id = self.start_one(Behaviour::RespondsWith(500));
        self.run_until(TIMEOUT + WINDOW * 3 / 4);
        self.set_access_of(id, false);
        let attempts = self.oracle.attempts;
        self.run_until(self.at + WINDOW * 2);
        assert_eq!(self.oracle.attempts, attempts, "nothing is sent to a suspended webhook");
        let mut disabled = [self.webhook(id).disabled.is_some(), false, false];
        self.set_access_of(id, true);
        self.run_until(self.at + WINDOW * 3 / 4);
        assert!(self.oracle.attempts > attempts, "it is tried again");
        disabled[1] = self.webhook(id).disabled.is_some();
        self.run_until(self.at + WINDOW);
        disabled[2] = self.webhook(id).disabled.is_some();
        disabled
    }

    /// One webhook that stays suspended; returns why the service has disabled it after `waits`.
    pub(crate) fn run_suspended_for(mut self, retention: Duration, waits: Duration) -> Option<String> {
        self.nodes[0].retention = retention;
        let id = self.start_one(Behaviour::Healthy);
        self.set_access_of(id, false);
        self.run_until(self.at + waits);
        self.webhook(id).disabled.map(|disabled| disabled.reason)
    }

    fn set_access_of(&mut self, id: WebhookId, has_access: bool) {
        let before = block_on(self.fixture.store.changed_webhooks(0)).unwrap().last_change;
        let owner = self.webhook(id).owner;
        if has_access {
            self.fixture.authorize(owner.tenant.as_str(), owner.client.as_str(), ALL_SCOPES);
        } else {
            self.fixture.withdraw(owner.tenant.as_str(), owner.client.as_str());
        }
        self.access_changed(before);
    }

    fn webhook(&self, id: WebhookId) -> Webhook {
        block_on(self.fixture.store.find_webhook(id)).unwrap().unwrap()
    }

    /// One node and one webhook, whose receiver accepts the handshake and then behaves as given; one event waits.
    fn start_one(&mut self, behaviour: Behaviour) -> WebhookId {
        self.nodes.truncate(1);
        self.has_reliable_store = true;
        self.after(Duration::ZERO, SimEvent::Start { node: 0 });
        let id = self.subscribe_one();
        self.run_until(TIMEOUT);
        for current in self.behaviours.values_mut() {
            *current = behaviour;
        }
        let webhook = block_on(self.fixture.store.find_webhook(id)).unwrap().unwrap();
        assert!(webhook.flags().is_active(), "the receiver accepts the handshake");
        self.fixture.apply_record_change(
            webhook.owner.tenant.as_str(),
            webhook.resource,
            0,
            r#""action":"upsert","data":{}"#,
        );
        self.oracle.read_log(&self.fixture.store, self.at);
        id
    }

    fn for_each_webhook(&self, check: impl Fn(&Self, &Webhook)) {
        for webhook in self.webhooks() {
            check(self, &webhook);
        }
    }

    pub(crate) fn webhooks(&self) -> Vec<Webhook> {
        block_on(
            self.fixture.store.webhooks(&WebhookQuery { rows_max: usize::MAX, ..WebhookQuery::default() }),
        )
        .unwrap()
    }

    pub(crate) fn after(&mut self, pause: Duration, event: SimEvent) {
        self.next += 1;
        self.queue.insert((self.at + pause, self.next), event);
    }

    pub(crate) fn run_until(&mut self, end: Duration) {
        while let Some(first) = self.queue.first_entry().filter(|first| first.key().0 < end) {
            let ((at, _), event) = first.remove_entry();
            self.at = at;
            self.steps += 1;
            assert!(self.steps < 2_000_000, "the engine never becomes idle");
            self.fixture.set_time(at);
            self.handle(event);
        }
        self.at = end;
    }

    fn handle(&mut self, event: SimEvent) {
        if let Some(until) =
            event.process().map(|node| self.nodes[node].stalled_until).filter(|until| *until > self.at)
        {
            return self.after(until.saturating_sub(self.at), event);
        }
        match event {
            SimEvent::Input { node, incarnation, input } => self.input(node, incarnation, *input),
            SimEvent::Wake { node, incarnation } => self.input(node, incarnation, Input::Tick),
            SimEvent::Execute { node, incarnation, command } => self.execute(node, incarnation, *command),
            SimEvent::Begin { node, incarnation, attempt_id, attempt } => {
                self.begin(node, incarnation, attempt_id, attempt);
            }
            SimEvent::Transmit { node, incarnation, attempt_id, attempt, begun } => {
                self.transmit(node, incarnation, attempt_id, attempt, begun);
            }
            SimEvent::Arrive { node, incarnation, attempt_id, attempt, begun } => {
                self.request_arrives(node, incarnation, attempt_id, &attempt, begun);
            }
            SimEvent::Respond { node, incarnation, attempt_id, exchange } => {
                self.oracle.attempt_ended((node, incarnation, attempt_id));
                let input = Box::new(Input::AttemptFinished { attempt_id, exchange: *exchange });
                self.after(Duration::ZERO, SimEvent::Input { node, incarnation, input });
            }
            SimEvent::Renew { node, incarnation } => {
                if self.nodes[node].incarnation == incarnation {
                    let next = self.renew(node);
                    self.after(next, SimEvent::Renew { node, incarnation });
                }
            }
            SimEvent::RenewOnce { node, incarnation } => {
                if self.nodes[node].incarnation == incarnation {
                    self.renew(node);
                }
            }
            SimEvent::Stopping { node, incarnation } => self.stopping(node, incarnation),
            SimEvent::Poll { node, incarnation } => self.poll(node, incarnation),
            SimEvent::ReadOwners { node, incarnation } => self.read_owners(node, incarnation),
            SimEvent::Enable(webhook) => self.enable(webhook),
            SimEvent::Start { node } => self.start(node),
            SimEvent::Change => self.change(),
            SimEvent::Fault => self.inject_fault(),
        }
    }

    /// Stops every node and drops what they had in flight.
    pub(crate) fn stop_all(&mut self) {
        self.nodes.iter_mut().for_each(Node::crash);
        self.queue.retain(|_, event| {
            matches!(event, SimEvent::Change | SimEvent::Fault | SimEvent::Start { .. } | SimEvent::Enable(_))
        });
    }

    fn start(&mut self, node: usize) {
        let (seed, at) = (self.random.number(), self.at);
        if self.nodes[node].core.is_none() {
            self.nodes[node].start(seed, at);
            let incarnation = self.nodes[node].incarnation;
            self.after(Duration::ZERO, SimEvent::Renew { node, incarnation });
            self.after(Duration::ZERO, SimEvent::Poll { node, incarnation });
        }
    }

    pub(crate) fn input(&mut self, node: usize, incarnation: u32, input: Input) {
        let at = self.at;
        let own = &mut self.nodes[node];
        let moment = own.moment(at);
        let Some(core) = own.core.as_mut().filter(|_| own.incarnation == incarnation) else { return };
        core.handle(moment, input);
        core.observe_access(own.access_version);
        let commands = core.settle(moment);
        let next_wakeup = core.next_wakeup();
        for command in commands {
            if let Command::Send { attempt_id, attempt } = command {
                let pause = self.random.span(0..2);
                self.after(pause, SimEvent::Begin { node, incarnation, attempt_id, attempt });
            } else if let Command::GiveShards(shards) = command {
                self.nodes[node].gives.extend(shards);
                self.after(Duration::from_millis(10), SimEvent::RenewOnce { node, incarnation });
            } else {
                let pause = self.random.span(0..20);
                self.after(pause, SimEvent::Execute { node, incarnation, command: Box::new(command) });
            }
        }
        if let Some(pause) = next_wakeup {
            let pause = pause.clamp(Duration::from_micros(1), Duration::from_secs(1));
            self.after(pause, SimEvent::Wake { node, incarnation });
        }
    }

    /// A command reaches the store. A checkpoint that was in flight when its node crashed may still be written.
    fn execute(&mut self, node: usize, incarnation: u32, command: Command) {
        let is_alive = self.nodes[node].incarnation == incarnation;
        let is_write = matches!(command, Command::Checkpoint(_));
        let still_arrives = is_alive || (is_write && self.random.percent(50));
        if !still_arrives {
            return;
        }
        if self.nodes[node].is_cut_off(self.at) {
            let pause = Duration::from_millis(200);
            match command.failure() {
                Some(input) => {
                    self.after(pause, SimEvent::Input { node, incarnation, input: Box::new(input) });
                }
                None => {
                    self.after(pause, SimEvent::Execute { node, incarnation, command: Box::new(command) });
                }
            }
            return;
        }
        let fails = !self.is_recovering && !self.has_reliable_store && self.random.percent(2);
        let input = match command {
            Command::Checkpoint(checkpoints) => self.checkpoint(&checkpoints, fails),
            command => command.failure().filter(|_| fails).unwrap_or_else(|| self.read(command)),
        };
        let pause = self.random.span(0..20);
        self.after(pause, SimEvent::Input { node, incarnation, input: Box::new(input) });
    }

    fn read(&self, command: Command) -> Input {
        let store = &self.fixture.store;
        match command {
            Command::LoadShard { shard, fence, after } => {
                let webhooks = block_on(store.load_webhooks(shard, after, 2)).unwrap();
                Input::ShardLoaded { shard, fence, is_last: webhooks.len() < 2, webhooks }
            }
            Command::LoadWebhook { webhook, reload } => {
                let loaded = block_on(store.load_webhook(webhook)).unwrap().map(Box::new);
                Input::WebhookLoaded { webhook, reload, loaded }
            }
            Command::ReadTail { key, after, serial, rows_max } => {
                let read =
                    block_on(store.read_tail(&key.tenant, key.resource, after, rows_max)).map_err(drop);
                Input::TailRead { key, after, serial, read }
            }
            Command::ReadRecord { webhook, epoch, key, record_key, after, upto } => {
                let TailKey { tenant, resource } = key;
                let read = block_on(store.read_record_tail(&tenant, resource, record_key, after, upto, 64))
                    .map_err(drop);
                Input::RecordRead { webhook, epoch, record_key, upto, read }
            }
            Command::ReadHead { webhook, number, tenant } => {
                let head = block_on(store::ChangeLog::log_bounds(store, &tenant))
                    .map(|bounds| bounds.head)
                    .map_err(drop);
                Input::HeadRead { webhook, number, head }
            }
            Command::Send { .. } | Command::Checkpoint(_) | Command::GiveShards(_) => unreachable!(),
        }
    }

    /// A checkpoint that fails may have been written all the same.
    fn checkpoint(&mut self, checkpoints: &[WebhookCheckpoint], fails: bool) -> Input {
        if fails && self.random.percent(50) {
            return Input::CheckpointWritten(Err(()));
        }
        let results: Result<_, StoreError> = block_on(self.fixture.store.checkpoint(checkpoints.to_vec()));
        let results = results.unwrap();
        let attempts_min = u32::try_from(PAUSES.len()).unwrap();
        self.oracle.checkpoint_written(checkpoints, &results, WINDOW, attempts_min);
        for checkpoint in checkpoints {
            self.check(checkpoint.webhook);
        }
        Input::CheckpointWritten(if fails { Err(()) } else { Ok(results) })
    }

    pub(crate) fn check(&self, webhook: WebhookId) {
        let webhook = block_on(self.fixture.store.find_webhook(webhook)).unwrap().unwrap();
        self.oracle.check_nothing_forgotten(&self.fixture.store, &webhook);
    }

    /// Renews the node's leases; returns when to renew next.
    fn renew(&mut self, node: usize) -> Duration {
        let (at, incarnation) = (self.at, self.nodes[node].incarnation);
        let own = &self.nodes[node];
        if own.core.is_none() || own.is_cut_off(at) || own.stops_at.is_some() {
            return RENEW_EVERY;
        }
        if own.changes_read_upto.is_none() {
            return STOP_TICK;
        }
        let renewal = self.nodes[node].renewal(at);
        let renewed = block_on(self.fixture.store.renew_shard_leases(&renewal)).unwrap();
        self.nodes[node].shards_held = renewed.held.len();
        if renewed.given > 0 {
            self.shards_released();
        }
        let (until, given) = (at + renewal.lease, renewal.gives);
        let input = Input::ShardsLeased { shards: renewed.held, until, asked: renewed.asked, given };
        let answered = self.nodes[node].renewal_answered.max(at) + self.random.span(1..50);
        self.nodes[node].renewal_answered = answered;
        self.after(
            answered.saturating_sub(at),
            SimEvent::Input { node, incarnation, input: Box::new(input) },
        );
        let expiry = renewed.next_expiry.map(|expiry| expiry + Duration::from_millis(10));
        expiry.map_or(RENEW_EVERY, |expiry| expiry.min(RENEW_EVERY))
    }

    /// The longest that any receiver has waited for an event; without the one at this address.
    pub(crate) fn longest_wait_except(&self, url: &str) -> Duration {
        let webhooks = self.webhooks().into_iter().filter(|webhook| webhook.url != url);
        let wait = |webhook: &Webhook| self.oracle.longest_wait(&self.fixture.store, webhook, self.at);
        webhooks.map(|webhook| wait(&webhook)).max().unwrap_or_default()
    }

    /// How many shards each node held at its last renewal.
    pub(crate) fn shards_held(&self) -> Vec<usize> {
        self.nodes.iter().map(|node| node.shards_held).collect()
    }

    /// Most nodes get a signal and renew at once.
    fn shards_released(&mut self) {
        for node in 0..self.nodes.len() {
            if self.random.percent(85) {
                let (incarnation, pause) = (self.nodes[node].incarnation, self.random.span(0..30));
                self.after(pause, SimEvent::RenewOnce { node, incarnation });
            }
        }
    }

    /// Begins an orderly stop.
    pub(crate) fn stop(&mut self, node: usize) {
        let (at, own) = (self.at, &mut self.nodes[node]);
        let Some(core) = own.core.as_mut().filter(|_| own.stops_at.is_none()) else { return };
        core.stop();
        own.stops_at = Some(at + STOP_WAIT);
        let incarnation = own.incarnation;
        self.after(Duration::ZERO, SimEvent::Stopping { node, incarnation });
    }

    /// Ends an orderly stop when nothing is in flight, or after its time.
    fn stopping(&mut self, node: usize, incarnation: u32) {
        self.input(node, incarnation, Input::Tick);
        let at = self.at;
        let own = &mut self.nodes[node];
        let (Some(core), Some(stops_at)) = (&own.core, own.stops_at) else { return };
        if own.incarnation != incarnation {
            return;
        }
        if !core.is_idle() && at < stops_at {
            return self.after(STOP_TICK, SimEvent::Stopping { node, incarnation });
        }
        let id = own.id;
        own.crash();
        self.oracle.attempts_abandoned(node, incarnation);
        block_on(self.fixture.store.release_shards(id)).unwrap();
        self.shards_released();
    }
}
