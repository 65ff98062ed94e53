//! A world: nodes, a store, receivers, and a queue of what happens when. Every step comes from one seed.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use domain::{Ticks, WebhookId};
use store::{
    Deliveries as _, History as _, StoreError, Webhook, WebhookCheckpoint, WebhookQuery, Webhooks as _,
};
use webhooks::engine::{Command, FeedKey, Input, Knock};

use super::chance::Chance;
use super::machine::{LEASE, Machine, PAUSES, TIMEOUT, WINDOW};
use super::oracle::Oracle;
use super::receiver::{Mood, takes, timed_out};
use super::stage::{Stage, now};

/// How long everything goes wrong, and how long everything is well again.
const TROUBLE: Duration = Duration::from_secs(90);
const PEACE: Duration = Duration::from_secs(60);
const RENEW_EVERY: Duration = Duration::from_millis(1500);
const POLL_EVERY: Duration = Duration::from_millis(900);

/// What happens.
pub(crate) enum Happening {
    Input { node: usize, flags: u32, input: Box<Input> },
    Do { node: usize, flags: u32, command: Box<Command> },
    Arrive { node: usize, flags: u32, flight: u64, knock: Knock },
    Wake { node: usize, flags: u32 },
    Renew { node: usize, flags: u32 },
    Poll { node: usize, flags: u32 },
    Start { node: usize },
    Change,
    RetryState,
}

