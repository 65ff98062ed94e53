//! When handshake attempts start: on the schedule, or at once where the owner asks for one, but never beside another one
//! and not too often.

use std::time::Duration;

use domain::Guid;
use domain::retry::Schedule;
use store::{
    AuditContext, ChangeLog as _, Deliveries as _, LeaseRenewal, NewWebhook, Webhook, WebhookChange,
    Webhooks as _,
};
use webhooks::egress::{EgressError, Exchange, Phase, ReceiverResponse};
use webhooks::engine::{Attempt, Command, Core, Input, Moment, Settings};

use crate::simulation::fixture::{Fixture, START, block_on, random_webhook, resources};
use crate::simulation::random::SeededRandom;

const WINDOW: Duration = Duration::from_secs(24 * 3600);
const SECOND: Duration = Duration::from_secs(1);

/// A core over a memory store, and the attempts in flight. Commands are executed at once.
struct Engine {
    fixture: Fixture,
    core: Core,
    at: Duration,
    in_flight: Vec<(u64, Attempt)>,
}

impl Engine {
    fn new() -> Self {
        let schedule = Schedule { pauses: vec![Duration::from_secs(3600)], window: WINDOW };
        let start = Moment { wall: START, steady: Duration::ZERO };
        let core = Core::new(Settings::new(schedule, 5 * SECOND), 1, start);
        let mut engine = Self { fixture: Fixture::new(1), core, at: Duration::ZERO, in_flight: Vec::new() };
        let until = Duration::from_secs(1_000_000);
        let renewal = LeaseRenewal::new(Guid::from_bytes([1; 16]), until);
        let shards = block_on(engine.fixture.store.renew_shard_leases(&renewal)).unwrap().held;
        engine.input(Input::ShardsLeased { shards, until, asked: Vec::new(), given: Vec::new() });
        let disabled = block_on(engine.fixture.store.disabled_owners()).unwrap();
        engine.input(Input::DisabledOwnersRead { disabled, access_version: 0 });
        engine
    }

    fn moment(&self) -> Moment {
        Moment { wall: START + self.at, steady: self.at }
    }

    fn advance(&mut self, by: Duration) {
        self.at += by;
        self.fixture.set_time(self.at);
        self.input(Input::Tick);
    }

    fn input(&mut self, input: Input) {
        let mut inputs = vec![input];
        while let Some(input) = inputs.pop() {
            self.core.handle(self.moment(), input);
            for command in self.core.settle(self.moment()) {
                inputs.extend(self.execute(command));
            }
        }
    }

    fn execute(&mut self, command: Command) -> Option<Input> {
        let store = &self.fixture.store;
        Some(match command {
            Command::Send { attempt_id, attempt } => {
                self.in_flight.push((attempt_id, attempt));
                return None;
            }
            Command::LoadShard { shard, fence, after } => {
                let webhooks = block_on(store.load_webhooks(shard, after, 500)).unwrap();
                Input::ShardLoaded { shard, fence, webhooks, is_last: true }
            }
            Command::LoadWebhook { webhook, reload } => {
                let loaded = block_on(store.load_webhook(webhook)).unwrap().map(Box::new);
                Input::WebhookLoaded { webhook, reload, loaded }
            }
            Command::ReadHead { webhook, number, tenant } => {
                let head = block_on(store.log_bounds(&tenant)).map(|bounds| bounds.head).map_err(drop);
                Input::HeadRead { webhook, number, head }
            }
            Command::ReadTail { key, after, serial, rows_max } => {
                let read =
                    block_on(store.read_tail(&key.tenant, key.resource, after, rows_max)).map_err(drop);
                Input::TailRead { key, after, serial, read }
            }
            Command::Checkpoint(checkpoints) => {
                Input::CheckpointWritten(block_on(store.checkpoint(checkpoints)).map_err(drop))
            }
            Command::ReadRecord { .. } => unreachable!("no delivery fails in these tests"),
            Command::GiveShards(_) => unreachable!("there is one node"),
        })
    }

    fn subscription(number: u64, url: &str) -> NewWebhook {
        let mut new = random_webhook(&mut SeededRandom::new(number), url.into());
        (new.resource, new.enabled, new.name) = (resources()[0], true, format!("app {number}"));
        new
    }

