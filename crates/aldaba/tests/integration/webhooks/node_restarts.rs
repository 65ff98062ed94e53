//! How long webhooks are silent while nodes over one PostgreSQL database crash and restart.

use std::collections::HashMap;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use super::nodes::{held, start_with, subscribe, wait_active, wait_shared};
use web::Stopwatch;

use crate::harness::{
    ApiFixture, Database, IngestClient, Receiver, ServeProcess, SubscriptionKeys, company, customer, wait_for,
};

const WEBHOOKS: usize = 36;
const CHANGE_EVERY: Duration = Duration::from_millis(100);
/// Of a busy machine that runs many tests, on top of what the engine promises.
const SLACK: Duration = Duration::from_secs(3);

/// The time-out of deliveries: short, so that the tests are; `ALDABA_TEST_DELIVERY_TIMEOUT` sets another.
fn delivery_timeout() -> Duration {
    let seconds = std::env::var("ALDABA_TEST_DELIVERY_TIMEOUT").ok();
    Duration::from_secs(seconds.map_or(1, |seconds| seconds.parse().unwrap()))
}

fn settings() -> Vec<String> {
    vec![
        "gateway.rate_per_minute=0".to_owned(),
        "egress.loopback=true".to_owned(),
        format!("delivery.timeout={}s", delivery_timeout().as_secs()),
        "delivery.share_after=8s".to_owned(),
    ]
}

/// The longest pause between two deliveries to each webhook.
#[derive(Clone, Default)]
struct Silences(Arc<Mutex<HashMap<String, (Stopwatch, Duration)>>>);

impl Silences {
    fn watch(receiver: &Receiver) -> Self {
        let silences = Self::default();
        let watching = silences.clone();
        receiver.respond_with(move |request| {
            if request.record().is_some() {
                watching.heard(&request.target);
            }
            Some((200, ""))
        });
        silences
    }

    fn heard(&self, target: &str) {
        let mut heard = self.0.lock().unwrap();
        let (last, longest) = heard.entry(target.to_owned()).or_insert((Stopwatch::start(), Duration::ZERO));
        *longest = last.elapsed().max(*longest);
        *last = Stopwatch::start();
    }

    /// The longest pause of any webhook since the last call, those that go on included.
    fn longest(&self) -> Duration {
        let mut heard = self.0.lock().unwrap();
        assert_eq!(heard.len(), WEBHOOKS, "every webhook gets events");
        let pauses = heard.values().map(|(last, longest)| last.elapsed().max(*longest));
        let longest = pauses.max().unwrap_or_default();
        heard.values_mut().for_each(|(_, longest)| *longest = Duration::ZERO);
        longest
    }
}

/// Changes a record all the time, through one node after the other that answers.
struct Feeder {
    stop: mpsc::Sender<()>,
    thread: Option<JoinHandle<()>>,
    ingest: Arc<Mutex<IngestClient>>,
}

impl Feeder {
    fn start(ingest: IngestClient) -> Self {
        let (stop, stopped) = mpsc::channel();
        let ingest = Arc::new(Mutex::new(ingest));
        let through = ingest.clone();
        let thread = std::thread::spawn(move || {
            let mut number = 0;
            while stopped.recv_timeout(CHANGE_EVERY) == Err(RecvTimeoutError::Timeout) {
                number += 1;
                let record = customer("c", &format!("r{}", number % 40), &format!("change {number}"));
                through.lock().unwrap().send_lines(&[record]);
            }
        });
        Self { stop, thread: Some(thread), ingest }
    }

    fn through(&self, ingest: IngestClient) {
        *self.ingest.lock().unwrap() = ingest;
    }

    fn end(mut self) {
        let _ = self.stop.send(());
        self.thread.take().unwrap().join().unwrap();
    }
}

struct Scene {
    nodes: Vec<ServeProcess>,
    silences: Silences,
    feeder: Feeder,
    tenant: String,
    _receiver: Receiver,
    _database: Database,
}

impl Scene {
    /// Three nodes that share the webhooks, and changes all the time.
    fn new() -> Self {
        let (database, receiver) = (Database::create(), Receiver::open());
        let settings = settings();
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let nodes = start_with(&database, 3, &settings);
        let silences = Silences::watch(&receiver);
        let api = ApiFixture::on(&nodes[0], &SubscriptionKeys::new(&nodes[0], &[]));
        api.ingest.send_lines(&[company("c")]);
        for number in 0..WEBHOOKS {
            subscribe(&api, &receiver.url(&format!("/{number}")));
        }
        wait_active(&api, WEBHOOKS);
        let ingest = api.ingest.clone();
        let tenant = ingest.tenant.clone();
        drop(api);
        wait_shared(&nodes.iter().collect::<Vec<_>>(), WEBHOOKS as u64);
        let feeder = Feeder::start(ingest);
        wait_for("the first deliveries", || (silences.0.lock().unwrap().len() == WEBHOOKS).then_some(()));
        silences.longest();
        Self { nodes, silences, feeder, tenant, _receiver: receiver, _database: database }
    }

    /// Waits until the other nodes deliver for all webhooks.
    fn wait_taken_over(&self, without: usize) {
        wait_for("the other nodes to take over", || {
            let others = self.nodes.iter().enumerate().filter(|(number, _)| *number != without);
            (others.map(|(_, node)| held(node)).sum::<u64>() == WEBHOOKS as u64).then_some(())
        });
    }

    fn replace(&mut self, number: usize, start: impl FnOnce(ServeProcess) -> ServeProcess) {
        let node = self.nodes.remove(number);
        self.nodes.insert(number, start(node));
    }
}

fn restart(installation: crate::harness::Installation) -> ServeProcess {
    let settings = settings();
    ServeProcess::start(installation, &settings.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn a_node_in_a_crash_loop_silences_webhooks_for_one_lease_only() {
    let mut scene = Scene::new();
    scene.nodes[2].process.kill();
    scene.wait_taken_over(2);
    let first = scene.silences.longest();
    eprintln!("longest silence after a crash: {:.1} s", first.as_secs_f32());
    assert!(first < delivery_timeout() + Duration::from_secs(3) + SLACK, "{first:?}");
    for _ in 0..4 {
        scene.replace(2, |node| restart(node.into_installation()));
        scene.nodes[2].process.kill();
    }
    let later = scene.silences.longest();
    eprintln!("longest silence while the node starts and crashes: {:.1} s", later.as_secs_f32());
    assert!(later < SLACK, "{later:?}");
    scene.feeder.end();
}

#[test]
fn a_rolling_restart_hands_over_within_a_second() {
    let mut scene = Scene::new();
    for number in 0..3 {
        let other = scene.nodes[(number + 1) % 3].ingest_client(&scene.tenant);
        scene.feeder.through(other);
        scene.replace(number, |node| restart(node.stop()));
    }
    let longest = scene.silences.longest();
    eprintln!("longest silence in a rolling restart: {:.1} s", longest.as_secs_f32());
    assert!(longest < SLACK, "{longest:?}");
    scene.feeder.end();
}