pub(crate) struct World {
    pub(crate) chance: Chance,
    pub(crate) stage: Stage,
    pub(crate) nodes: Vec<Machine>,
    pub(crate) moods: HashMap<String, Mood>,
    pub(crate) oracle: Oracle,
    pub(crate) at: Duration,
    pub(crate) is_peace: bool,
    /// The store never fails.
    pub(crate) is_calm: bool,
    queue: BTreeMap<(Duration, u64), Happening>,
    next: u64,
    steps: u64,
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        let mut chance = Chance::new(seed);
        let nodes =
            (0..=u8::try_from(chance.below(2)).unwrap()).map(|number| Machine::new(number + 1)).collect();
        Self {
            stage: Stage::new(seed),
            nodes,
            moods: HashMap::new(),
            oracle: Oracle::default(),
            at: Duration::ZERO,
            is_peace: false,
            is_calm: false,
            queue: BTreeMap::new(),
            next: 0,
            steps: 0,
            chance,
        }
    }

    /// Lives through the trouble and the peace after it; tells what was counted, to compare runs.
    pub(crate) fn live(mut self) -> (u64, u64, u64, u64) {
        self.oracle.learn(&self.stage.store);
        for node in 0..self.nodes.len() {
            self.after(Duration::ZERO, Happening::Start { node });
        }
        self.after(Duration::ZERO, Happening::RetryState);
        self.after(Duration::ZERO, Happening::Change);
        self.run_until(TROUBLE);
        self.all_webhooks(|world, webhook| world.oracle.nothing_is_forgotten(&world.stage.store, webhook));
        self.make_peace();
        // What was on its way when peace came may still fail.
        self.run_until(TROUBLE + TIMEOUT * 2);
        self.enable_the_disabled();
        self.run_until(TROUBLE + PEACE);
        self.all_webhooks(|world, webhook| world.oracle.all_is_delivered(&world.stage.store, webhook));
        (self.steps, self.oracle.attempts, self.oracle.successes, self.oracle.disabled)
    }

    /// One webhook whose receiver accepts, and from its first event on is in this mood, while nothing else goes wrong:
    /// the webhook at the end, and when its first attempt failed. `goes_on`: more events follow the first.
    pub(crate) fn live_with(mut self, mood: Mood, goes_on: bool) -> (Webhook, Option<Ticks>) {
        self.nodes.truncate(1);
        self.is_calm = true;
        self.after(Duration::ZERO, Happening::Start { node: 0 });
        let id = self.subscribe_one();
        self.run_until(TIMEOUT);
        for of_one in self.moods.values_mut() {
            *of_one = mood;
        }
        let webhook = now(self.stage.store.find_webhook(id)).unwrap().unwrap();
        assert!(webhook.flags().is_active(), "it has accepted");
        self.stage.change_of(
            webhook.owner.tenant.as_str(),
            webhook.resource,
            0,
            r#""action":"upsert","data":{}"#,
        );
        self.oracle.learn(&self.stage.store);
        if goes_on {
            self.after(Duration::from_secs(1), Happening::Change);
        }
        self.run_until(TIMEOUT + WINDOW * 2);
        let webhook = now(self.stage.store.find_webhook(id)).unwrap().unwrap();
        let lanes = now(self.stage.store.lanes(id, usize::MAX)).unwrap();
        (webhook, lanes.iter().map(|lane| lane.retry.first_failed_at).min())
    }

    pub(crate) fn all_webhooks(&self, tell: impl Fn(&Self, &Webhook)) {
        for webhook in self.webhooks() {
            tell(self, &webhook);
        }
    }

    pub(crate) fn webhooks(&self) -> Vec<Webhook> {
        now(self.stage.store.webhooks(&WebhookQuery { rows_max: usize::MAX, ..WebhookQuery::default() }))
            .unwrap()
    }

    pub(crate) fn after(&mut self, pause: Duration, happening: Happening) {
        self.next += 1;
        self.queue.insert((self.at + pause, self.next), happening);
    }

    fn run_until(&mut self, end: Duration) {
        while let Some(first) = self.queue.first_entry().filter(|first| first.key().0 < end) {
            let ((at, _), happening) = first.remove_entry();
            self.at = at;
            self.steps += 1;
            assert!(self.steps < 2_000_000, "the engine does not come to rest");
            self.stage.turn_to(at);
            self.happen(happening);
        }
        self.at = end;
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Input { node, flags, input } => self.input(node, flags, *input),
            Happening::Wake { node, flags } => self.input(node, flags, Input::Tick),
            Happening::Do { node, flags, command } => self.execute(node, flags, *command),
            Happening::Arrive { node, flags, flight, knock } => self.arrive(node, flags, flight, &knock),
            Happening::Renew { node, flags } => self.renew(node, flags),
            Happening::Poll { node, flags } => self.poll(node, flags),
            Happening::Start { node } => self.start(node),
            Happening::Change => self.change(),
            Happening::RetryState => self.retry(),
        }
    }

    /// Every node ends in order, and takes with it what it had begun.
    pub(crate) fn stop_all(&mut self) {
        self.nodes.iter_mut().for_each(Machine::crash);
        self.queue.retain(|_, happening| {
            matches!(happening, Happening::Change | Happening::RetryState | Happening::Start { .. })
        });
    }

    fn start(&mut self, node: usize) {
        let (seed, at) = (self.chance.number(), self.at);
        if self.nodes[node].core.is_none() {
            self.nodes[node].start(seed, at);
            let flags = self.nodes[node].flags;
            self.after(Duration::ZERO, Happening::Renew { node, flags });
            self.after(Duration::ZERO, Happening::Poll { node, flags });
        }
    }

    pub(crate) fn input(&mut self, node: usize, flags: u32, input: Input) {
        let at = self.at;
        let machine = &mut self.nodes[node];
        let moment = machine.moment(at);
        let Some(core) = machine.core.as_mut().filter(|_| machine.flags == flags) else { return };
        core.handle(moment, input);
        let commands = core.settle(moment);
        let rests_for = core.rests_for();
        let is_deaf = self.nodes[node].is_deaf(at);
        for command in commands {
            if let Command::Knock { flight, knock } = command {
                self.oracle.starts(&self.stage.store, &knock, at, node, is_deaf);
                let pause = self.chance.span(0..40);
                self.after(pause, Happening::Arrive { node, flags, flight, knock });
            } else {
                let pause = self.chance.span(0..20);
                self.after(pause, Happening::Do { node, flags, command: Box::new(command) });
            }
        }
        if let Some(rest) = rests_for {
            let rest = rest.clamp(Duration::from_micros(1), Duration::from_secs(1));
            self.after(rest, Happening::Wake { node, flags });
        }
    }

    /// A letter arrives, whether or not who sent it still lives.
    fn arrive(&mut self, node: usize, flags: u32, flight: u64, knock: &Knock) {
        let letter = knock.letter(self.nodes[node].moment(self.at).wall);
        self.oracle.arrives(&self.stage.store, knock, &letter);
        let mood = self.moods.get(&knock.target.url).copied().unwrap_or(Mood::Well);
        let (reply, pause) = mood.answer(knock, &letter, &mut self.chance);
        let (reply, pause) = if pause < TIMEOUT { (reply, pause) } else { (timed_out(), TIMEOUT) };
        if takes(knock, &letter, &reply) {
            self.oracle.taken(&self.stage.store, knock);
        }
        self.after(pause, Happening::Input { node, flags, input: Box::new(Input::Reply { flight, reply }) });
    }

    /// A command reaches the store. One that was on its way when its node crashed may still do so.
    fn execute(&mut self, node: usize, flags: u32, command: Command) {
        let is_alive = self.nodes[node].flags == flags;
        let is_write = matches!(command, Command::Checkpoint(_));
        let still_arrives = is_alive || (is_write && self.chance.percent(50));
        if !still_arrives {
            return;
        }
        if self.nodes[node].is_cut_off(self.at) {
            let pause = Duration::from_millis(200);
            match cut_off(command) {
                Ok(input) => self.after(pause, Happening::Input { node, flags, input: Box::new(input) }),
                Err(command) => self.after(pause, Happening::Do { node, flags, command: Box::new(command) }),
            }
            return;
        }
        let fails = !self.is_peace && !self.is_calm && self.chance.percent(2);
        let input = match command {
            Command::Checkpoint(points) => self.checkpoint(&points, fails),
            command if fails => match cut_off(command) {
                Ok(input) => input,
                Err(command) => self.read(command),
            },
            command => self.read(command),
        };
        let pause = self.chance.span(0..20);
        self.after(pause, Happening::Input { node, flags, input: Box::new(input) });
    }

    fn read(&self, command: Command) -> Input {
        let store = &self.stage.store;
        match command {
            Command::LoadShard { shard, fence, after } => {
                let hooks = now(store.load_webhooks(shard, after, 2)).unwrap();
                Input::Shard { shard, fence, is_last: hooks.len() < 2, hooks }
            }
            Command::LoadHook { webhook, load } => {
                let hook = now(store.load_webhook(webhook)).unwrap().map(Box::new);
                Input::LoadedWebhook { webhook, load, hook }
            }
            Command::ReadTail { feed, after, serial, rows_max } => {
                let read = now(store.read_tail(&feed.tenant, feed.resource, after, rows_max)).map_err(drop);
                Input::LogTail { feed, after, serial, read }
            }
            Command::ReadRecord { webhook, epoch, feed, record_key, after, upto } => {
                let FeedKey { tenant, resource } = feed;
                let read =
                    now(store.read_record_tail(&tenant, resource, record_key, after, upto, 64)).map_err(drop);
                Input::Record { webhook, epoch, record_key, upto, read }
            }
            Command::ReadHead { webhook, number, tenant } => {
                let head =
                    now(store::ChangeLog::log_bounds(store, &tenant)).map(|bounds| bounds.head).map_err(drop);
                Input::Head { webhook, number, head }
            }
            Command::Knock { .. } | Command::Checkpoint(_) => unreachable!(),
        }
    }

    /// One that fails may have been written all the same.
    fn checkpoint(&mut self, points: &[WebhookCheckpoint], fails: bool) -> Input {
        if fails && self.chance.percent(50) {
            return Input::Checkpointed(Err(()));
        }
        let verdicts: Result<_, StoreError> = now(self.stage.store.checkpoint(points.to_vec()));
        let verdicts = verdicts.unwrap();
        let attempts_min = u32::try_from(PAUSES.len()).unwrap();
        self.oracle.checkpointed(points, &verdicts, WINDOW, attempts_min);
        for point in points {
            self.check(point.webhook);
        }
        Input::Checkpointed(if fails { Err(()) } else { Ok(verdicts) })
    }

    pub(crate) fn check(&self, webhook: WebhookId) {
        let webhook = now(self.stage.store.find_webhook(webhook)).unwrap().unwrap();
        self.oracle.nothing_is_forgotten(&self.stage.store, &webhook);
    }

    fn renew(&mut self, node: usize, flags: u32) {
        if self.nodes[node].flags != flags {
            return;
        }
        self.after(RENEW_EVERY, Happening::Renew { node, flags });
        if self.nodes[node].is_cut_off(self.at) {
            return;
        }
        let nodes = u32::try_from(self.nodes.iter().filter(|one| one.core.is_some()).count()).unwrap();
        let shards = now(self.stage.store.renew_shard_leases(self.nodes[node].id, nodes, LEASE)).unwrap();
        let input = Input::Held { shards, until: self.at + LEASE };
        let pause = self.chance.span(0..50);
        self.after(pause, Happening::Input { node, flags, input: Box::new(input) });
    }

    /// What a node asks again and again, for what it was not told.
    fn poll(&mut self, node: usize, flags: u32) {
        if self.nodes[node].flags != flags {
            return;
        }
        self.after(POLL_EVERY, Happening::Poll { node, flags });
        if self.nodes[node].is_cut_off(self.at) {
            return;
        }
        let store = &self.stage.store;
        let moved = now(store.changed_webhooks(self.nodes[node].moved)).unwrap();
        self.nodes[node].moved = moved.last_change;
        let mut inputs: Vec<Input> = moved.webhooks.into_iter().map(Input::Touched).collect();
        inputs.push(Input::DisabledOwners(now(store.disabled_owners()).unwrap()));
        inputs.push(Input::Heads(now(store.log_heads()).unwrap()));
        for input in inputs {
            let pause = self.chance.span(0..10);
            self.after(pause, Happening::Input { node, flags, input: Box::new(input) });
        }
    }
}

/// What a read is answered where the store cannot be reached; the others wait.
fn cut_off(command: Command) -> Result<Input, Command> {
    Ok(match command {
        Command::ReadTail { feed, after, serial, .. } => {
            Input::LogTail { feed, after, serial, read: Err(()) }
        }
        Command::ReadRecord { webhook, epoch, record_key, upto, .. } => {
            Input::Record { webhook, epoch, record_key, upto, read: Err(()) }
        }
        Command::ReadHead { webhook, number, .. } => Input::Head { webhook, number, head: Err(()) },
        Command::Checkpoint(_) => Input::Checkpointed(Err(())),
        other => return Err(other),
    })
}
