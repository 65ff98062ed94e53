//! The subscription key, which the gateway checks first.

use hyper::Method;

use crate::harness::{
    ApiFixture, HttpRequest, HttpResponse, RawConnection, SubscriptionKeys, assert_within_seconds,
    shared_api, unlimited_server,
};

const MISSING: &str = "Access denied due to missing subscription key. Make sure to include subscription key when making requests to an API.";
const INVALID: &str = "Access denied due to invalid subscription key. Make sure to provide a valid key for an active subscription.";
const COMPANIES: &str = "/accounting/api/companies";

/// A call with a valid token and this key in the header; without the header where `key` is empty.
fn with_key(key: &str, path: &str) -> HttpResponse {
    shared_api().get(path).header("ocp-apim-subscription-key", key).send()
}

/// Whether the gateway accepts the key now.
fn is_accepted(key: &str) -> bool {
    let response = with_key(key, COMPANIES);
    if response.status != 200 {
        assert_eq!(response.problem(401), INVALID);
    }
    response.status == 200
}

#[test]
fn a_missing_key_is_refused() {
    let missing = with_key("", COMPANIES);
    assert_eq!(missing.problem(401), MISSING);
    assert_eq!(missing.header("www-authenticate"), "", "a token would not help");
    assert_eq!(with_key("", &format!("{COMPANIES}?subscription-key=")).problem(401), MISSING);
    assert_eq!(with_key("", &format!("{COMPANIES}?key={}", shared_api().key)).problem(401), MISSING);
}

#[test]
fn a_wrong_key_gets_another_message_than_a_missing_one() {
    let (good, id) = (&shared_api().key, &SubscriptionKeys::new(unlimited_server(), &[]).id);
    let cut = &good[1..];
    for wrong in
        ["nonsense", cut, &format!("{good}0"), &good.to_uppercase().replace('0', "1"), id, &"x".repeat(4000)]
    {
        assert_eq!(with_key(wrong, COMPANIES).problem(401), INVALID, "{wrong}");
        let response = with_key("", &format!("{COMPANIES}?subscription-key={wrong}"));
        assert_eq!(response.problem(401), INVALID, "{wrong}");
    }
}

#[test]
fn a_non_ascii_key_is_invalid_not_missing() {
    let head = format!("GET {COMPANIES} HTTP/1.1\r\nocp-apim-subscription-key: ñ{}\r\n", shared_api().key);
    let refused = RawConnection::open(&shared_api().url(""), &head).response().unwrap();
    assert_eq!(refused.problem(401), INVALID);
}

#[test]
fn both_keys_of_a_subscription_are_accepted() {
    let keys = SubscriptionKeys::new(unlimited_server(), &[]);
    assert_ne!(keys.primary, keys.secondary);
    assert!(is_accepted(&keys.primary) && is_accepted(&keys.secondary));
}

#[test]
fn the_query_key_is_read_only_without_the_header() {
    let key = &shared_api().key;
    for name in ["subscription-key", "Subscription-Key", "SUBSCRIPTION-KEY"] {
        assert_eq!(with_key("", &format!("{COMPANIES}?{name}={key}")).status, 200, "{name}");
        assert_eq!(with_key(key, &format!("{COMPANIES}?{name}=nonsense")).status, 200, "{name}");
        assert_eq!(
            with_key("nonsense", &format!("{COMPANIES}?{name}={key}")).problem(401),
            INVALID,
            "{name}"
        );
    }
}

#[test]
fn links_never_contain_the_key() {
    let response = with_key("", &format!("{COMPANIES}?Subscription-Key={}&pageSize=1", shared_api().key));
    assert_eq!(response.status, 200);
    assert!(
        !response.header("link").is_empty() && !response.header("link").contains(&shared_api().key),
        "{response:?}"
    );
    let feed = with_key("", &format!("{COMPANIES}/changes?subscription-key={}", shared_api().key));
    assert!(!feed.header("link").is_empty() && !feed.header("link").contains(&shared_api().key), "{feed:?}");
}

