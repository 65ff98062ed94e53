//! Runs the core: feeds it inputs, executes its commands, and starts the background tasks that produce inputs.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use domain::{Guid, WebhookId};
use store::{ChangeSet, StoreError};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep, timeout};
use web::Tasks;

use super::core::Core;
use super::counts::DeliveryCounts;
use super::log_reader::RECORD_ROWS;
use super::polling::Poll;
use super::ports::{EngineStore, Ports};
use super::send_gate::SendGate;
use super::shard_leases::{ReleaseShards, ShardLeases};
use super::{Attempt, Command, Input, Moment, Settings, TailKey};
use crate::EngineNotifier;
use crate::egress::{EgressError, Exchange};

/// How many inputs the core takes before it settles.
const INPUTS_MAX: usize = 512;
/// The core checks the wall clock at least this often, because it may jump.
const WAKEUP_MAX: Duration = Duration::from_secs(1);
/// When a failed load is repeated.
const RETRY_AFTER: Duration = Duration::from_millis(200);
/// How often a stop looks whether it is done.
const DRAIN_TICK: Duration = Duration::from_millis(20);
/// How many webhooks of a shard one load returns.
const SHARD_ROWS: usize = 500;
/// How long an orderly stop waits for attempts in flight where other nodes wait for the shards; they send again what did
/// not finish.
const HANDOVER_WAIT: Duration = Duration::from_millis(700);

/// A handle on the running engine; cheap to clone.
#[derive(Clone)]
pub struct Engine {
    inputs: InputSender,
    counts: DeliveryCounts,
    leases: Arc<dyn ReleaseShards>,
    /// Closed when the core's task has ended.
    ended: watch::Receiver<()>,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Engine")
    }
}

/// An input, and where to confirm that the core has applied it.
type QueuedInput = (Input, Option<oneshot::Sender<()>>);

#[derive(Clone)]
pub(super) struct InputSender(mpsc::UnboundedSender<QueuedInput>);

impl InputSender {
    pub(super) fn send(&self, input: Input) {
        // The receiver is gone only when the core has ended; then nobody needs the input.
        let _ = self.0.send((input, None));
    }

    /// Sends at once; the future completes when the core has applied the input, or has ended.
    pub(super) fn send_confirmed(&self, input: Input) -> impl Future<Output = ()> + Send + use<> {
        let (confirm, applied) = oneshot::channel();
        let _ = self.0.send((input, Some(confirm)));
        async move {
            let _ = applied.await;
        }
    }
}

impl Engine {
    /// Starts the engine's tasks: `delivery-engine` (the core), `shard-leases`, `webhook-poll` and `commit-listener`. They
    /// end in order once `stopped` says so.
    pub fn start<S: EngineStore + ?Sized>(
        ports: Ports<S>,
        mut settings: Settings,
        node: Guid,
        tasks: &dyn Tasks,
        stopped: watch::Receiver<bool>,
    ) -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        let inputs = InputSender(sender);
        let started = Instant::now();
        settings.is_store_shared = ports.store.is_shared();
        let (leases, renewals_guard) = ShardLeases::new(ports.store.clone(), node, &settings, started);
        let leases = Arc::new(leases);
        let (ended_guard, ended) = watch::channel(());
        let mut seed = [0; 8];
        ports.random.fill(&mut seed);
        let now = Moment { wall: ports.clock.now(), steady: started.elapsed() };
        let timeout = settings.timeout;
        let core = Core::new(settings, u64::from_le_bytes(seed), now);
        let driver = Driver {
            ports,
            inputs: inputs.clone(),
            leases: leases.clone(),
            gate: core.gate(),
            timeout,
            started,
            abandoned: watch::channel(false).0,
        };
        // Before anything is loaded: what changes from now on is signalled, what changed before is loaded.
        let invalidation = driver.ports.store.invalidation();
        invalidation.commit_signal().listen();
        let access_version = invalidation.access_version();
        inputs.send(Input::Committed(ChangeSet { access_version, ..ChangeSet::default() }));
        let counts = core.counts();
        let poll = Arc::new(Poll::new(driver.ports.store.clone(), inputs.clone(), started));
        // What is loaded before the poll knows the last change could change unnoticed.
        let first = poll.begun();
        let renewing = leases.clone().renew(inputs.clone(), first, renewals_guard, stopped.clone());
        let polling = poll.clone().run();
        let listening = poll.listen(leases.renew_soon());
        tasks.spawn("shard-leases", Box::pin(renewing));
        tasks.spawn("webhook-poll", Box::pin(until_stopped(stopped.clone(), polling)));
        tasks.spawn("commit-listener", Box::pin(until_stopped(stopped.clone(), listening)));
        tasks.spawn("delivery-engine", Box::pin(driver.run(core, receiver, stopped, ended_guard)));
        Self { inputs, counts, leases, ended }
    }

    pub fn counts(&self) -> &DeliveryCounts {
        &self.counts
    }

    /// Returns once the core's task has ended: after an orderly stop (attempts finished, progress checkpointed, shards
    /// released) or after a panic.
    pub async fn wait_until_ended(&self) {
        let _ = self.ended.clone().changed().await;
    }

    /// Gives this node's shard leases back, so that other nodes take over at once instead of waiting for them to expire.
    /// An orderly stop does this by itself. It also works, and is meant for, when the core's task has panicked: it needs
    /// none of the engine's tasks and ends the renewal.
    pub async fn release_shards(&self) {
        self.leases.release().await;
    }
}

