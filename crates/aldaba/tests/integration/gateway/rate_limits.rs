//! The rate limit: calls per minute and subscription.

use crate::harness::{
    ApiFixture, EmbeddedServer, HttpResponse, Installation, SubscriptionKeys, run_concurrently, shared_api,
};

const COMPANIES: &str = "/accounting/api/companies";

fn number(response: &HttpResponse, name: &str) -> u64 {
    response.header(name).parse().unwrap_or_else(|error| panic!("{name}: {error}: {response:?}"))
}

#[test]
fn calls_past_the_limit_are_refused_with_retry_after() {
    let server = EmbeddedServer::start(Installation::new(), &["gateway.rate_per_minute=3"]);
    let keys = SubscriptionKeys::new(&server, &[]);
    let api = ApiFixture::on(&server, &keys);
    let request = |key: &str| api.get(COMPANIES).header("ocp-apim-subscription-key", key).send();
    for left in [2, 1, 0] {
        let key = if left == 1 { &keys.secondary } else { &keys.primary };
        let response = request(key);
        assert_eq!((response.status, number(&response, "ratelimit-limit")), (200, 3));
        assert_eq!(number(&response, "ratelimit-remaining"), left);
        assert!((1..=60).contains(&number(&response, "ratelimit-reset")), "{response:?}");
        assert_eq!(response.header("retry-after"), "");
    }
    for key in [&keys.primary, &keys.secondary] {
        let over = request(key);
        let seconds = number(&over, "retry-after");
        assert!((1..=20).contains(&seconds), "the bucket gains one call every 20 s: {over:?}");
        assert_eq!(over.problem(429), format!("Rate limit is exceeded. Try again in {seconds} seconds."));
        assert_eq!(number(&over, "ratelimit-limit"), 3);
        assert_eq!(number(&over, "ratelimit-remaining"), 0);
        assert!((40..=60).contains(&number(&over, "ratelimit-reset")), "{over:?}");
    }
    let other = SubscriptionKeys::new(&server, &[]);
    assert_eq!(
        number(&request(&other.primary), "ratelimit-remaining"),
        2,
        "each subscription has its own limit"
    );
    assert!(api.get("/nothing").send().status == 404, "unknown paths are not counted");
}

#[test]
fn concurrent_calls_do_not_exceed_the_limit() {
    let server = EmbeddedServer::start(Installation::new(), &["gateway.rate_per_minute=5"]);
    let api = ApiFixture::on(&server, &SubscriptionKeys::new(&server, &[]));
    let mut statuses = run_concurrently(20, |_| api.get(COMPANIES).send().status);
    statuses.sort_unstable();
    assert_eq!(statuses, [vec![200; 5], vec![429; 15]].concat());
}

#[test]
fn failed_calls_carry_the_rate_limit_headers() {
    let server = EmbeddedServer::start(Installation::new(), &["gateway.rate_per_minute=3"]);
    let api = ApiFixture::on(&server, &SubscriptionKeys::new(&server, &[]));
    let bad = api.get("/accounting/api/companies?pageSize=0").send();
    bad.problem(400);
    assert_eq!(number(&bad, "ratelimit-remaining"), 2, "a bad request counts as a call");
}

#[test]
fn zero_means_no_limit() {
    for _ in 0..5 {
        let response = shared_api().get(COMPANIES).send();
        assert_eq!(response.status, 200);
        for name in ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"] {
            assert_eq!(response.header(name), "", "no rate limit headers");
        }
    }
}
