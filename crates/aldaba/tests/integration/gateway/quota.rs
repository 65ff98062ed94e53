//! The quota of the day: so many calls for each subscription, of its own or the configuration's.

use serde_json::{Value, json};

use crate::harness::{
    ApiCredentials, ApiFixture, HttpResponse, Installation, OperatorApi, ServeProcess, SubscriptionKeys,
    assert_within_seconds, run_concurrently, shared_api, unlimited_server,
};

const COMPANIES: &str = "/accounting/api/companies";

/// A subscription of its own at the desk.
fn new_credentials() -> (SubscriptionKeys, ApiCredentials) {
    let keys = SubscriptionKeys::new(unlimited_server(), &["accounting"]);
    let credentials = shared_api().credentials().with_key(&keys.primary);
    (keys, credentials)
}

/// The refusal says when there are new calls, in words and in seconds.
#[track_caller]
fn is_used_up(response: &HttpResponse) {
    let message = response.problem(403);
    let rest = message.strip_prefix("Out of call volume quota. Quota will be replenished in ");
    let clock = rest.and_then(|rest| rest.strip_suffix('.')).unwrap_or_else(|| panic!("{message}"));
    let parts: Vec<u64> = clock.split(':').map(|part| part.parse().unwrap()).collect();
    assert!(clock.len() == 8 && parts.len() == 3, "{clock}");
    let seconds = parts[0] * 3600 + parts[1] * 60 + parts[2];
    assert_eq!(response.header("retry-after"), seconds.to_string());
    assert!((1..=86_400).contains(&seconds), "{seconds}");
    assert_eq!(response.header("www-authenticate"), "", "another token would not help");
}

#[track_caller]
fn takes(credentials: &ApiCredentials, server: &ServeProcess, calls: usize) {
    for number in 0..calls {
        let response = credentials.get(server, COMPANIES).send();
        assert_eq!(response.status, 200, "call {number}: {response:?}");
    }
    for _ in 0..2 {
        is_used_up(&credentials.get(server, COMPANIES).send());
    }
}

#[test]
fn past_the_quota_a_call_is_told_when_there_are_new_ones() {
    let (keys, credentials) = new_credentials();
    let api = OperatorApi(unlimited_server());
    api.set_quota(&keys.id, &json!(3));
    assert_eq!(
        credentials.get(unlimited_server(), "/accounting/api/companies?pageSize=0").send().status,
        400,
        "which counts"
    );
    let stranger = credentials.get(unlimited_server(), COMPANIES).header("authorization", "Bearer x").send();
    assert_eq!(stranger.status, 401, "which does not");
    takes(&credentials, unlimited_server(), 2);
    is_used_up(&credentials.with_key(&keys.secondary).get(unlimited_server(), COMPANIES).send());
    api.set_quota(&keys.id, &json!(5));
    takes(&credentials, unlimited_server(), 2);
    api.set_quota(&keys.id, &json!(1));
    is_used_up(&credentials.get(unlimited_server(), COMPANIES).send());
    api.set_quota(&keys.id, &Value::Null);
    assert_eq!(credentials.status(unlimited_server(), COMPANIES), 200, "the configuration has none");
    assert_eq!(api.wait_for_usage(&keys.id, 6)["failed"], 1, "refusals are no calls");
}

#[test]
fn a_quota_comes_with_a_new_subscription_or_from_the_command_line() {
    let body = json!({"name": "Panel", "products": ["accounting"], "dailyQuota": 2});
    let made = OperatorApi(unlimited_server()).create("/subscriptions", &body);
    assert_eq!(made["subscription"]["dailyQuota"], 2);
    let credentials = shared_api().credentials().with_key(made["primaryKey"].as_str().unwrap());
    takes(&credentials, unlimited_server(), 2);
    let id = made["subscription"]["id"].as_str().unwrap();
    let quota =
        |word: &str| unlimited_server().installation.program(&["key", "quota", id, word]).run().code(0);
    quota("3");
    assert_within_seconds(3, "the call to be let in", || {
        credentials.status(unlimited_server(), COMPANIES) == 200
    });
    is_used_up(&credentials.get(unlimited_server(), COMPANIES).send());
    quota("none");
    assert_within_seconds(3, "the call to be let in", || {
        credentials.status(unlimited_server(), COMPANIES) == 200
    });
}

#[test]
fn a_crowd_gets_no_more_than_the_quota() {
    let (keys, credentials) = new_credentials();
    OperatorApi(unlimited_server()).set_quota(&keys.id, &json!(8));
    let mut statuses = run_concurrently(30, |_| credentials.status(unlimited_server(), COMPANIES));
    statuses.sort_unstable();
    assert_eq!(statuses, [vec![200; 8], vec![403; 22]].concat());
}

#[test]
fn the_configurations_quota_is_for_who_has_none() {
    let server = ServeProcess::start(Installation::new(), &["--set", "gateway.quota_per_day=2"]);
    let keys = SubscriptionKeys::new(&server, &[]);
    let credentials = ApiFixture::on(&server, &keys).credentials();
    takes(&credentials, &server, 2);
    let own = SubscriptionKeys::new(&server, &[]);
    OperatorApi(&server).set_quota(&own.id, &json!(4));
    takes(&credentials.with_key(&own.primary), &server, 4);
    let server = ServeProcess::start(server.stop(), &["--set", "gateway.quota_per_day=0"]);
    for _ in 0..3 {
        assert_eq!(credentials.status(&server, COMPANIES), 200, "zero means none");
    }
    is_used_up(&credentials.with_key(&own.primary).get(&server, COMPANIES).send());
}

#[test]
fn a_restart_gives_no_new_calls() {
    let server = ServeProcess::start(Installation::new(), &[]);
    let keys = SubscriptionKeys::new(&server, &[]);
    let credentials = ApiFixture::on(&server, &keys).credentials();
    OperatorApi(&server).set_quota(&keys.id, &json!(3));
    assert_eq!([0; 2].map(|_| credentials.status(&server, COMPANIES)), [200, 200]);
    let server = ServeProcess::start(server.stop(), &[]);
    takes(&credentials, &server, 1);
    let server = ServeProcess::start(server.stop(), &[]);
    takes(&credentials, &server, 0);
    let refused = credentials.get(&server, COMPANIES).send();
    assert_eq!(refused.header("ratelimit-limit"), "300", "the limit is told all the same");
}
