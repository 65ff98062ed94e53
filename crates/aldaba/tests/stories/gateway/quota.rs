//! The quota of the day: so many calls for each subscription, of its own or the configuration's.

use serde_json::{Value, json};

use crate::harness::{Api, Keys, OperatorApi, Pass, Reply, Serve, Site, at_once, desk, room, within_seconds};

const COMPANIES: &str = "/accounting/api/companies";

/// A subscription of its own at the desk.
fn at_desk() -> (Keys, Pass) {
    let keys = Keys::new(desk(), &["accounting"]);
    let pass = room().pass().with_key(&keys.primary);
    (keys, pass)
}

/// The refusal says when there are new calls, in words and in seconds.
#[track_caller]
fn is_used_up(reply: &Reply) {
    let message = reply.problem(403);
    let rest = message.strip_prefix("Out of call volume quota. Quota will be replenished in ");
    let clock = rest.and_then(|rest| rest.strip_suffix('.')).unwrap_or_else(|| panic!("{message}"));
    let parts: Vec<u64> = clock.split(':').map(|part| part.parse().unwrap()).collect();
    assert!(clock.len() == 8 && parts.len() == 3, "{clock}");
    let seconds = parts[0] * 3600 + parts[1] * 60 + parts[2];
    assert_eq!(reply.header("retry-after"), seconds.to_string());
    assert!((1..=86_400).contains(&seconds), "{seconds}");
    assert_eq!(reply.header("www-authenticate"), "", "another token would not help");
}

#[track_caller]
fn takes(pass: &Pass, serve: &Serve, calls: usize) {
    for number in 0..calls {
        let reply = pass.get(serve, COMPANIES).send();
        assert_eq!(reply.status, 200, "call {number}: {reply:?}");
    }
    for _ in 0..2 {
        is_used_up(&pass.get(serve, COMPANIES).send());
    }
}

#[test]
fn past_the_quota_a_call_is_told_when_there_are_new_ones() {
    let (keys, pass) = at_desk();
    let api = OperatorApi(desk());
    api.set_quota(&keys.id, &json!(3));
    assert_eq!(pass.get(desk(), "/accounting/api/companies?pageSize=0").send().status, 400, "which counts");
    let stranger = pass.get(desk(), COMPANIES).header("authorization", "Bearer x").send();
    assert_eq!(stranger.status, 401, "which does not");
    takes(&pass, desk(), 2);
    is_used_up(&pass.with_key(&keys.secondary).get(desk(), COMPANIES).send());
    api.set_quota(&keys.id, &json!(5));
    takes(&pass, desk(), 2);
    api.set_quota(&keys.id, &json!(1));
    is_used_up(&pass.get(desk(), COMPANIES).send());
    api.set_quota(&keys.id, &Value::Null);
    assert_eq!(pass.status(desk(), COMPANIES), 200, "the configuration has none");
    assert_eq!(api.usage_of(&keys.id, 6)["failed"], 1, "refusals are no calls");
}

#[test]
fn a_quota_comes_with_a_new_subscription_or_from_the_command_line() {
    let body = json!({"name": "Panel", "products": ["accounting"], "dailyQuota": 2});
    let made = OperatorApi(desk()).made("/subscriptions", &body);
    assert_eq!(made["subscription"]["dailyQuota"], 2);
    let pass = room().pass().with_key(made["primaryKey"].as_str().unwrap());
    takes(&pass, desk(), 2);
    let id = made["subscription"]["id"].as_str().unwrap();
    let quota = |word: &str| desk().site.program(&["key", "quota", id, word]).run().code(0);
    quota("3");
    within_seconds(3, "the call to be let in", || pass.status(desk(), COMPANIES) == 200);
    is_used_up(&pass.get(desk(), COMPANIES).send());
    quota("none");
    within_seconds(3, "the call to be let in", || pass.status(desk(), COMPANIES) == 200);
}

#[test]
fn a_crowd_gets_no_more_than_the_quota() {
    let (keys, pass) = at_desk();
    OperatorApi(desk()).set_quota(&keys.id, &json!(8));
    let mut statuses = at_once(30, |_| pass.status(desk(), COMPANIES));
    statuses.sort_unstable();
    assert_eq!(statuses, [vec![200; 8], vec![403; 22]].concat());
}

#[test]
fn the_configurations_quota_is_for_who_has_none() {
    let serve = Serve::start(Site::new(), &["--set", "gateway.quota_per_day=2"]);
    let keys = Keys::new(&serve, &[]);
    let pass = Api::on(&serve, &keys).pass();
    takes(&pass, &serve, 2);
    let own = Keys::new(&serve, &[]);
    OperatorApi(&serve).set_quota(&own.id, &json!(4));
    takes(&pass.with_key(&own.primary), &serve, 4);
    let serve = Serve::start(serve.stop(), &["--set", "gateway.quota_per_day=0"]);
    for _ in 0..3 {
        assert_eq!(pass.status(&serve, COMPANIES), 200, "zero means none");
    }
    is_used_up(&pass.with_key(&own.primary).get(&serve, COMPANIES).send());
}

#[test]
fn a_restart_gives_no_new_calls() {
    let serve = Serve::start(Site::new(), &[]);
    let keys = Keys::new(&serve, &[]);
    let pass = Api::on(&serve, &keys).pass();
    OperatorApi(&serve).set_quota(&keys.id, &json!(3));
    assert_eq!([0; 2].map(|_| pass.status(&serve, COMPANIES)), [200, 200]);
    let serve = Serve::start(serve.stop(), &[]);
    takes(&pass, &serve, 1);
    let serve = Serve::start(serve.stop(), &[]);
    takes(&pass, &serve, 0);
    let refused = pass.get(&serve, COMPANIES).send();
    assert_eq!(refused.header("ratelimit-limit"), "300", "the limit is told all the same");
}