#[async_trait]
impl EngineNotifier for Engine {
    async fn webhook_changed(&self, webhook: WebhookId) {
        self.inputs.send_confirmed(Input::WebhookChanged(webhook)).await;
    }
}

/// Runs `task` until shutdown.
async fn until_stopped(mut stopped: watch::Receiver<bool>, task: impl Future<Output = ()>) {
    tokio::select! {
        biased;
        _ = stopped.wait_for(|stop| *stop) => {}
        () = task => {}
    }
}

struct Driver<S: ?Sized> {
    ports: Ports<S>,
    inputs: InputSender,
    leases: Arc<ShardLeases<S>>,
    gate: SendGate,
    /// Of one attempt.
    timeout: Duration,
    started: Instant,
    /// Turns true when the stop no longer waits for attempts in flight.
    abandoned: watch::Sender<bool>,
}

impl<S: ?Sized> Clone for Driver<S> {
    fn clone(&self) -> Self {
        let Self { ports, inputs, leases, gate, timeout, started, abandoned } = self;
        Self {
            ports: ports.clone(),
            inputs: inputs.clone(),
            leases: leases.clone(),
            gate: gate.clone(),
            timeout: *timeout,
            started: *started,
            abandoned: abandoned.clone(),
        }
    }
}

impl<S: EngineStore + ?Sized> Driver<S> {
    fn now(&self) -> Moment {
        Moment { wall: self.ports.clock.now(), steady: self.started.elapsed() }
    }

    async fn run(
        self,
        mut core: Core,
        mut inputs: mpsc::UnboundedReceiver<QueuedInput>,
        mut stopped: watch::Receiver<bool>,
        _ended: watch::Sender<()>,
    ) {
        let mut batch = Vec::with_capacity(INPUTS_MAX);
        loop {
            self.settle(&mut core);
            tokio::select! {
                biased;
                _ = stopped.wait_for(|stop| *stop) => break,
                _ = inputs.recv_many(&mut batch, INPUTS_MAX) => {}
                () = sleep(core.next_wakeup().unwrap_or(WAKEUP_MAX).min(WAKEUP_MAX)) => {}
            }
            self.apply(&mut core, &mut batch);
        }
        core.stop();
        let wait_max = if self.ports.store.is_shared() { HANDOVER_WAIT } else { self.timeout + WAKEUP_MAX };
        let drained = timeout(wait_max, async {
            while !core.is_idle() {
                let _ = timeout(DRAIN_TICK, inputs.recv_many(&mut batch, INPUTS_MAX)).await;
                self.apply(&mut core, &mut batch);
                self.settle(&mut core);
            }
        });
        if drained.await.is_err() {
            tracing::warn!("some deliveries did not finish before the stop; they will be sent again");
        }
        // No attempt of this node may reach a receiver after another node has taken its shard.
        self.abandoned.send_replace(true);
        self.leases.release().await;
    }

    fn apply(&self, core: &mut Core, batch: &mut Vec<QueuedInput>) {
        let now = self.now();
        for (input, confirm) in batch.drain(..) {
            core.handle(now, input);
            if let Some(confirm) = confirm {
                let _ = confirm.send(());
            }
        }
    }

    fn settle(&self, core: &mut Core) {
        core.observe_access(self.ports.store.invalidation().access_version());
        for command in core.settle(self.now()) {
            self.execute(command);
        }
    }

    fn execute(&self, command: Command) {
        let driver = self.clone();
        match command {
            Command::Send { attempt_id, attempt } => {
                let report = AttemptReport { inputs: self.inputs.clone(), attempt_id, exchange: None };
                let mut abandoned = self.abandoned.subscribe();
                tokio::spawn(async move {
                    tokio::select! {
                        biased;
                        _ = abandoned.wait_for(|is_abandoned| *is_abandoned) => report.forget(),
                        exchange = driver.send(&attempt) => report.finish(exchange),
                    }
                });
            }
            Command::GiveShards(shards) => self.leases.give(shards),
            command => {
                tokio::spawn(driver.query_store(command));
            }
        }
    }

