//! Runs the core: hands it what happens, does what it says, and asks the store again and again for what nobody told.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use domain::{Clock, Guid, Random, Ticks, WebhookId};
use store::{ChangeLog, Deliveries, Maintenance, Nodes};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use super::core::Core;
use super::counts::Counts;
use super::deliver::RECORD_ROWS;
use super::{Command, FeedKey, Input, Knock, Moment, Reply, Settings, told};
use crate::Nudge;

/// How many inputs are taken in before the core settles.
const INPUTS_MAX: usize = 512;
/// The core looks at its clock at least this often: it may have jumped.
const REST_MAX: Duration = Duration::from_secs(1);
const POLL_EVERY: Duration = Duration::from_secs(1);
const RENEW_EVERY: Duration = Duration::from_millis(1500);
/// A lease outlives an attempt by this much.
const LEASE_BEYOND_TIMEOUT: Duration = Duration::from_secs(5);
/// A node that was silent for this long has no part of the shards any more.
const NODE_SILENCE_MAX: Duration = Duration::from_secs(10);
const RETRY_AFTER: Duration = Duration::from_millis(200);
const SHARD_ROWS: usize = 500;

/// Who carries a letter to a receiver and brings the answer back.
#[async_trait]
pub trait Transport: Send + Sync + 'static {
    async fn knock(&self, knock: &Knock, now: Ticks) -> Reply;
}

/// What of a store the engine needs.
pub trait EngineStore: Deliveries + ChangeLog + Nodes + Maintenance {}

impl<T: Deliveries + ChangeLog + Nodes + Maintenance + ?Sized> EngineStore for T {}

/// What the engine is given from outside.
pub struct Ports<S: ?Sized> {
    pub store: Arc<S>,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    pub transport: Arc<dyn Transport>,
}

impl<S: ?Sized> Clone for Ports<S> {
    fn clone(&self) -> Self {
        let Self { store, clock, random, transport } = self;
        Self {
            store: store.clone(),
            clock: clock.clone(),
            random: random.clone(),
            transport: transport.clone(),
        }
    }
}

impl<S: ?Sized> std::fmt::Debug for Ports<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ports")
    }
}

/// The engine at work; handles are cheap.
#[derive(Clone, Debug)]
pub struct Engine {
    inputs: mpsc::UnboundedSender<Told>,
    counts: Counts,
}

/// An input, and who waits until it is taken in.
type Told = (Input, Option<oneshot::Sender<()>>);

struct Driver<S: ?Sized> {
    ports: Ports<S>,
    inputs: mpsc::UnboundedSender<Told>,
    started: Instant,
}

impl<S: ?Sized> Clone for Driver<S> {
    fn clone(&self) -> Self {
        Self { ports: self.ports.clone(), inputs: self.inputs.clone(), started: self.started }
    }
}

impl Engine {
    /// Starts delivering; ends in order once `stopped` says so.
    pub fn start<S: EngineStore + ?Sized>(
        ports: Ports<S>,
        settings: Settings,
        node: Guid,
        stopped: watch::Receiver<bool>,
    ) -> (Self, JoinHandle<()>) {
        let (inputs, taken) = mpsc::unbounded_channel();
        let driver = Driver { ports, inputs: inputs.clone(), started: Instant::now() };
        let mut seed = [0; 8];
        driver.ports.random.fill(&mut seed);
        let core = Core::new(settings, u64::from_le_bytes(seed), driver.now());
        let counts = core.counts();
        let running = tokio::spawn(driver.run(core, node, taken, stopped));
        (Self { inputs, counts }, running)
    }

    pub fn counts(&self) -> &Counts {
        &self.counts
    }
}

#[async_trait]
impl Nudge for Engine {
    async fn touched(&self, webhook: WebhookId) {
        let (tell, told) = oneshot::channel();
        if self.inputs.send((Input::Touched(webhook), Some(tell))).is_ok() {
            let _ = told.await;
        }
    }
}

impl<S: EngineStore + ?Sized> Driver<S> {
    fn now(&self) -> Moment {
        Moment { wall: self.ports.clock.now(), steady: self.started.elapsed() }
    }

    fn tell(&self, input: Input) {
        // Nobody listens any more where the engine has ended.
        let _ = self.inputs.send((input, None));
    }

    async fn run(
        self,
        mut core: Core,
        node: Guid,
        mut taken: mpsc::UnboundedReceiver<Told>,
        mut stopped: watch::Receiver<bool>,
    ) {
        let timeout_max = core.timeout();
        let beside = [
            tokio::spawn(self.clone().hold(node, timeout_max + LEASE_BEYOND_TIMEOUT)),
            tokio::spawn(self.clone().poll()),
            tokio::spawn(self.clone().listen()),
        ];
        let mut batch = Vec::with_capacity(INPUTS_MAX);
        loop {
            self.settle(&mut core);
            tokio::select! {
                biased;
                _ = stopped.wait_for(|stop| *stop) => break,
                _ = taken.recv_many(&mut batch, INPUTS_MAX) => {}
                () = sleep(core.rests_for().unwrap_or(REST_MAX).min(REST_MAX)) => {}
            }
            self.take_in(&mut core, &mut batch);
        }
        beside.iter().for_each(JoinHandle::abort);
        core.stop();
        let drained = timeout(timeout_max + REST_MAX, async {
            while !core.is_idle() {
                let _ = timeout(RETRY_AFTER, taken.recv_many(&mut batch, INPUTS_MAX)).await;
                self.take_in(&mut core, &mut batch);
                self.settle(&mut core);
            }
        });
        if drained.await.is_err() {
            tracing::warn!("some deliveries were still under way at the end; they will be repeated");
        }
        if let Err(error) = self.ports.store.release_shards(node).await {
            tracing::warn!(%error, "other nodes will notice by themselves that this one delivers no more");
        }
    }