#[test]
fn a_key_gives_access_to_its_products_only() {
    let paths = [
        ("accounting", COMPANIES),
        ("accounting", "/accounting-core/api/persons"),
        ("accounting", "/accounting-import/api/integrationFiles"),
        ("payroll", "/payroll/api/companies"),
        ("invoicing", "/invoicing/api/changes"),
    ];
    for product in ["accounting", "payroll", "invoicing"] {
        let key = SubscriptionKeys::new(unlimited_server(), &[product]).primary;
        for (other, path) in paths {
            let response = with_key(&key, path);
            if other == product {
                assert_ne!(response.status, 401, "{product} at {path}: {response:?}");
            } else {
                assert_eq!(response.problem(401), INVALID, "{product} at {path}");
                assert_eq!(response.header("www-authenticate"), "");
            }
        }
    }
}

#[test]
fn suspending_and_resuming_a_subscription_takes_effect_within_seconds() {
    let keys = SubscriptionKeys::new(unlimited_server(), &[]);
    assert!(is_accepted(&keys.primary) && is_accepted(&keys.secondary), "both keys are cached now");
    unlimited_server().installation.program(&["key", "suspend", &keys.id]).run().code(0);
    assert_within_seconds(3, "the key to be refused", || {
        !is_accepted(&keys.primary) && !is_accepted(&keys.secondary)
    });
    unlimited_server().installation.program(&["key", "resume", &keys.id]).run().code(0);
    assert_within_seconds(3, "the key to be accepted", || {
        is_accepted(&keys.primary) && is_accepted(&keys.secondary)
    });
}

#[test]
fn a_rotated_key_stays_valid_during_the_overlap() {
    let keys = SubscriptionKeys::new(unlimited_server(), &[]);
    let rotate = |slot: &str, overlap: &str| {
        let arguments = ["key", "rotate", &keys.id, "--slot", slot, "--overlap", overlap, "--json"];
        unlimited_server().installation.program(&arguments).run().json()["key"].as_str().unwrap().to_owned()
    };
    let new = rotate("primary", "1h");
    assert!(
        is_accepted(&new) && is_accepted(&keys.primary) && is_accepted(&keys.secondary),
        "all three keys are valid"
    );
    assert!(is_accepted(&keys.secondary));
    let newer = rotate("secondary", "0s");
    assert!(is_accepted(&newer));
    assert_within_seconds(3, "the old key to be refused", || !is_accepted(&keys.secondary));
    assert!(is_accepted(&new) && is_accepted(&keys.primary), "the other slot is unchanged");
}

#[test]
fn the_old_key_is_refused_after_the_overlap() {
    let keys = SubscriptionKeys::new(unlimited_server(), &[]);
    assert!(is_accepted(&keys.primary));
    unlimited_server().installation.program(&["key", "rotate", &keys.id, "--overlap", "1s"]).run().code(0);
    assert_within_seconds(4, "the old key to be refused", || !is_accepted(&keys.primary));
    assert!(is_accepted(&keys.secondary));
}

#[test]
fn a_key_does_not_select_the_tenant() {
    let (one, other) = (shared_api(), ApiFixture::new());
    assert_eq!(one.key, other.key, "subscriptions belong to developers, not to tenants");
    assert_eq!(other.read(COMPANIES).json(), serde_json::json!([]));
}

#[test]
fn the_key_is_checked_before_the_token() {
    let url = shared_api().url(COMPANIES);
    assert_eq!(HttpRequest::get(&url).send().problem(401), MISSING);
    let request = |key: &str| HttpRequest::new(Method::GET, &url).header("ocp-apim-subscription-key", key);
    assert_eq!(request("nonsense").send().problem(401), INVALID);
    assert_eq!(request("nonsense").header("authorization", "Bearer x").send().problem(401), INVALID);
    let message = request(&shared_api().key).send().problem(401);
    assert!(message.contains("access token"), "{message}");
}
