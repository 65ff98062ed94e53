//! Two nodes over one PostgreSQL database share a subscription's limits: each node enforces half of the rate limit,
//! and the nodes exchange their call counts for the quota.

use std::time::Duration;

use serde_json::{Value, json};

use super::nodes::Nodes;
use crate::harness::{
    ApiCredentials, ApiFixture, OperatorApi, ServeProcess, SubscriptionKeys, run_concurrently, wait_for,
    wait_for_duration,
};

const COMPANIES: &str = "/accounting/api/companies";
const RATE: u32 = 20;

/// A new, unused key.
#[track_caller]
fn new_key(server: &ServeProcess) -> String {
    new_key_with(server, 1_000_000)
}

#[track_caller]
fn new_key_with(server: &ServeProcess, quota: u32) -> String {
    let body = json!({"name": "P", "products": ["accounting"], "dailyQuota": quota});
    let created = OperatorApi(server).create("/subscriptions", &body);
    created["primaryKey"].as_str().unwrap().to_owned()
}

/// How many nodes share the limit, as this node sees it: the first call with a new key costs one call per node.
#[track_caller]
fn node_count(credentials: &ApiCredentials, server: &ServeProcess) -> u32 {
    let response = credentials.with_key(&new_key(server)).get(server, COMPANIES).send();
    RATE - response.header("ratelimit-remaining").parse::<u32>().unwrap_or_else(|_| panic!("{response:?}"))
}

/// How many calls this node accepts for a key before it answers 429.
#[track_caller]
fn accepted_calls(credentials: &ApiCredentials, server: &ServeProcess, key: &str) -> usize {
    let credentials = credentials.with_key(key);
    (0..100).find(|_| credentials.status(server, COMPANIES) == 429).unwrap()
}

#[test]
fn each_node_enforces_its_share_of_the_limit() {
    let Nodes { nodes: [one, other], database } = Nodes::with_rate(RATE);
    let credentials = ApiFixture::on(&one, &SubscriptionKeys::new(&one, &[])).credentials();
    for node in [&one, &other] {
        wait_for("the limit to be shared", || (node_count(&credentials, node) == 2).then_some(()));
    }
    let key = new_key(&one);
    for node in [&one, &other] {
        let accepted = accepted_calls(&credentials, node, &key);
        assert!(
            (10..=12).contains(&accepted),
            "half of the limit, and what the bucket gains meanwhile: {accepted}"
        );
    }
    other.stop();
    wait_for("the node to enforce the whole limit", || (node_count(&credentials, &one) == 1).then_some(()));
    let accepted = accepted_calls(&credentials, &one, &new_key(&one));
    assert!((20..=24).contains(&accepted), "{accepted}");
    drop(one);
    drop(database);
}

#[test]
fn the_share_of_a_killed_node_is_redistributed() {
    let Nodes { nodes: [one, mut other], database } = Nodes::with_rate(RATE);
    let credentials = ApiFixture::on(&one, &SubscriptionKeys::new(&one, &[])).credentials();
    wait_for("the limit to be shared", || (node_count(&credentials, &one) == 2).then_some(()));
    other.process.kill();
    wait_for("the node to enforce the whole limit", || (node_count(&credentials, &one) == 1).then_some(()));
    drop(one);
    drop(database);
}

#[test]
fn both_nodes_share_the_quota() {
    let Nodes { nodes: [one, other], database } = Nodes::with_rate(0);
    let keys = SubscriptionKeys::new(&one, &[]);
    let credentials = ApiFixture::on(&one, &keys).credentials();
    let api = OperatorApi(&one);
    api.set_quota(&keys.id, &json!(12));
    let count_successes = |node: &ServeProcess, calls: usize| {
        (0..calls).filter(|_| credentials.status(node, COMPANIES) == 200).count()
    };
    assert_eq!(count_successes(&one, 8), 8);
    api.wait_for_usage(&keys.id, 8);
    assert_eq!(count_successes(&other, 10), 4, "the second node counts the first node's calls");
    api.wait_for_usage(&keys.id, 12);
    wait_for_duration(Duration::from_secs(6));
    assert_eq!(count_successes(&one, 5), 0, "the first node counts the second node's calls");
    api.set_quota(&keys.id, &Value::from(13));
    assert_eq!(count_successes(&one, 5), 1);
    drop((one, other));
    drop(database);
}

#[test]
fn concurrent_calls_do_not_exceed_the_quota() {
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
