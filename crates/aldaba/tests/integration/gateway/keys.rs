//! The subscription key: the first thing that is asked of a call.

use hyper::Method;

use crate::harness::{
    ApiFixture, HttpRequest, HttpResponse, RawConnection, SubscriptionKeys, assert_within_seconds,
    shared_api, unlimited_server,
};

const MISSING: &str = "Access denied due to missing subscription key. Make sure to include subscription key when making requests to an API.";
const INVALID: &str = "Access denied due to invalid subscription key. Make sure to provide a valid key for an active subscription.";
const COMPANIES: &str = "/accounting/api/companies";

/// A call with a good token and this key in the header; none where it is empty.
fn with_key(key: &str, path: &str) -> HttpResponse {
    shared_api().get(path).header("ocp-apim-subscription-key", key).send()
}

/// Whether a key lets in now.
fn opens(key: &str) -> bool {
    let response = with_key(key, COMPANIES);
    if response.status != 200 {
        assert_eq!(response.problem(401), INVALID);
    }
    response.status == 200
}

#[test]
fn without_a_key_nobody_comes_in() {
    let missing = with_key("", COMPANIES);
    assert_eq!(missing.problem(401), MISSING);
    assert_eq!(missing.header("www-authenticate"), "", "a token would not help");
    assert_eq!(with_key("", &format!("{COMPANIES}?subscription-key=")).problem(401), MISSING);
    assert_eq!(with_key("", &format!("{COMPANIES}?key={}", shared_api().key)).problem(401), MISSING);
}

#[test]
fn a_wrong_key_is_told_apart_from_a_missing_one() {
    let (good, id) = (&shared_api().key, &SubscriptionKeys::new(unlimited_server(), &[]).id);
    let cut = &good[1..];
    for wrong in
        ["nonsense", cut, &format!("{good}0"), &good.to_uppercase().replace('0', "1"), id, &"x".repeat(4000)]
    {
        assert_eq!(with_key(wrong, COMPANIES).problem(401), INVALID, "{wrong}");
        let asked = with_key("", &format!("{COMPANIES}?subscription-key={wrong}"));
        assert_eq!(asked.problem(401), INVALID, "{wrong}");
    }
}

#[test]
fn strange_bytes_are_a_wrong_key_and_no_missing_one() {
    let head = format!("GET {COMPANIES} HTTP/1.1\r\nocp-apim-subscription-key: ñ{}\r\n", shared_api().key);
    let refused = RawConnection::open(&shared_api().url(""), &head).response().unwrap();
    assert_eq!(refused.problem(401), INVALID);
}

#[test]
fn both_keys_of_a_subscription_open() {
    let keys = SubscriptionKeys::new(unlimited_server(), &[]);
    assert_ne!(keys.primary, keys.secondary);
    assert!(opens(&keys.primary) && opens(&keys.secondary));
}

#[test]
fn the_query_counts_only_where_the_header_is_absent() {
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
fn a_key_never_stands_in_a_link() {
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
fn a_key_opens_its_products_alone() {
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
fn a_suspended_subscription_is_refused_within_seconds_and_let_in_again() {
    let keys = SubscriptionKeys::new(unlimited_server(), &[]);
    assert!(opens(&keys.primary) && opens(&keys.secondary), "both are known by now");
    unlimited_server().installation.program(&["key", "suspend", &keys.id]).run().code(0);
    assert_within_seconds(3, "the key to be refused", || !opens(&keys.primary) && !opens(&keys.secondary));
    unlimited_server().installation.program(&["key", "resume", &keys.id]).run().code(0);
    assert_within_seconds(3, "the key to be let in", || opens(&keys.primary) && opens(&keys.secondary));
}

#[test]
fn a_rotated_key_stays_good_for_the_overlap() {
    let keys = SubscriptionKeys::new(unlimited_server(), &[]);
    let rotate = |slot: &str, overlap: &str| {
        let arguments = ["key", "rotate", &keys.id, "--slot", slot, "--overlap", overlap, "--json"];
        unlimited_server().installation.program(&arguments).run().json()["key"].as_str().unwrap().to_owned()
    };
    let new = rotate("primary", "1h");
    assert!(opens(&new) && opens(&keys.primary) && opens(&keys.secondary), "all three, at once");
    assert!(opens(&keys.secondary));
    let newer = rotate("secondary", "0s");
    assert!(opens(&newer));
    assert_within_seconds(3, "the old key to be refused", || !opens(&keys.secondary));
    assert!(opens(&new) && opens(&keys.primary), "the other slot is as it was");
}

#[test]
fn an_overlap_comes_to_its_end() {
    let keys = SubscriptionKeys::new(unlimited_server(), &[]);
    assert!(opens(&keys.primary));
    unlimited_server().installation.program(&["key", "rotate", &keys.id, "--overlap", "1s"]).run().code(0);
    assert_within_seconds(4, "the old key to be refused", || !opens(&keys.primary));
    assert!(opens(&keys.secondary));
}

#[test]
fn a_key_is_nobodys_tenant() {
    let (one, other) = (shared_api(), ApiFixture::new());
    assert_eq!(one.key, other.key, "a subscription is the developer's, not the tenant's");
    assert_eq!(other.read(COMPANIES).json(), serde_json::json!([]));
}

#[test]
fn the_key_comes_before_the_token() {
    let url = shared_api().url(COMPANIES);
    assert_eq!(HttpRequest::get(&url).send().problem(401), MISSING);
    let request = |key: &str| HttpRequest::new(Method::GET, &url).header("ocp-apim-subscription-key", key);
    assert_eq!(request("nonsense").send().problem(401), INVALID);
    assert_eq!(request("nonsense").header("authorization", "Bearer x").send().problem(401), INVALID);
    let message = request(&shared_api().key).send().problem(401);
    assert!(message.contains("access token"), "{message}");
}
