//! The core of the engine against the memory store. The test decides when attempts end; nothing else takes time.

use std::time::Duration;

use bytes::Bytes;
use domain::retry::Schedule;
use domain::webhook::EventKinds;
use domain::{ClientId, Guid, TenantId, WebhookId};
use store::{AttemptTiming, AuditContext, Deliveries as _, LeaseRenewal, WebhookChange, Webhooks as _};
use webhooks::egress::{EgressError, Exchange, ReceiverResponse};
use webhooks::engine::{Attempt, Command, Core, Input, Moment, Settings, TailKey};

use crate::simulation::fixture::{CLIENTS, Fixture, START, TENANTS, block_on, random_webhook, resources};
use crate::simulation::random::SeededRandom;

pub(super) const TIMEOUT: Duration = Duration::from_secs(5);
pub(super) const SLOTS: usize = 40;
pub(super) const LEASE: Duration = Duration::from_secs(3600);

pub(super) struct World {
    pub(super) fixture: Fixture,
    pub(super) core: Core,
    random: SeededRandom,
    at: Duration,
    /// How far the wall clock is ahead.
    pub(super) ahead: Duration,
    pub(super) in_flight: Vec<(u64, Attempt)>,
    records: u64,
    values: u64,
}

impl World {
    pub(super) fn new() -> Self {
        // Failed attempts are not retried within a test.
        Self::with_pauses(vec![LEASE])
    }

    /// With a store that other nodes use too.
    pub(super) fn shared() -> Self {
        let mut world = Self::new();
        world.core = core_with(Settings { is_store_shared: true, ..settings(vec![LEASE]) }, world.now());
        world
    }

    pub(super) fn with_pauses(pauses: Vec<Duration>) -> Self {
        let (fixture, random) = (Fixture::new(1), SeededRandom::new(1));
        let (at, ahead) = (Duration::ZERO, Duration::ZERO);
        let core = core_with(settings(pauses), Moment { wall: START, steady: at });
        Self { fixture, core, random, at, ahead, in_flight: Vec::new(), records: 0, values: 0 }
    }

    /// The process ends and another one starts.
    pub(super) fn restart(&mut self, pauses: Vec<Duration>) {
        self.core = core_with(settings(pauses), self.now());
        self.in_flight.clear();
        self.start();
    }

    fn now(&self) -> Moment {
        Moment { wall: START + self.at + self.ahead, steady: self.at }
    }

    /// Webhooks of an owner whose receivers have accepted the handshake.
    pub(super) fn webhooks(&mut self, owner: usize, count: usize) {
        self.webhooks_for(owner, count, resources()[0].event_kinds().iter().copied().collect());
    }

    pub(super) fn webhooks_for(&mut self, owner: usize, count: usize, kinds: EventKinds) -> Vec<WebhookId> {
        let mut added = Vec::with_capacity(count);
        for _ in 0..count {
            let mut new = random_webhook(&mut self.random, "https://receiver.example/hook".into());
            new.url = format!("https://receiver.example/{}", new.id);
            (new.owner.tenant, new.owner.client) =
                (TenantId::new(TENANTS[owner]), ClientId::new(CLIENTS[owner]));
            new.resource = resources()[0];
            new.kinds = kinds;
            new.enabled = true;
            let webhook = new.id;
            added.push(webhook);
            block_on(self.fixture.store.subscribe(new, 1000, &AuditContext::default())).unwrap();
            self.input(Input::WebhookChanged(webhook));
        }
        added
    }

    pub(super) fn start(&mut self) {
        self.read_disabled_owners();
        self.renew();
    }

    pub(super) fn read_disabled_owners(&mut self) {
        let disabled = block_on(self.fixture.store.disabled_owners()).unwrap();
        self.input(Input::DisabledOwnersRead { disabled, access_version: 0 });
    }

    /// Leases all shards.
    pub(super) fn renew(&mut self) {
        let renewal = LeaseRenewal::new(Guid::from_bytes([1; 16]), LEASE);
        let shards = block_on(self.fixture.store.renew_shard_leases(&renewal)).unwrap().held;
        let (asked, given) = (Vec::new(), Vec::new());
        self.input(Input::ShardsLeased { shards, until: self.at + LEASE, asked, given });
    }

    pub(super) fn at(&self) -> Duration {
        self.at
    }

    /// Time passes in which nothing happens.
    pub(super) fn wait(&mut self, time: Duration) {
        self.at += time;
        self.fixture.set_time(self.at);
        self.input(Input::Tick);
    }

    /// A change of a new record, of which the core does not know yet.
    pub(super) fn add_change(&mut self, owner: usize) {
        self.records += 1;
        let action = r#""action":"upsert","data":{}"#;
        self.fixture.apply_record_change(TENANTS[owner], resources()[0], self.records, action);
    }

    /// A change of so many new records of an owner's tenant.
    pub(super) fn change(&mut self, owner: usize, records: u64) {
        (0..records).for_each(|_| self.add_change(owner));
        let heads = block_on(self.fixture.store.log_heads()).unwrap();
        self.input(Input::HeadsRead(heads));
    }

