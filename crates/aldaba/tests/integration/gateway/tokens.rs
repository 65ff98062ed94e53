//! The access token: the second thing that is asked of a call.

use std::time::Duration;

use crate::harness::{
    ALL_SCOPES, ApiFixture, HttpResponse, Installation, RawConnection, ServeProcess, SubscriptionKeys,
    assert_within_seconds, claims, register_app, shared_api, unlimited_server, wait_for_duration,
};

const COMPANIES: &str = "/accounting/api/companies";
const INVALID: &str = "Bearer error=\"invalid_token\"";

/// A call with a good key and this in the header Authorization.
fn with_authorization(value: &str) -> HttpResponse {
    shared_api().get(COMPANIES).header("authorization", value).send()
}

#[track_caller]
fn assert_invalid(response: &HttpResponse) {
    response.problem(401);
    assert_eq!(response.header("www-authenticate"), INVALID, "{response:?}");
}

#[test]
fn without_a_token_nobody_comes_in() {
    for nothing in ["", "Bearer", "Bearer ", "Basic dXNlcjpwYXNz"] {
        let refused = with_authorization(nothing);
        refused.problem(401);
        assert_eq!(refused.header("www-authenticate"), "Bearer", "{nothing:?}: no error to tell of");
    }
}

#[test]
fn a_wrong_token_is_told() {
    let good = &shared_api().token;
    let (head, signature) = good.rsplit_once('.').unwrap();
    let unsigned = format!("{head}.");
    let changed = format!("{head}.{}", signature.chars().rev().collect::<String>());
    for wrong in ["x", "a.b.c", "ey.ey.ey", &unsigned, &changed, &good[1..], &"x".repeat(8000)] {
        assert_invalid(&with_authorization(&format!("Bearer {wrong}")));
    }
    assert_eq!(with_authorization(&format!("Bearer {good}")).status, 200);
}

#[test]
fn strange_bytes_are_a_wrong_token_and_no_missing_one() {
    let head = format!(
        "GET {COMPANIES} HTTP/1.1\r\nocp-apim-subscription-key: {}\r\nauthorization: Bearer ñ{}\r\n",
        shared_api().key,
        shared_api().token
    );
    assert_invalid(&RawConnection::open(&shared_api().url(""), &head).response().unwrap());
}

#[test]
fn bearer_is_read_in_any_case() {
    for scheme in ["Bearer", "bearer", "BEARER", "bEaReR"] {
        assert_eq!(with_authorization(&format!("{scheme} {}", shared_api().token)).status, 200, "{scheme}");
    }
}

#[test]
fn an_id_token_or_a_refresh_token_is_no_access_token() {
    let tokens = shared_api().tokens(ALL_SCOPES);
    assert_invalid(&with_authorization(&format!("Bearer {}", tokens.id())));
    assert_invalid(&with_authorization(&format!("Bearer {}", tokens.refresh())));
    assert_eq!(with_authorization(&format!("Bearer {}", tokens.access())).status, 200);
}

#[test]
fn another_servers_token_is_wrong() {
    let server = ServeProcess::start(Installation::new(), &[]);
    let other = ApiFixture::on(&server, &SubscriptionKeys::new(&server, &[]));
    assert_eq!(other.get(COMPANIES).send().status, 200);
    assert_eq!(claims(&other.token)["iss"], claims(&shared_api().token)["iss"], "only the signature tells");
    assert_invalid(&with_authorization(&format!("Bearer {}", other.token)));
}

#[test]
fn a_token_ends_with_its_time_and_the_tolerance() {
    let server = ServeProcess::start(
        Installation::new(),
        &["--set", "identity.access_token_ttl=1s", "--set", "gateway.rate_per_minute=0"],
    );
    let mut api = ApiFixture::on(&server, &SubscriptionKeys::new(&server, &[]));
    api.tokens(ALL_SCOPES).access().clone_into(&mut api.token);
    wait_for_duration(Duration::from_millis(2100));
    assert_eq!(api.get(COMPANIES).send().status, 200, "clocks may differ by 5 s");
    assert_within_seconds(6, "the token to end", || api.get(COMPANIES).send().status != 200);
    assert_invalid(&api.get(COMPANIES).send());
}

#[test]
fn a_revoked_token_is_refused_at_once() {
    let tokens = shared_api().tokens(ALL_SCOPES);
    let request = || with_authorization(&format!("Bearer {}", tokens.access()));
    assert_eq!(request().status, 200);
    assert_eq!(shared_api().sign_in.revoke(tokens.refresh()).status, 200);
    assert_invalid(&request());
    assert_eq!(with_authorization(&format!("Bearer {}", shared_api().token)).status, 200, "another grant");
}

#[test]
fn a_disabled_tenant_is_refused_within_seconds() {
    let api = ApiFixture::new();
    api.read(COMPANIES);
    unlimited_server().installation.program(&["tenant", "disable", &api.ingest.tenant]).run().code(0);
    assert_within_seconds(6, "the token to be refused", || api.get(COMPANIES).send().status == 401);
    assert_invalid(&api.get(COMPANIES).send());
}

#[test]
fn a_token_is_of_one_tenant_whoever_its_application_is() {
    let api = ApiFixture::new();
    let other = api.sign_in.with_app(register_app(unlimited_server(), &[]));
    let tokens = other.tokens_for(&other.authorization_request().with("scope", ALL_SCOPES));
    let response = api.get(COMPANIES).header("authorization", &format!("Bearer {}", tokens.access())).send();
    assert_eq!(response.status, 200);
}