    fn subscribe(&mut self, new: &NewWebhook) {
        block_on(self.fixture.store.subscribe(new.clone(), 100, &AuditContext::default())).unwrap();
        // The response waits for the notifier; the commit signals the change as well.
        self.input(Input::WebhookChanged(new.id));
        self.input(Input::WebhookChanged(new.id));
    }

    fn change(&mut self, new: &NewWebhook, change: WebhookChange) {
        block_on(self.fixture.store.change_webhook(new.id, None, change, &AuditContext::default())).unwrap();
        self.input(Input::WebhookChanged(new.id));
    }

    fn webhook(&self, new: &NewWebhook) -> Webhook {
        block_on(self.fixture.store.find_webhook(new.id)).unwrap().unwrap()
    }

    /// Ends the attempt in flight that started first.
    fn respond(&mut self, status: u16) {
        let (attempt_id, _) = self.in_flight.remove(0);
        let response =
            ReceiverResponse { status, sets_cookie: false, retry_after: None, body: b"ok".as_slice().into() };
        let exchange =
            Exchange { result: Ok(response), timing: store::AttemptTiming::default(), reused: false };
        self.input(Input::AttemptFinished { attempt_id, exchange });
        self.advance(SECOND / 10);
    }

    fn time_out(&mut self) {
        let (attempt_id, _) = self.in_flight.remove(0);
        let exchange = Exchange::failed(EgressError::TimedOut(Phase::Response));
        self.input(Input::AttemptFinished { attempt_id, exchange });
        self.advance(SECOND / 10);
    }
}

#[test]
fn subscribing_again_makes_the_handshake_due_at_once_and_leaves_the_schedule() {
    let mut engine = Engine::new();
    let new = Engine::subscription(1, "https://receiver.example/hook");
    engine.subscribe(&new);
    assert_eq!(engine.in_flight.len(), 1, "the first attempt");
    engine.respond(500);
    let scheduled = engine.webhook(&new).handshake.retry.unwrap();
    engine.advance(60 * SECOND);
    assert_eq!(engine.in_flight.len(), 0, "the next one would be in an hour");
    engine.subscribe(&new);
    assert_eq!(engine.in_flight.len(), 1, "it does not wait for the schedule");
    engine.respond(500);
    assert_eq!(
        engine.webhook(&new).handshake.retry,
        Some(scheduled),
        "neither schedule nor window has changed"
    );
    assert_eq!(engine.webhook(&new).handshake.asked_at, None, "the request is answered");
    engine.advance(60 * SECOND);
    assert_eq!(engine.in_flight.len(), 0, "and only once");
    engine.subscribe(&new);
    engine.respond(200);
    assert!(engine.webhook(&new).flags().is_active());
    engine.advance(60 * SECOND);
    engine.subscribe(&new);
    assert_eq!(engine.in_flight.len(), 0, "an active webhook needs no handshake");
}

#[test]
fn asked_attempts_are_five_seconds_apart_and_never_beside_one_in_flight() {
    let mut engine = Engine::new();
    let new = Engine::subscription(1, "https://receiver.example/hook");
    engine.subscribe(&new);
    // The owner mends the receiver while the first attempt still waits for it.
    engine.advance(2 * SECOND);
    engine.subscribe(&new);
    engine.advance(2 * SECOND);
    assert_eq!(engine.in_flight.len(), 1);
    engine.time_out();
    assert_eq!(engine.in_flight.len(), 0, "the last attempt started 4.1 s ago");
    engine.advance(SECOND);
    assert_eq!(engine.in_flight.len(), 1, "the request that came meanwhile is not forgotten");
    engine.respond(500);
    let mut started = Vec::new();
    for _ in 0..300 {
        engine.advance(SECOND / 10);
        engine.subscribe(&new);
        if !engine.in_flight.is_empty() {
            started.push(engine.at);
            engine.respond(500);
        }
    }
    assert!((5..=7).contains(&started.len()), "{started:?}");
    assert!(started.windows(2).all(|two| two[1].checked_sub(two[0]).unwrap() >= 5 * SECOND), "{started:?}");
}