    async fn send(&self, attempt: &Attempt) -> Exchange {
        let request = match attempt.sign(self.ports.clock.now(), self.timeout) {
            Ok(request) => request,
            Err(error) => return Exchange::failed(error),
        };
        let begun = self.started.elapsed();
        let may_send = || {
            let access_version = self.ports.store.invalidation().access_version();
            self.gate.may_send(attempt, begun, self.started.elapsed(), access_version)
        };
        // Now, before a connection is opened for nothing, and again when it is open.
        if may_send() {
            self.ports.transport.send(request, &may_send).await
        } else {
            Exchange::failed(EgressError::NotAllowed)
        }
    }

    /// Executes a store command and reports its result. Loads are repeated until they succeed; a panic in the store counts
    /// as a failure.
    async fn query_store(self, command: Command) {
        let failure = command.failure();
        let mut next = Some(command);
        while let Some(command) = next.take() {
            let repeated = failure.is_none().then(|| command.clone());
            let store = self.ports.store.clone();
            match tokio::spawn(async move { query(&*store, command).await }).await {
                Ok(Ok(input)) => return self.inputs.send(input),
                Ok(Err(error)) => log_store_error(&error),
                Err(error) => tracing::error!(%error, "a store query of the delivery engine panicked"),
            }
            if repeated.is_some() {
                sleep(RETRY_AFTER).await;
            }
            next = repeated;
        }
        if let Some(failure) = failure {
            self.inputs.send(failure);
        }
    }
}

async fn query<S: EngineStore + ?Sized>(store: &S, command: Command) -> Result<Input, StoreError> {
    Ok(match command {
        Command::LoadShard { shard, fence, after } => {
            let webhooks = store.load_webhooks(shard, after, SHARD_ROWS).await?;
            Input::ShardLoaded { shard, fence, is_last: webhooks.len() < SHARD_ROWS, webhooks }
        }
        Command::LoadWebhook { webhook, reload } => {
            let loaded = store.load_webhook(webhook).await?.map(Box::new);
            Input::WebhookLoaded { webhook, reload, loaded }
        }
        Command::ReadTail { key, after, serial, rows_max } => {
            let tail = store.read_tail(&key.tenant, key.resource, after, rows_max).await?;
            Input::TailRead { key, after, serial, read: Ok(tail) }
        }
        Command::ReadRecord { webhook, epoch, key, record_key, after, upto } => {
            let TailKey { tenant, resource } = key;
            let events =
                store.read_record_tail(&tenant, resource, record_key, after, upto, RECORD_ROWS).await?;
            Input::RecordRead { webhook, epoch, record_key, upto, read: Ok(events) }
        }
        Command::ReadHead { webhook, number, tenant } => {
            let head = store.log_bounds(&tenant).await?.head;
            Input::HeadRead { webhook, number, head: Ok(head) }
        }
        Command::Checkpoint(batch) => Input::CheckpointWritten(Ok(store.checkpoint(batch).await?)),
        // `execute` passes these to the transport and to the leases, not here.
        Command::Send { .. } | Command::GiveShards(_) => Input::Tick,
    })
}

pub(super) fn log_store_error(error: &StoreError) {
    tracing::warn!(%error, "the delivery engine could not reach the store");
}

/// Reports the end of an attempt to the core when it is dropped. So the core also learns of an attempt whose task
/// panicked, and frees its slot; the attempt is retried as an internal failure.
struct AttemptReport {
    inputs: InputSender,
    attempt_id: u64,
    exchange: Option<Exchange>,
}

impl AttemptReport {
    fn finish(mut self, exchange: Exchange) {
        self.exchange = Some(exchange);
    }

    /// The engine has stopped: nobody waits for the result.
    fn forget(mut self) {
        self.exchange = Some(Exchange::failed(EgressError::Internal("the node stops".into())));
    }
}

impl Drop for AttemptReport {
    fn drop(&mut self) {
        let exchange = self.exchange.take().unwrap_or_else(|| {
            tracing::error!(attempt_id = self.attempt_id, "a delivery attempt ended without a result");
            Exchange::failed(EgressError::Internal("the attempt's task panicked".into()))
        });
        let attempt_id = self.attempt_id;
        self.inputs.send(match exchange.result {
            Err(EgressError::NotAllowed) => Input::AttemptNotSent { attempt_id },
            _ => Input::AttemptFinished { attempt_id, exchange },
        });
    }
}
