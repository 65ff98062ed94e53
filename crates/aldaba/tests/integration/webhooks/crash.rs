//! Repeated `kill -9` under load: no accepted change is lost, and every event is delivered after the restart.

use std::collections::BTreeSet;

use hyper::Method;
use serde_json::{Value, json};

use super::{CUSTOMERS, expect_state, get, send};
use crate::harness::{
    ApiFixture, Database, Installation, Receiver, ServeProcess, SubscriptionKeys, company, customer, wait_for,
};

const ROUNDS: usize = 3;
const CHANGES: usize = 400;

const SETTINGS: [&str; 4] =
    ["gateway.rate_per_minute=0", "egress.loopback=true", "delivery.schedule=100ms", "delivery.window=10m"];

/// The number of rounds: the variable `ALDABA_CRASH_ROUNDS`, or three.
fn rounds() -> usize {
    std::env::var("ALDABA_CRASH_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(ROUNDS)
}

fn assert_survives_kills(installation: Installation) {
    let receiver = Receiver::open();
    let mut server = ServeProcess::start(installation, &SETTINGS);
    let mut accepted = BTreeSet::new();
    let tenant = {
        let keys = SubscriptionKeys::new(&server, &[]);
        let api = ApiFixture::on(&server, &keys);
        let tenant = api.sign_in.tenants[0].clone();
        server.ingest_client(&tenant).send_lines(&[company("c")]);
        let body = json!({
            "thirdPartyApplicationName": "Panel", "url": receiver.url("/hook"), "secret": "s",
            "eventTypes": ["Svc.ACC.Customers.CustomerCreated"],
        });
        let id = expect_state(
            &send(&api, Method::POST, &format!("{CUSTOMERS}/webhooks/subscribe"), Some(&body)),
            3,
        );
        wait_for("the webhook to be active", || {
            (get(&api, &format!("{CUSTOMERS}/webhooks/{id}")).json()["isActive"] == true).then_some(())
        });
        tenant
    };
    for round in 0..rounds() {
        let seen = receiver.changes().len();
        let ingest = server.ingest_client(&tenant);
        for number in 0..CHANGES / 20 {
            let lines: Vec<Value> =
                (0..20).map(|line| customer("c", &format!("{round}-{number}-{line}"), "x")).collect();
            assert_eq!(ingest.send_lines(&lines).counts(), (20, 0));
            accepted.extend(lines.iter().map(|line| line["correlationId"].as_str().unwrap().to_owned()));
        }
        wait_for("some deliveries", || (receiver.changes().len() > seen + 20).then_some(()));
        server.process.kill();
        server = ServeProcess::start(server.into_installation(), &SETTINGS);
    }
    wait_for("every accepted change to be delivered", || {
        let received: BTreeSet<String> = receiver.records().into_iter().collect();
        accepted.is_subset(&received).then_some(())
    });
}

#[test]
fn a_kill_under_load_loses_nothing_on_sqlite() {
    assert_survives_kills(Installation::new());
}

#[test]
fn a_kill_under_load_loses_nothing_on_postgresql() {
    let database = Database::create();
    assert_survives_kills(Installation::with_store(&database.url()));
}
