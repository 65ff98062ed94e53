//! The engine's tasks with a real runtime: a panic never leaves a slot or a lease taken, and a stop ends every task.

mod access;
mod backlog;
mod clock_jumps;
mod core_world;
mod giving;
mod handshake;
mod hanging_store;
mod idle_groups;
mod not_sent;
mod order;
mod owner_shares;
mod recent_knowledge;
mod sending;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use domain::retry::Schedule;
use domain::{Clock, Guid, Ticks, WebhookId};
use parking_lot::Mutex;
use store::memory::MemoryStore;
use store::{
    AttemptTiming, AuditContext, Deliveries as _, DeliveryQuery, LeaseRenewal, SHARDS, Webhooks as _,
};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};
use web::{BoxFuture, Tasks};
use webhooks::egress::{Exchange, MaySend, OutboundRequest, ReceiverResponse};
use webhooks::engine::{Engine, Ports, Settings, Transport};

use crate::simulation::fixture::{Fixture, START, random_webhook, resources};
use crate::simulation::random::{RandomBytes, SeededRandom};

const NODE: [u8; 16] = [1; 16];
const OTHER_NODE: [u8; 16] = [2; 16];
/// Long enough for a slow machine; no test waits for it to end.
const LONG_TIMEOUT: Duration = Duration::from_secs(30);

/// All attempts of a webhook.
fn query(webhook: WebhookId) -> DeliveryQuery {
    DeliveryQuery { webhook, before: None, since: None, only_failed: false, rows_max: 1000 }
}

/// Keeps the handles of the tasks, as a supervisor does.
#[derive(Default)]
struct RecordedTasks(Mutex<Vec<(&'static str, JoinHandle<()>)>>);

impl Tasks for RecordedTasks {
    fn spawn(&self, name: &'static str, task: BoxFuture<'static, ()>) {
        self.0.lock().push((name, tokio::spawn(task)));
    }
}

impl RecordedTasks {
    /// Waits until every task has ended; returns the names of those that panicked.
    async fn join_all(&self) -> Vec<&'static str> {
        let tasks = std::mem::take(&mut *self.0.lock());
        let mut panicked = Vec::new();
        for (name, task) in tasks {
            let ended = timeout(LONG_TIMEOUT, task).await;
            if ended.unwrap_or_else(|_| panic!("{name} does not end")).is_err() {
                panicked.push(name);
            }
        }
        panicked
    }
}

/// Moves with real time; panics when told to, and so makes the core panic.
struct TestClock {
    started: Instant,
    panics: AtomicBool,
}

impl Clock for TestClock {
    fn now(&self) -> Ticks {
        assert!(!self.panics.load(Ordering::Relaxed), "the test makes the clock panic");
        START + self.started.elapsed()
    }
}

/// Responds 200, after panicking for the first requests.
struct PanickingTransport {
    panics_left: AtomicUsize,
}

#[async_trait]
impl Transport for PanickingTransport {
    async fn send(&self, _request: OutboundRequest, _may_send: &MaySend<'_>) -> Exchange {
        let left = self.panics_left.load(Ordering::Relaxed);
        if left > 0 {
            self.panics_left.store(left - 1, Ordering::Relaxed);
            panic!("the test makes the attempt panic");
        }
        let body = Bytes::from_static(b"ok");
        let response = ReceiverResponse { status: 200, sets_cookie: false, retry_after: None, body };
        Exchange { result: Ok(response), timing: AttemptTiming::default(), reused: false }
    }
}

struct RunningEngine {
    engine: Engine,
    store: Arc<MemoryStore>,
    clock: Arc<TestClock>,
    tasks: RecordedTasks,
    stop: watch::Sender<bool>,
    webhook: WebhookId,
}

impl RunningEngine {
    /// With one webhook whose handshake is due.
    async fn start(panics: usize) -> Self {
        let fixture = Fixture::new(1);
        let mut new = random_webhook(&mut SeededRandom::new(1), "https://receiver.example/hook".into());
        new.resource = resources()[0];
        new.enabled = true;
        let webhook = new.id;
        let store = Arc::new(fixture.store);
        store.subscribe(new, 100, &AuditContext::default()).await.unwrap();
        let clock = Arc::new(TestClock { started: Instant::now(), panics: AtomicBool::new(false) });
        let ports = Ports {
            store: store.clone(),
            clock: clock.clone(),
            random: Arc::new(RandomBytes(Mutex::new(SeededRandom::new(2)))),
            transport: Arc::new(PanickingTransport { panics_left: AtomicUsize::new(panics) }),
        };
        let schedule = Schedule { pauses: vec![Duration::from_secs(60)], window: Duration::from_secs(600) };
        let mut settings = Settings::new(schedule, Duration::from_secs(5));
        settings.in_flight_max = 1;
        let (stop, stopped) = watch::channel(false);
        let tasks = RecordedTasks::default();
        let engine = Engine::start(ports, settings, Guid::from_bytes(NODE), &tasks, stopped);
        Self { engine, store, clock, tasks, stop, webhook }
    }

    async fn wait_until_accepted(&self) {
        let accepted = async {
            while !self.store.find_webhook(self.webhook).await.unwrap().unwrap().flags().is_active() {
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(LONG_TIMEOUT, accepted).await.expect("the handshake is accepted");
    }

    /// How many shards another node gets at once.
    async fn free_shards(&self) -> usize {
        let mut renewal = LeaseRenewal::new(Guid::from_bytes(OTHER_NODE), Duration::from_secs(10));
        renewal.is_established = false;
        self.store.renew_shard_leases(&renewal).await.unwrap().held.len()
    }
}

#[tokio::test]
async fn attempt_that_panics_frees_its_slot_and_is_retried() {
    let running = RunningEngine::start(2).await;
    running.wait_until_accepted().await;
    assert_eq!(running.engine.counts().in_flight(), 0);
    running.stop.send_replace(true);
    assert_eq!(running.tasks.join_all().await, [""; 0]);
}

#[tokio::test]
async fn stop_ends_every_task_and_releases_the_shards() {
    let running = RunningEngine::start(0).await;
    running.wait_until_accepted().await;
    let names: Vec<&str> = running.tasks.0.lock().iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["shard-leases", "webhook-poll", "commit-listener", "delivery-engine"]);
    assert_eq!(running.free_shards().await, 0);
    running.stop.send_replace(true);
    running.engine.wait_until_ended().await;
    assert_eq!(running.tasks.join_all().await, [""; 0]);
    assert_eq!(running.free_shards().await, usize::from(SHARDS));
}

#[tokio::test]
async fn shards_can_be_released_after_the_core_has_panicked() {
    let running = RunningEngine::start(0).await;
    running.wait_until_accepted().await;
    running.clock.panics.store(true, Ordering::Relaxed);
    running.engine.wait_until_ended().await;
    assert_eq!(running.free_shards().await, 0);
    running.engine.release_shards().await;
    assert_eq!(running.free_shards().await, usize::from(SHARDS));
    running.stop.send_replace(true);
    assert_eq!(running.tasks.join_all().await, ["delivery-engine"]);
}