#[test]
fn asked_attempts_of_several_webhooks_to_one_host_take_turns() {
    let mut engine = Engine::new();
    let [one, two] = [(1, "https://h.example/a"), (2, "https://h.example:443/b")]
        .map(|(number, url)| Engine::subscription(number, url));
    let other = Engine::subscription(3, "https://other.example/");
    for new in [&one, &two, &other] {
        engine.subscribe(new);
        engine.respond(500);
    }
    engine.advance(60 * SECOND);
    for new in [&one, &two, &other] {
        engine.subscribe(new);
    }
    let urls = |engine: &Engine| -> Vec<String> {
        engine.in_flight.iter().map(|(_, attempt)| attempt.target.url.clone()).collect()
    };
    assert_eq!(urls(&engine), ["https://h.example/a", "https://other.example/"]);
    engine.respond(500);
    engine.respond(500);
    engine.advance(4 * SECOND);
    assert_eq!(engine.in_flight.len(), 0);
    engine.advance(SECOND);
    assert_eq!(urls(&engine), ["https://h.example:443/b"], "five seconds later");
}

#[test]
fn attempt_in_flight_counts_although_its_subscription_is_paused_meanwhile() {
    let mut engine = Engine::new();
    let mut new = Engine::subscription(1, "https://receiver.example/api/webhooks/incoming/Invoicing");
    new.resource = resources()[2];
    new.kinds = [new.resource.event_kinds()[0]].into_iter().collect();
    engine.subscribe(&new);
    engine.change(&new, WebhookChange::Disable);
    assert_eq!(engine.in_flight.len(), 1, "none starts beside it");
    let (_, attempt) = &engine.in_flight[0];
    let request = attempt.sign(START, 5 * SECOND).unwrap();
    let echo = request.query.unwrap().replace("echo=", "");
    let (attempt_id, _) = engine.in_flight.remove(0);
    let response = ReceiverResponse { status: 200, sets_cookie: false, retry_after: None, body: echo.into() };
    let exchange = Exchange { result: Ok(response), timing: store::AttemptTiming::default(), reused: false };
    engine.input(Input::AttemptFinished { attempt_id, exchange });
    engine.advance(SECOND);
    assert!(engine.webhook(&new).handshake.accepted);
    assert_eq!(engine.in_flight.len(), 0);
}

#[test]
fn changed_url_of_a_disabled_webhook_gets_its_acknowledge_at_once() {
    let mut engine = Engine::new();
    let new = Engine::subscription(1, "https://receiver.example/hook");
    engine.subscribe(&new);
    engine.respond(200);
    engine.change(&new, WebhookChange::Disable);
    engine.change(&new, WebhookChange::ChangeUrl("https://other.example/hook".into()));
    assert_eq!(engine.in_flight.len(), 1);
    assert_eq!(engine.in_flight[0].1.target.url, "https://other.example/hook");
    engine.respond(200);
    let webhook = engine.webhook(&new);
    assert!(webhook.handshake.accepted && !webhook.flags().is_active(), "it stays disabled");
    engine.change(&new, WebhookChange::Enable);
    assert_eq!(engine.in_flight.len(), 0);
    assert!(engine.webhook(&new).flags().is_active());
}

/// The last scheduled attempt before the end of the window and the one at its end are one.
#[test]
fn one_attempt_is_made_at_the_end_of_the_window() {
    let mut engine = Engine::new();
    let new = Engine::subscription(1, "https://receiver.example/hook");
    engine.subscribe(&new);
    engine.respond(500);
    let mut started = Vec::new();
    while engine.webhook(&new).disabled.is_none() {
        engine.advance(SECOND);
        if !engine.in_flight.is_empty() {
            started.push(engine.at);
            engine.respond(500);
        }
    }
    let [before_last, last] = started[started.len() - 2..] else { panic!() };
    assert!(last >= WINDOW && last < WINDOW + 3 * SECOND, "{started:?}");
    assert!(last.checked_sub(before_last).unwrap() > Duration::from_secs(6 * 60), "{started:?}");
}
