//! The daily quota: calls per subscription, from the subscription itself or from the configuration.

use serde_json::{Value, json};

use crate::harness::{
    ApiCredentials, ApiFixture, EmbeddedServer, HttpResponse, Installation, OperatorApi, Server,
    SubscriptionKeys, assert_within_seconds, run_concurrently, shared_api, unlimited_server,
};

const COMPANIES: &str = "/accounting/api/companies";

/// A new subscription, used with the shared user's token.
fn new_credentials() -> (SubscriptionKeys, ApiCredentials) {
    let keys = SubscriptionKeys::new(unlimited_server(), &["accounting"]);
    let credentials = shared_api().credentials().with_key(&keys.primary);
    (keys, credentials)
}

/// Asserts a 403 whose message and `Retry-After` say when the quota is replenished.
#[track_caller]
fn assert_quota_exceeded(response: &HttpResponse) {
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
fn assert_calls_left(credentials: &ApiCredentials, server: &Server, calls: usize) {
    for number in 0..calls {
        let response = credentials.get(server, COMPANIES).send();
        assert_eq!(response.status, 200, "call {number}: {response:?}");
    }
    for _ in 0..2 {
        assert_quota_exceeded(&credentials.get(server, COMPANIES).send());
    }
}

#[test]
fn calls_past_the_quota_are_refused_with_retry_after() {
    let (keys, credentials) = new_credentials();
    let api = OperatorApi(unlimited_server());
    api.set_quota(&keys.id, &json!(3));
    assert_eq!(
        credentials.get(unlimited_server(), "/accounting/api/companies?pageSize=0").send().status,
        400,
        "a bad request counts"
    );
    let bad_token = credentials.get(unlimited_server(), COMPANIES).header("authorization", "Bearer x").send();
    assert_eq!(bad_token.status, 401, "a refused token does not count");
    assert_calls_left(&credentials, unlimited_server(), 2);
    assert_quota_exceeded(&credentials.with_key(&keys.secondary).get(unlimited_server(), COMPANIES).send());
    api.set_quota(&keys.id, &json!(5));
    assert_calls_left(&credentials, unlimited_server(), 2);
    api.set_quota(&keys.id, &json!(1));
    assert_quota_exceeded(&credentials.get(unlimited_server(), COMPANIES).send());
    api.set_quota(&keys.id, &Value::Null);
    assert_eq!(credentials.status(unlimited_server(), COMPANIES), 200, "the configuration sets no quota");
    assert_eq!(api.wait_for_usage(&keys.id, 6)["failed"], 1, "refused calls are not counted");
}

#[test]
fn the_quota_is_set_on_creation_and_from_the_command_line() {
    let body = json!({"name": "Panel", "products": ["accounting"], "dailyQuota": 2});
    let created = OperatorApi(unlimited_server()).create("/subscriptions", &body);
    assert_eq!(created["subscription"]["dailyQuota"], 2);
    let credentials = shared_api().credentials().with_key(created["primaryKey"].as_str().unwrap());
    assert_calls_left(&credentials, unlimited_server(), 2);
    let id = created["subscription"]["id"].as_str().unwrap();
    let quota =
        |value: &str| unlimited_server().installation.program(&["key", "quota", id, value]).run().code(0);
    quota("3");
    assert_within_seconds(3, "the call to be accepted", || {
        credentials.status(unlimited_server(), COMPANIES) == 200
    });
    assert_quota_exceeded(&credentials.get(unlimited_server(), COMPANIES).send());
    quota("none");
    assert_within_seconds(3, "the call to be accepted", || {
        credentials.status(unlimited_server(), COMPANIES) == 200
    });
}

#[test]
fn concurrent_calls_do_not_exceed_the_quota() {
    let (keys, credentials) = new_credentials();
    OperatorApi(unlimited_server()).set_quota(&keys.id, &json!(8));
    let mut statuses = run_concurrently(30, |_| credentials.status(unlimited_server(), COMPANIES));
    statuses.sort_unstable();
    assert_eq!(statuses, [vec![200; 8], vec![403; 22]].concat());
}

#[test]
fn the_configured_quota_applies_to_subscriptions_without_their_own() {
    let server = EmbeddedServer::start(Installation::new(), &["gateway.quota_per_day=2"]);
    let keys = SubscriptionKeys::new(&server, &[]);
    let credentials = ApiFixture::on(&server, &keys).credentials();
    assert_calls_left(&credentials, &server, 2);
    let own = SubscriptionKeys::new(&server, &[]);
    OperatorApi(&server).set_quota(&own.id, &json!(4));
    assert_calls_left(&credentials.with_key(&own.primary), &server, 4);
    let server = EmbeddedServer::start(server.stop(), &["gateway.quota_per_day=0"]);
    for _ in 0..3 {
        assert_eq!(credentials.status(&server, COMPANIES), 200, "zero means no quota");
    }
    assert_quota_exceeded(&credentials.with_key(&own.primary).get(&server, COMPANIES).send());
}

#[test]
fn a_restart_does_not_reset_the_quota() {
    let server = EmbeddedServer::start(Installation::new(), &[]);
    let keys = SubscriptionKeys::new(&server, &[]);
    let credentials = ApiFixture::on(&server, &keys).credentials();
    OperatorApi(&server).set_quota(&keys.id, &json!(3));
    assert_eq!([0; 2].map(|_| credentials.status(&server, COMPANIES)), [200, 200]);
    let server = EmbeddedServer::start(server.stop(), &[]);
    assert_calls_left(&credentials, &server, 1);
    let server = EmbeddedServer::start(server.stop(), &[]);
    assert_calls_left(&credentials, &server, 0);
    let refused = credentials.get(&server, COMPANIES).send();
    assert_eq!(refused.header("ratelimit-limit"), "300", "the response still carries the rate limit");
}