    fn take_in(&self, core: &mut Core, batch: &mut Vec<Told>) {
        let now = self.now();
        for (input, waits) in batch.drain(..) {
            core.handle(now, input);
            if let Some(waits) = waits {
                let _ = waits.send(());
            }
        }
    }

    fn settle(&self, core: &mut Core) {
        for command in core.settle(self.now()) {
            self.execute(command);
        }
    }

    fn execute(&self, command: Command) {
        let driver = self.clone();
        match command {
            Command::Knock { flight, knock } => tokio::spawn(async move {
                let now = driver.ports.clock.now();
                let reply = driver.ports.transport.knock(&knock, now).await;
                driver.tell(Input::Reply { flight, reply });
            }),
            command => tokio::spawn(async move {
                let input = driver.ask(command).await;
                driver.tell(input);
            }),
        };
    }

    /// Does what is to be done at the store. What has to come is asked for until it comes.
    async fn ask(&self, command: Command) -> Input {
        let store = &self.ports.store;
        match command {
            Command::LoadShard { shard, fence, after } => loop {
                if let Ok(hooks) = told(store.load_webhooks(shard, after, SHARD_ROWS).await) {
                    return Input::Shard { shard, fence, is_last: hooks.len() < SHARD_ROWS, hooks };
                }
                sleep(RETRY_AFTER).await;
            },
            Command::LoadHook { webhook, load } => loop {
                if let Ok(hook) = told(store.load_webhook(webhook).await) {
                    return Input::LoadedWebhook { webhook, load, hook: hook.map(Box::new) };
                }
                sleep(RETRY_AFTER).await;
            },
            Command::ReadTail { feed, after, serial, rows_max } => {
                let read = told(store.read_tail(&feed.tenant, feed.resource, after, rows_max).await);
                Input::LogTail { feed, after, serial, read }
            }
            Command::ReadRecord { webhook, epoch, feed, record_key, after, upto } => {
                let FeedKey { tenant, resource } = feed;
                let read =
                    store.read_record_tail(&tenant, resource, record_key, after, upto, RECORD_ROWS).await;
                Input::Record { webhook, epoch, record_key, upto, read: told(read) }
            }
            Command::ReadHead { webhook, number, tenant } => {
                let head = told(store.log_bounds(&tenant).await).map(|bounds| bounds.head);
                Input::Head { webhook, number, head }
            }
            Command::Checkpoint(points) => Input::Checkpointed(told(store.checkpoint(points).await)),
            // Is done by others.
            Command::Knock { .. } => Input::Tick,
        }
    }

    /// Holds this node's part of the shards, as long as it can.
    async fn hold(self, node: Guid, lease: Duration) {
        let store = &self.ports.store;
        loop {
            // Counted from before it was asked for: the store's lease ends later, never earlier.
            let from = self.started.elapsed();
            let nodes =
                if store.is_shared() { store.register_node(node, NODE_SILENCE_MAX).await } else { Ok(1) };
            let held = match nodes {
                Ok(nodes) => store.renew_shard_leases(node, nodes, lease).await,
                Err(error) => Err(error),
            };
            if let Ok(shards) = told(held) {
                self.tell(Input::Held { shards, until: from + lease });
            }
            sleep(RENEW_EVERY).await;
        }
    }

    /// Looks for what nobody told.
    async fn poll(self) {
        let mut since = None;
        loop {
            self.look(&mut since).await;
            sleep(POLL_EVERY).await;
        }
    }

    /// `since`: none before the first look, for then everything is read as a whole.
    async fn look(&self, since: &mut Option<u64>) {
        let store = &self.ports.store;
        if let Ok(moved) = told(store.changed_webhooks(since.unwrap_or(u64::MAX >> 1)).await) {
            for webhook in moved.webhooks {
                self.tell(Input::Touched(webhook));
            }
            *since = Some(moved.last_change);
        }
        self.look_who_rests().await;
        if let Ok(heads) = told(store.log_heads().await) {
            self.tell(Input::Heads(heads));
        }
    }

    async fn look_who_rests(&self) {
        if let Ok(suspended) = told(self.ports.store.disabled_owners().await) {
            self.tell(Input::DisabledOwners(suspended));
        }
    }

    /// Hears of what has moved at once. Rings are joined while the core is busy.
    async fn listen(self) {
        let commit_signal = self.ports.store.invalidation().commit_signal();
        commit_signal.listen();
        let mut since = None;
        loop {
            let changes = commit_signal.wait().await;
            let (access, all) = (changes.access, changes.all);
            let (tell, told) = oneshot::channel();
            if self.inputs.send((Input::Rang(changes), Some(tell))).is_err() {
                return;
            }
            if access {
                self.look_who_rests().await;
            }
            if all {
                self.look(&mut since).await;
            }
            let _ = told.await;
        }
    }
}
