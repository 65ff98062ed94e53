//! The access token, which the gateway checks after the subscription key.

use std::time::Duration;

use crate::harness::{
    ALL_SCOPES, ApiFixture, EmbeddedServer, HttpResponse, Installation, RawConnection, SubscriptionKeys,
    assert_within_seconds, claims, register_app, shared_api, unlimited_server, wait_for_duration,
};

const COMPANIES: &str = "/accounting/api/companies";
const INVALID: &str = "Bearer error=\"invalid_token\"";

/// A call with a valid key and this value of the Authorization header.
fn with_authorization(value: &str) -> HttpResponse {
    shared_api().get(COMPANIES).header("authorization", value).send()
}

#[track_caller]
fn assert_invalid(response: &HttpResponse) {
    response.problem(401);
    assert_eq!(response.header("www-authenticate"), INVALID, "{response:?}");
}

#[test]
fn a_missing_token_is_refused() {
    for nothing in ["", "Bearer", "Bearer ", "Basic dXNlcjpwYXNz"] {
        let refused = with_authorization(nothing);
        refused.problem(401);
        assert_eq!(refused.header("www-authenticate"), "Bearer", "{nothing:?}: a challenge without an error");
    }
}

#[test]
fn an_invalid_token_is_refused() {
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
fn a_non_ascii_token_is_invalid_not_missing() {
    let head = format!(
        "GET {COMPANIES} HTTP/1.1\r\nocp-apim-subscription-key: {}\r\nauthorization: Bearer ñ{}\r\n",
        shared_api().key,
        shared_api().token
    );
    assert_invalid(&RawConnection::open(&shared_api().url(""), &head).response().unwrap());
}

#[test]
fn the_bearer_scheme_is_case_insensitive() {
    for scheme in ["Bearer", "bearer", "BEARER", "bEaReR"] {
        assert_eq!(with_authorization(&format!("{scheme} {}", shared_api().token)).status, 200, "{scheme}");
    }
}

#[test]
fn id_and_refresh_tokens_are_not_access_tokens() {
    let tokens = shared_api().tokens(ALL_SCOPES);
    assert_invalid(&with_authorization(&format!("Bearer {}", tokens.id())));
    assert_invalid(&with_authorization(&format!("Bearer {}", tokens.refresh())));
    assert_eq!(with_authorization(&format!("Bearer {}", tokens.access())).status, 200);
}

#[test]
fn another_servers_token_is_refused() {
    let server = EmbeddedServer::start(Installation::new(), &[]);
    let other = ApiFixture::on(&server, &SubscriptionKeys::new(&server, &[]));
    assert_eq!(other.get(COMPANIES).send().status, 200);
    assert_eq!(claims(&other.token)["iss"], claims(&shared_api().token)["iss"], "only the signature differs");
    assert_invalid(&with_authorization(&format!("Bearer {}", other.token)));
}

#[test]
fn a_token_expires_after_its_lifetime_and_the_clock_tolerance() {
    let server = EmbeddedServer::start(
        Installation::new(),
        &["identity.access_token_ttl=1s", "gateway.rate_per_minute=0"],
    );
    let mut api = ApiFixture::on(&server, &SubscriptionKeys::new(&server, &[]));
    api.tokens(ALL_SCOPES).access().clone_into(&mut api.token);
    wait_for_duration(Duration::from_millis(2100));
    assert_eq!(api.get(COMPANIES).send().status, 200, "clocks may differ by 5 s");
    assert_within_seconds(6, "the token to expire", || api.get(COMPANIES).send().status != 200);
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
fn a_token_of_another_client_of_the_tenant_is_accepted() {
    let api = ApiFixture::new();
    let other = api.sign_in.with_app(register_app(unlimited_server(), &[]));
    let tokens = other.tokens_for(&other.authorization_request().with("scope", ALL_SCOPES));
    let response = api.get(COMPANIES).header("authorization", &format!("Bearer {}", tokens.access())).send();
    assert_eq!(response.status, 200);
}
