//! Usage: calls are counted by subscription, day and route, and read over HTTP and on the command line.

use serde_json::{Value, json};

use crate::harness::{
    ApiFixture, EmbeddedServer, Installation, OperatorApi, SubscriptionKeys, members, shared_api,
    unlimited_server, wait_for,
};

const COMPANIES: &str = "/accounting/api/companies";
const COMPANY_BY_ID: &str = "/accounting/api/companies/{id}";

/// Sends three successful and two bad requests to one route, and one that gets 404 to another.
fn send_calls(keys: &SubscriptionKeys) {
    let get =
        |key: &str, path: &str| shared_api().get(path).header("ocp-apim-subscription-key", key).send().status;
    for _ in 0..3 {
        assert_eq!(get(&keys.primary, COMPANIES), 200);
    }
    for _ in 0..2 {
        assert_eq!(get(&keys.primary, "/accounting/api/companies?pageSize=0"), 400);
    }
    assert_eq!(get(&keys.primary, "/accounting/api/companies/nobody"), 404);
}

#[test]
fn calls_are_counted_by_day_and_route() {
    let keys = SubscriptionKeys::new(unlimited_server(), &["accounting"]);
    let api = OperatorApi(unlimited_server());
    assert_eq!(api.usage(&keys.id)["days"], json!([]));
    send_calls(&keys);
    let refused = shared_api().get(COMPANIES).header("ocp-apim-subscription-key", &keys.primary);
    assert_eq!(
        refused.header("authorization", "Bearer x").send().status,
        401,
        "a refused token does not count"
    );
    let usage = api.wait_for_usage(&keys.id, 6);
    assert_eq!(members(&usage), ["calls", "days", "failed", "from", "subscription", "to"]);
    assert_eq!((&usage["subscription"], &usage["failed"]), (&json!(keys.id), &json!(3)));
    let routes = json!([
        {"route": COMPANIES, "calls": 5, "failed": 2},
        {"route": COMPANY_BY_ID, "calls": 1, "failed": 1},
    ]);
    let today = usage["to"].as_str().unwrap();
    assert_eq!(usage["days"], json!([{"day": today, "calls": 6, "failed": 3, "routes": routes}]));

    let path = format!("/subscriptions/{}/usage", keys.id);
    let only_today = api.get(&format!("{path}?from={today}&to={today}")).json();
    assert_eq!((&only_today["from"], &only_today["days"]), (&json!(today), &usage["days"]));
    let earlier = api.get(&format!("{path}?to=2026-01-31")).json();
    assert_eq!([&earlier["from"], &earlier["to"]], ["2026-01-02", "2026-01-31"], "30 days");
    assert_eq!((&earlier["calls"], &earlier["days"]), (&json!(0), &json!([])));

    let program = |arguments: &[&str]| {
        unlimited_server().installation.program(&["key", "usage", &keys.id]).with(arguments).run()
    };
    assert_eq!(program(&["--json"]).json(), usage);
    assert_eq!(program(&["--json", "--from", today, "--to", today]).json(), only_today);
    let text = program(&["--from", today]).code(0).stdout;
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["DAY", "ROUTE", "CALLS", "FAILED"]);
    assert_eq!(rows[1], [today, COMPANIES, "5", "2"]);
    assert_eq!(rows[2], [today, COMPANY_BY_ID, "1", "1"]);
    assert_eq!(rows[3], ["all", today, "to", today, "6", "3"]);
}

#[test]
fn invalid_date_ranges_are_refused() {
    let id = SubscriptionKeys::new(unlimited_server(), &[]).id;
    let api = OperatorApi(unlimited_server());
    let request = |query: &str| api.get(&format!("/subscriptions/{id}/usage?{query}"));
    assert_eq!(request("from=2025-10-12&to=2026-11-15").status, 200, "400 days");
    for (query, message) in [
        ("from=2025-10-11&to=2026-11-15", "may span 400 days at most"),
        ("from=2026-11-16&to=2026-11-15", "From must not be later than to."),
        ("from=2026-02-30", "from: \"2026-02-30\" is no day as in 2026-11-15."),
        ("to=2026-11-15T00:00:00Z", "is no day as in 2026-11-15"),
        ("until=2026-11-15", "There is no parameter \"until\""),
    ] {
        let refused = request(query);
        assert!(refused.problem(400).contains(message), "{query}: {refused:?}");
    }
    let program = |arguments: &[&str]| {
        unlimited_server().installation.program(&["key", "usage", &id]).with(arguments).run()
    };
    program(&["--from", "yesterday"]).expect_failure(2, "is no day as in 2026-11-15");
    program(&["--from", "2026-11-16", "--to", "2026-11-15"])
        .expect_failure(2, "from must not be later than to");
    unlimited_server()
        .installation
        .program(&["key", "usage", "nobody"])
        .run()
        .expect_failure(5, "there is no subscription \"nobody\"");
}

#[test]
fn last_use_is_recorded_per_key() {
    let keys = SubscriptionKeys::new(unlimited_server(), &["accounting"]);
    let api = OperatorApi(unlimited_server());
    let used = || {
        let subscription = api.get(&format!("/subscriptions/{}", keys.id)).json();
        subscription["keys"]
            .as_array()
            .unwrap()
            .iter()
            .map(|key| key["lastUsedAt"].clone())
            .collect::<Vec<Value>>()
    };
    assert_eq!(used(), [Value::Null, Value::Null]);
    let get = |key: &str| shared_api().get(COMPANIES).header("ocp-apim-subscription-key", key).send().status;
    assert_eq!(get(&keys.secondary), 200);
    let second = wait_for("the use to be recorded", || used()[1].as_str().map(ToOwned::to_owned));
    assert_eq!(used()[0], Value::Null, "the other key was not used");
    assert_eq!(get(&keys.primary), 200);
    let first = wait_for("the use to be recorded", || used()[0].as_str().map(ToOwned::to_owned));
    assert!(first > second && used()[1] == second, "{first} {second}");
    let subscription =
        unlimited_server().installation.program(&["key", "show", &keys.id, "--json"]).run().json();
    assert_eq!(
        [&subscription["keys"][0]["last_used_at"], &subscription["keys"][1]["last_used_at"]],
        [&first, &second]
    );
}

#[test]
fn shutdown_flushes_the_usage_counters() {
    let server = EmbeddedServer::start(Installation::new(), &[]);
    let keys = SubscriptionKeys::new(&server, &[]);
    let credentials = ApiFixture::on(&server, &keys).credentials();
    for _ in 0..4 {
        assert_eq!(credentials.status(&server, COMPANIES), 200);
    }
    let server = EmbeddedServer::start(server.stop(), &[]);
    let api = OperatorApi(&server);
    assert_eq!(api.usage(&keys.id)["calls"], 4);
    let subscription = api.get(&format!("/subscriptions/{}", keys.id)).json();
    assert!(subscription["keys"][0]["lastUsedAt"].is_string(), "{subscription}");
    assert_eq!(credentials.status(&server, COMPANIES), 200);
    assert_eq!(
        api.wait_for_usage(&keys.id, 5)["days"][0]["routes"][0]["calls"],
        5,
        "counting continues after the restart"
    );
}
