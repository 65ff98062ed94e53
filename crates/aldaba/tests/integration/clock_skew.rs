//! Nodes whose machines show the wrong time, over one PostgreSQL database.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use domain::{Clock, Ticks};
use serde_json::{Value, json};
use testserver::{Request, TestServer};

use crate::harness::{Database, wait_for};

#[allow(clippy::disallowed_methods, reason = "the test plays the machine")]
fn now() -> Ticks {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    Ticks::from_unix_nanos(i128::try_from(since.as_nanos()).unwrap())
}

/// A machine whose clock is wrong by so many seconds, until it is set.
#[derive(Default)]
struct Machine(std::sync::atomic::AtomicI64);

impl Machine {
    fn wrong_by(seconds: i64) -> Arc<Self> {
        Arc::new(Self(seconds.into()))
    }

    fn set_right(&self) {
        self.0.store(0, std::sync::atomic::Ordering::Relaxed);
    }
}

impl Clock for Machine {
    fn now(&self) -> Ticks {
        Ticks(now().0 + self.0.load(std::sync::atomic::Ordering::Relaxed) * 10_000_000)
    }
}

fn start(database: &Database, machine: &Arc<Machine>) -> TestServer {
    TestServer::builder().machine_clock(machine.clone()).set("store.url", &database.url()).start()
}

fn clock(server: &TestServer) -> Value {
    Request::get(&format!("{}/readyz", server.operator_url())).send().json()["clock"].clone()
}

/// The time that the node gives to what it creates.
fn time_of_new_tenant(server: &TestServer, name: &str) -> Ticks {
    let tenant = server.operator_post("tenants", &json!({ "name": name }));
    Ticks::parse_iso(tenant["createdAt"].as_str().unwrap()).unwrap()
}

#[test]
fn node_with_a_wrong_clock_uses_the_databases_time_and_says_so() {
    let database = Database::create();
    for (wrong_by, seconds, name) in [(300, 300.0, "ahead"), (-300, -300.0_f64, "behind")] {
        let machine = Machine::wrong_by(wrong_by);
        let server = start(&database, &machine);
        let shown = clock(&server);
        assert_eq!(shown["used"], "database", "{shown}");
        let difference = shown["differenceSeconds"].as_f64().unwrap();
        assert!((difference - seconds).abs() < 2.0, "{shown}");
        let created = time_of_new_tenant(&server, name);
        let off = created.since(now()).max(now().since(created));
        assert!(off < Duration::from_secs(5), "{name}: {off:?}");
        let metrics = Request::get(&format!("{}/metrics", server.operator_url())).send().text();
        let metric = metrics.lines().find_map(|line| line.strip_prefix("aldaba_clock_difference_seconds "));
        assert!((metric.unwrap().parse::<f64>().unwrap() - seconds).abs() < 2.0, "{metric:?}");

        machine.set_right();
        wait_for("the machine's clock to count again", || {
            (clock(&server)["used"] == "machine").then_some(())
        });
        assert!(time_of_new_tenant(&server, &format!("{name}-later")) >= created, "it never goes back");
    }
}

#[test]
fn node_with_the_right_clock_uses_it() {
    let database = Database::create();
    let server = start(&database, &Machine::wrong_by(1));
    let shown = clock(&server);
    assert_eq!(shown["used"], "machine", "{shown}");
    let sqlite = TestServer::start();
    assert_eq!(clock(&sqlite), Value::Null, "an embedded store has no clock of its own");
}
