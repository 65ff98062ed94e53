//! Two nodes over one PostgreSQL database share what a subscription may do: the limit at once, in halves, and the
//! quota by telling each other.

use std::time::Duration;

use serde_json::{Value, json};

use super::nodes::Nodes;
use crate::harness::{Api, Keys, OperatorApi, Pass, Serve, at_once, let_pass, until};

const COMPANIES: &str = "/accounting/api/companies";
const RATE: u32 = 20;

/// A key that was never used.
#[track_caller]
fn new_key(serve: &Serve) -> String {
    new_key_with(serve, 1_000_000)
}

#[track_caller]
fn new_key_with(serve: &Serve, quota: u32) -> String {
    let body = json!({"name": "P", "products": ["accounting"], "dailyQuota": quota});
    let made = OperatorApi(serve).made("/subscriptions", &body);
    made["primaryKey"].as_str().unwrap().to_owned()
}

/// How many nodes share the limit, as this one sees it: of a new key's limit one call is gone, at each of them.
#[track_caller]
fn sharing(pass: &Pass, serve: &Serve) -> u32 {
    let reply = pass.with_key(&new_key(serve)).get(serve, COMPANIES).send();
    RATE - reply.header("ratelimit-remaining").parse::<u32>().unwrap_or_else(|_| panic!("{reply:?}"))
}

/// How many calls a key gets here before it is told to wait.
#[track_caller]
fn calls_of(pass: &Pass, serve: &Serve, key: &str) -> usize {
    let pass = pass.with_key(key);
    (0..100).find(|_| pass.status(serve, COMPANIES) == 429).unwrap()
}

#[test]
fn each_node_enforces_its_share_of_the_limit() {
    let Nodes { nodes: [one, other], database } = Nodes::with_rate(RATE);
    let pass = Api::on(&one, &Keys::new(&one, &[])).pass();
    for node in [&one, &other] {
        until("the limit to be shared", || (sharing(&pass, node) == 2).then_some(()));
    }
    let key = new_key(&one);
    for node in [&one, &other] {
        let got = calls_of(&pass, node, &key);
        assert!((10..=12).contains(&got), "half of it, and what comes in meanwhile: {got}");
    }
    other.stop();
    until("the limit to be one's own", || (sharing(&pass, &one) == 1).then_some(()));
    let got = calls_of(&pass, &one, &new_key(&one));
    assert!((20..=24).contains(&got), "{got}");
    drop(one);
    drop(database);
}

#[test]
fn the_share_of_a_node_that_died_comes_back() {
    let Nodes { nodes: [one, mut other], database } = Nodes::with_rate(RATE);
    let pass = Api::on(&one, &Keys::new(&one, &[])).pass();
    until("the limit to be shared", || (sharing(&pass, &one) == 2).then_some(()));
    other.running.kill();
    until("the limit to be one's own", || (sharing(&pass, &one) == 1).then_some(()));
    drop(one);
    drop(database);
}

#[test]
fn the_quota_is_one_for_both_nodes() {
    let Nodes { nodes: [one, other], database } = Nodes::with_rate(0);
    let keys = Keys::new(&one, &[]);
    let pass = Api::on(&one, &keys).pass();
    let api = OperatorApi(&one);
    api.set_quota(&keys.id, &json!(12));
    let good =
        |node: &Serve, calls: usize| (0..calls).filter(|_| pass.status(node, COMPANIES) == 200).count();
    assert_eq!(good(&one, 8), 8);
    api.usage_of(&keys.id, 8);
    assert_eq!(good(&other, 10), 4, "what the first has told, the second counts");
    api.usage_of(&keys.id, 12);
    let_pass(Duration::from_secs(6));
    assert_eq!(good(&one, 5), 0, "and what the second has told, the first");
    api.set_quota(&keys.id, &Value::from(13));
    assert_eq!(good(&one, 5), 1);
    drop((one, other));
    drop(database);
}

#[test]
fn a_crowd_gets_no_more_than_the_quota() {
    let Nodes { nodes: [one, other], database } = Nodes::with_rate(0);
    let pass = Api::on(&one, &Keys::new(&one, &[])).pass();
    for _ in 0..3 {
        let pass = pass.with_key(&new_key_with(&one, 8));
        let mut statuses = at_once(24, |_| pass.status(&one, COMPANIES));
        statuses.sort_unstable();
        assert_eq!(statuses, [vec![200; 8], vec![403; 16]].concat());
    }
    drop((one, other));
    drop(database);
}
