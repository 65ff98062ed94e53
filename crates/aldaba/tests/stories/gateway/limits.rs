//! The rate limit: so many calls a minute for each subscription.

use crate::harness::{Api, Keys, Reply, Serve, Site, at_once, room};

const COMPANIES: &str = "/accounting/api/companies";

fn number(reply: &Reply, name: &str) -> u64 {
    reply.header(name).parse().unwrap_or_else(|error| panic!("{name}: {error}: {reply:?}"))
}

#[test]
fn past_the_limit_a_call_is_told_when_to_come_again() {
    let serve = Serve::start(Site::new(), &["--set", "gateway.rate_per_minute=3"]);
    let keys = Keys::new(&serve, &[]);
    let api = Api::on(&serve, &keys);
    let call = |key: &str| api.get(COMPANIES).header("ocp-apim-subscription-key", key).send();
    for left in [2, 1, 0] {
        let key = if left == 1 { &keys.secondary } else { &keys.primary };
        let reply = call(key);
        assert_eq!((reply.status, number(&reply, "ratelimit-limit")), (200, 3));
        assert_eq!(number(&reply, "ratelimit-remaining"), left);
        assert!((1..=60).contains(&number(&reply, "ratelimit-reset")), "{reply:?}");
        assert_eq!(reply.header("retry-after"), "");
    }
    for key in [&keys.primary, &keys.secondary] {
        let over = call(key);
        let seconds = number(&over, "retry-after");
        assert!((1..=20).contains(&seconds), "a third of a minute fills one call: {over:?}");
        assert_eq!(over.problem(429), format!("Rate limit is exceeded. Try again in {seconds} seconds."));
        assert_eq!(number(&over, "ratelimit-limit"), 3);
        assert_eq!(number(&over, "ratelimit-remaining"), 0);
        assert!((40..=60).contains(&number(&over, "ratelimit-reset")), "{over:?}");
    }
    let other = Keys::new(&serve, &[]);
    assert_eq!(number(&call(&other.primary), "ratelimit-remaining"), 2, "each subscription has its own");
    assert!(api.get("/nothing").send().status == 404, "what is before the gate is not counted");
}

#[test]
fn a_crowd_gets_no_more_than_the_limit() {
    let serve = Serve::start(Site::new(), &["--set", "gateway.rate_per_minute=5"]);
    let api = Api::on(&serve, &Keys::new(&serve, &[]));
    let mut statuses = at_once(20, |_| api.get(COMPANIES).send().status);
    statuses.sort_unstable();
    assert_eq!(statuses, [vec![200; 5], vec![429; 15]].concat());
}

#[test]
fn refusals_and_errors_carry_the_limit_too() {
    let serve = Serve::start(Site::new(), &["--set", "gateway.rate_per_minute=3"]);
    let api = Api::on(&serve, &Keys::new(&serve, &[]));
    let bad = api.get("/accounting/api/companies?pageSize=0").send();
    bad.problem(400);
    assert_eq!(number(&bad, "ratelimit-remaining"), 2, "a call that cannot be taken is a call");
}

#[test]
fn zero_means_no_limit() {
    for _ in 0..5 {
        let reply = room().get(COMPANIES).send();
        assert_eq!(reply.status, 200);
        for name in ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"] {
            assert_eq!(reply.header(name), "", "nothing is counted");
        }
    }
}