    /// A change of one record, whose event the core reads at once.
    pub(super) fn change_record(&mut self, owner: usize, record: u64) {
        self.values += 1;
        let action = format!(r#""action":"upsert","data":{{"value":{}}}"#, self.values);
        self.fixture.apply_record_change(TENANTS[owner], resources()[0], record, &action);
        let heads = block_on(self.fixture.store.log_heads()).unwrap();
        self.input(Input::HeadsRead(heads));
    }

    pub(super) fn delete_record(&mut self, owner: usize, record: u64) {
        self.fixture.apply_record_change(TENANTS[owner], resources()[0], record, r#""action":"delete""#);
        let heads = block_on(self.fixture.store.log_heads()).unwrap();
        self.input(Input::HeadsRead(heads));
    }

    /// The owner changes the webhook; the core learns of it.
    pub(super) fn change_webhook(&mut self, webhook: WebhookId, change: WebhookChange) {
        block_on(self.fixture.store.change_webhook(webhook, None, change, &AuditContext::default())).unwrap();
        self.input(Input::WebhookChanged(webhook));
    }

    /// The sequences of the events in flight.
    pub(super) fn sequences(&self) -> Vec<u64> {
        self.in_flight.iter().filter_map(|(_, attempt)| attempt.sequence()).collect()
    }

    /// Ends one attempt in flight.
    pub(super) fn finish(&mut self, attempt_id: u64, response: ReceiverResponse) {
        self.in_flight.retain(|(id, _)| *id != attempt_id);
        let exchange = Exchange { result: Ok(response), timing: AttemptTiming::default(), reused: false };
        self.input(Input::AttemptFinished { attempt_id, exchange });
    }

    /// Whether the driver may send an attempt that began just now, with this version of access in the process.
    pub(super) fn may_send(&self, attempt: &Attempt, access_version: u64) -> bool {
        self.core.gate().may_send(attempt, self.at, self.at, access_version)
    }

    /// Applies an input; the caller executes the commands.
    pub(super) fn commands(&mut self, input: Input) -> Vec<Command> {
        let now = self.now();
        self.core.handle(now, input);
        self.core.settle(now)
    }

    /// Applies an input and executes all commands but attempts, until there are none left.
    pub(super) fn input(&mut self, input: Input) {
        let now = self.now();
        let mut inputs = vec![input];
        while !inputs.is_empty() {
            inputs.drain(..).for_each(|input| self.core.handle(now, input));
            for command in self.core.settle(now) {
                match command {
                    Command::Send { attempt_id, attempt } => self.in_flight.push((attempt_id, attempt)),
                    command => inputs.push(self.execute(command)),
                }
            }
        }
    }

    pub(super) fn execute(&self, command: Command) -> Input {
        let store = &self.fixture.store;
        match command {
            Command::LoadShard { shard, fence, after } => {
                let webhooks = block_on(store.load_webhooks(shard, after, 1000)).unwrap();
                Input::ShardLoaded { shard, fence, is_last: true, webhooks }
            }
            Command::LoadWebhook { webhook, reload } => {
                let loaded = block_on(store.load_webhook(webhook)).unwrap().map(Box::new);
                Input::WebhookLoaded { webhook, reload, loaded }
            }
            Command::ReadTail { key: TailKey { tenant, resource }, after, serial, rows_max } => {
                let read = block_on(store.read_tail(&tenant, resource, after, rows_max)).map_err(drop);
                Input::TailRead { key: TailKey { tenant, resource }, after, serial, read }
            }
            Command::ReadHead { webhook, number, tenant } => {
                let head = block_on(store::ChangeLog::log_bounds(store, &tenant)).unwrap().head;
                Input::HeadRead { webhook, number, head: Ok(head) }
            }
            Command::Checkpoint(batch) => {
                Input::CheckpointWritten(Ok(block_on(store.checkpoint(batch)).unwrap()))
            }
            Command::ReadRecord { webhook, epoch, key, record_key, after, upto } => {
                let read = store.read_record_tail(&key.tenant, key.resource, record_key, after, upto, 64);
                Input::RecordRead { webhook, epoch, record_key, upto, read: block_on(read).map_err(drop) }
            }
            Command::GiveShards(_) => unreachable!("there is one node"),
            Command::Send { .. } => unreachable!("`input` keeps attempts"),
        }
    }

    /// Ends all attempts in flight, after so long.
    pub(super) fn finish_all(&mut self, took: Duration, result: &Result<ReceiverResponse, EgressError>) {
        self.at += took;
        let timing = AttemptTiming { total: took, ..AttemptTiming::default() };
        for (attempt_id, _) in std::mem::take(&mut self.in_flight) {
            let exchange = Exchange { result: result.clone(), timing, reused: false };
            self.input(Input::AttemptFinished { attempt_id, exchange });
        }
        // Time for a checkpoint.
        self.at += Duration::from_millis(100);
        self.input(Input::Tick);
    }

    pub(super) fn accept_handshakes(&mut self) {
        while self.in_flight.iter().any(|(_, attempt)| attempt.handshake().is_some()) {
            self.finish_all(Duration::from_millis(1), &Ok(accepted()));
        }
    }

    pub(super) fn in_flight_of(&self, owner: usize) -> usize {
        let owned = |id: WebhookId| {
            let webhook = block_on(self.fixture.store.find_webhook(id)).unwrap().unwrap();
            webhook.owner.tenant.as_str() == TENANTS[owner]
        };
        self.in_flight.iter().filter(|(_, attempt)| owned(attempt.target.webhook())).count()
    }
}

fn settings(pauses: Vec<Duration>) -> Settings {
    let schedule = Schedule { pauses, window: LEASE * 24 };
    Settings { in_flight_max: SLOTS, ..Settings::new(schedule, TIMEOUT) }
}

fn core_with(settings: Settings, now: Moment) -> Core {
    Core::new(settings, 1, now)
}

pub(super) fn accepted() -> ReceiverResponse {
    ReceiverResponse { status: 200, sets_cookie: false, retry_after: None, body: Bytes::from_static(b"ok") }
}
