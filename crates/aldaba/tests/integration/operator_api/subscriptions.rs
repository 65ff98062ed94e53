//! Subscriptions and their keys in the operator's API.

use serde_json::{Value, json};

use crate::harness::{OperatorApi, assert_within_seconds, is_guid, members, shared_api, unlimited_server};

const COMPANIES: &str = "/accounting/api/companies";
const PAYROLL: &str = "/payroll/api/companies";

fn status(key: &str, path: &str) -> u16 {
    shared_api().get(path).header("ocp-apim-subscription-key", key).send().status
}

fn is_accepted(key: &str) -> bool {
    status(key, COMPANIES) == 200
}

#[track_caller]
fn new_subscription(products: &[&str]) -> (String, String, String) {
    let created = OperatorApi(unlimited_server())
        .create("/subscriptions", &json!({"name": "Panel", "products": products}));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&created["subscription"]["id"]), text(&created["primaryKey"]), text(&created["secondaryKey"]))
}

#[test]
fn created_keys_give_access_to_their_products() {
    let api = OperatorApi(unlimited_server());
    let response = api.post("/subscriptions", &json!({"name": "Panel", "products": ["payroll", "payroll"]}));
    assert_eq!((response.status, response.header("cache-control")), (201, "no-store"));
    let created = response.json();
    assert_eq!(members(&created), ["primaryKey", "secondaryKey", "subscription"]);
    let subscription = &created["subscription"];
    let id = subscription["id"].as_str().unwrap();
    assert!(is_guid(id));
    assert_eq!(response.header("location"), format!("/operator/v1/subscriptions/{id}"));
    let known = [
        "cancelledAt",
        "createdAt",
        "dailyQuota",
        "id",
        "keys",
        "name",
        "products",
        "revision",
        "sandbox",
        "standing",
        "team",
    ];
    assert_eq!(members(subscription), known);
    assert_eq!([&subscription["name"], &subscription["standing"]], ["Panel", "active"]);
    assert_eq!([&subscription["dailyQuota"], &subscription["cancelledAt"]], [&Value::Null, &Value::Null]);
    let unused = |slot| json!({"slot": slot, "validUntil": null, "lastUsedAt": null});
    assert_eq!(subscription["keys"], json!([unused("primary"), unused("secondary")]));
    assert_eq!(subscription["products"], json!(["payroll"]));
    for key in ["primaryKey", "secondaryKey"].map(|member| created[member].as_str().unwrap()) {
        assert_eq!((status(key, PAYROLL), status(key, COMPANIES)), (200, 401));
    }
    let mut read_back = api.get(&format!("/subscriptions/{id}")).json();
    assert_eq!(members(&read_back), known, "the keys are returned once");
    read_back.as_object_mut().unwrap().remove("keys");
    assert!(api.read_all_pages("/subscriptions", "subscriptions", 3).contains(&read_back));
}

#[test]
fn suspending_and_resuming_takes_effect_at_once() {
    let (id, primary, secondary) = new_subscription(&["accounting"]);
    let api = OperatorApi(unlimited_server());
    assert!(is_accepted(&primary) && is_accepted(&secondary), "both keys are cached now");
    let path = format!("/subscriptions/{id}");
    assert_eq!(api.patch(&path, &json!({"standing": "suspended"})).json()["standing"], "suspended");
    assert!(!is_accepted(&primary) && !is_accepted(&secondary), "the very next call is refused");
    assert_eq!(
        api.patch(&path, &json!({})).json()["standing"],
        "suspended",
        "an empty patch changes nothing"
    );
    assert_eq!(api.patch(&path, &json!({"standing": "active"})).json()["standing"], "active");
    assert!(is_accepted(&primary) && is_accepted(&secondary), "the very next call is accepted");
}

/// The subscription's keys: the slot, and whether the key was replaced.
#[track_caller]
fn slots(id: &str) -> Vec<(&'static str, bool)> {
    let read_back = OperatorApi(unlimited_server()).get(&format!("/subscriptions/{id}")).json();
    let slot = |key: &Value| match key["slot"].as_str().unwrap() {
        "primary" => "primary",
        _ => "secondary",
    };
    read_back["keys"]
        .as_array()
        .unwrap()
        .iter()
        .map(|key| (slot(key), key["validUntil"].is_string()))
        .collect()
}

#[test]
fn a_replaced_key_works_during_the_overlap_and_not_after() {
    let (id, primary, secondary) = new_subscription(&["accounting", "payroll"]);
    let api = OperatorApi(unlimited_server());
    let replace = |slot: &str, body: &Value| {
        let response = api.post(&format!("/subscriptions/{id}/keys/{slot}"), body);
        assert_eq!((response.status, response.header("cache-control")), (200, "no-store"), "{response:?}");
        let created = response.json();
        assert_eq!(members(&created), ["key", "oldValidUntil", "slot"]);
        assert_eq!(created["slot"], slot);
        created["key"].as_str().unwrap().to_owned()
    };
    let second = replace("primary", &json!({"overlap": "1h"}));
    assert!(
        is_accepted(&second) && is_accepted(&primary) && is_accepted(&secondary),
        "all three keys are valid"
    );
    assert_eq!(slots(&id), [("primary", false), ("primary", true), ("secondary", false)]);
    let third = replace("primary", &json!({"overlap": "0s"}));
    assert!(!is_accepted(&second), "an overlap of zero ends at once");
    assert!(is_accepted(&third) && is_accepted(&primary), "the first key's overlap continues");
    let other = replace("secondary", &json!({"overlap": "1s"}));
    assert!(is_accepted(&other));
    assert_within_seconds(4, "the overlap to end", || !is_accepted(&secondary));
    assert!(is_accepted(&third) && is_accepted(&other));
    let bare = api.request(hyper::Method::POST, &format!("/subscriptions/{id}/keys/secondary")).send();
    assert_eq!(bare.status, 200);
    assert!(is_accepted(&other), "the default overlap is a day");
}

