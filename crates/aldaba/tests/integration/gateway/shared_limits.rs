//! Two nodes over one PostgreSQL database share what a subscription may do: the limit at once, in halves, and the
//! quota by telling each other.

use std::time::Duration;

use serde_json::{Value, json};

use super::nodes::Nodes;
use crate::harness::{
    ApiCredentials, ApiFixture, OperatorApi, ServeProcess, SubscriptionKeys, run_concurrently, wait_for,
    wait_for_duration,
};

const COMPANIES: &str = "/accounting/api/companies";
const RATE: u32 = 20;

/// A key that was never used.
#[track_caller]
fn new_key(server: &ServeProcess) -> String {
    new_key_with(server, 1_000_000)
}

#[track_caller]
fn new_key_with(server: &ServeProcess, quota: u32) -> String {
    let body = json!({"name": "P", "products": ["accounting"], "dailyQuota": quota});
    let made = OperatorApi(server).create("/subscriptions", &body);
    made["primaryKey"].as_str().unwrap().to_owned()
}

/// How many nodes share the limit, as this one sees it: of a new key's limit one call is gone, at each of them.
#[track_caller]
fn sharing(credentials: &ApiCredentials, server: &ServeProcess) -> u32 {
    let response = credentials.with_key(&new_key(server)).get(server, COMPANIES).send();
    RATE - response.header("ratelimit-remaining").parse::<u32>().unwrap_or_else(|_| panic!("{response:?}"))
}

/// How many calls a key gets here before it is told to wait.
#[track_caller]
fn calls_of(credentials: &ApiCredentials, server: &ServeProcess, key: &str) -> usize {
    let credentials = credentials.with_key(key);
    (0..100).find(|_| credentials.status(server, COMPANIES) == 429).unwrap()
}

#[test]
fn each_node_enforces_its_share_of_the_limit() {
    let Nodes { nodes: [one, other], database } = Nodes::with_rate(RATE);
    let credentials = ApiFixture::on(&one, &SubscriptionKeys::new(&one, &[])).credentials();
    for node in [&one, &other] {
        wait_for("the limit to be shared", || (sharing(&credentials, node) == 2).then_some(()));
    }
    let key = new_key(&one);
    for node in [&one, &other] {
        let got = calls_of(&credentials, node, &key);
        assert!((10..=12).contains(&got), "half of it, and what comes in meanwhile: {got}");
    }
    other.stop();
    wait_for("the limit to be one's own", || (sharing(&credentials, &one) == 1).then_some(()));
    let got = calls_of(&credentials, &one, &new_key(&one));
    assert!((20..=24).contains(&got), "{got}");
    drop(one);
    drop(database);
}

#[test]
fn the_share_of_a_node_that_died_comes_back() {
    let Nodes { nodes: [one, mut other], database } = Nodes::with_rate(RATE);
    let credentials = ApiFixture::on(&one, &SubscriptionKeys::new(&one, &[])).credentials();
    wait_for("the limit to be shared", || (sharing(&credentials, &one) == 2).then_some(()));
    other.process.kill();
    wait_for("the limit to be one's own", || (sharing(&credentials, &one) == 1).then_some(()));
    drop(one);
    drop(database);
}

#[test]
fn the_quota_is_one_for_both_nodes() {
    let Nodes { nodes: [one, other], database } = Nodes::with_rate(0);
    let keys = SubscriptionKeys::new(&one, &[]);
    let credentials = ApiFixture::on(&one, &keys).credentials();
    let api = OperatorApi(&one);
    api.set_quota(&keys.id, &json!(12));
    let good = |node: &ServeProcess, calls: usize| {
        (0..calls).filter(|_| credentials.status(node, COMPANIES) == 200).count()
    };
    assert_eq!(good(&one, 8), 8);
    api.wait_for_usage(&keys.id, 8);
    assert_eq!(good(&other, 10), 4, "what the first has told, the second counts");
    api.wait_for_usage(&keys.id, 12);
    wait_for_duration(Duration::from_secs(6));
    assert_eq!(good(&one, 5), 0, "and what the second has told, the first");
    api.set_quota(&keys.id, &Value::from(13));
    assert_eq!(good(&one, 5), 1);
    drop((one, other));
    drop(database);
}

#[test]
fn a_crowd_gets_no_more_than_the_quota() {
    let Nodes { nodes: [one, other], database } = Nodes::with_rate(0);
    let credentials = ApiFixture::on(&one, &SubscriptionKeys::new(&one, &[])).credentials();
    for _ in 0..3 {
        let credentials = credentials.with_key(&new_key_with(&one, 8));
        let mut statuses = run_concurrently(24, |_| credentials.status(&one, COMPANIES));
        statuses.sort_unstable();
        assert_eq!(statuses, [vec![200; 8], vec![403; 16]].concat());
    }
    drop((one, other));
    drop(database);
}