#[test]
fn cancelling_a_subscription_is_permanent() {
    let (id, primary, secondary) = new_subscription(&["accounting"]);
    let api = OperatorApi(unlimited_server());
    assert!(is_accepted(&primary) && is_accepted(&secondary), "both keys are cached now");
    let path = format!("/subscriptions/{id}");
    let cancel = || api.request(hyper::Method::POST, &format!("{path}/cancel")).send();
    let cancelled = cancel();
    assert_eq!(
        (cancelled.status, &cancelled.json()["standing"], &cancelled.json()["keys"]),
        (200, &json!("cancelled"), &json!([]))
    );
    assert!(cancelled.json()["cancelledAt"].is_string(), "{cancelled:?}");
    assert!(!is_accepted(&primary) && !is_accepted(&secondary), "the very next call is refused");
    let message = format!("Subscription \"{id}\" is cancelled permanently; create a new one instead.");
    for refused in [
        api.patch(&path, &json!({"standing": "active"})),
        api.patch(&path, &json!({"dailyQuota": 5})),
        api.patch(&path, &json!({"dailyQuota": null})),
        api.post(&format!("{path}/keys/primary"), &json!({})),
        api.post(&format!("{path}/keys/secondary"), &json!({"overlap": "1h"})),
    ] {
        assert_eq!((refused.problem(409), refused.problem_code()), (message.clone(), "cancelled".into()));
    }
    for action in ["resume", "suspend", "rotate"] {
        unlimited_server()
            .installation
            .program(&["key", action, &id])
            .run()
            .expect_failure(5, "is cancelled permanently");
    }
    assert_eq!(cancel().json(), cancelled.json(), "cancelling again changes nothing");
    assert_eq!(api.get(&path).json(), cancelled.json());
    assert!(!is_accepted(&primary) && !is_accepted(&secondary));
    assert_eq!(api.get(&format!("{path}/usage")).status, 200, "its usage stays readable");
}

#[test]
fn invalid_members_and_unknown_subscriptions_are_refused() {
    let api = OperatorApi(unlimited_server());
    for (field, body, message) in [
        ("products", json!({"name": "P", "products": []}), "must have 1 to 3"),
        (
            "products[0]",
            json!({"name": "P", "products": ["banking"]}),
            "expected one of `accounting`, `payroll`, `invoicing`",
        ),
        ("products", json!({"name": "P", "products": "payroll"}), "expected a sequence"),
        ("name", json!({"name": "", "products": ["payroll"]}), "1 to 200 characters"),
    ] {
        let refused = api.post("/subscriptions", &body);
        assert!(refused.problem(400).contains(message), "{refused:?}");
        assert_eq!(refused.problem_field(), field);
    }
    let (id, ..) = new_subscription(&["payroll"]);
    let tertiary = api.post(&format!("/subscriptions/{id}/keys/tertiary"), &json!({}));
    assert_eq!(
        tertiary.problem(404),
        "There is no key \"tertiary\"; a subscription has primary and secondary."
    );
    for wrong in [json!(0), json!(-1), json!(1.5), json!(1_000_000_000_001_u64)] {
        let refused = api.patch(&format!("/subscriptions/{id}"), &json!({"dailyQuota": wrong}));
        assert!(refused.problem(400).contains("a whole number from 1 to 1000000000000"), "{refused:?}");
        assert_eq!(refused.problem_field(), "dailyQuota");
    }
    let whole = api.patch(&format!("/subscriptions/{id}"), &json!({"dailyQuota": 5.0}));
    assert_eq!(whole.json()["dailyQuota"], 5);
    let cancelled = api.patch(&format!("/subscriptions/{id}"), &json!({"standing": "cancelled"}));
    assert!(cancelled.problem(400).contains("expected `active` or `suspended`"), "{cancelled:?}");
    let disabled = api.patch(&format!("/subscriptions/{id}"), &json!({"standing": "disabled"}));
    assert!(disabled.problem(400).contains("expected `active` or `suspended`"), "{disabled:?}");
    api.get("/subscriptions/nobody").problem(404);
    api.patch("/subscriptions/nobody", &json!({"standing": "active"})).problem(404);
    api.patch("/subscriptions/nobody", &json!({"dailyQuota": 5})).problem(404);
    api.post("/subscriptions/nobody/keys/primary", &json!({})).problem(404);
    api.post("/subscriptions/nobody/cancel", &json!({})).problem(404);
    api.get("/subscriptions/nobody/usage").problem(404);
}
