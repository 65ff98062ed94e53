//! The refresh token grant: rotation, the grace period for lost responses, and reuse detection.

use std::time::Duration;

use serde_json::json;

use crate::harness::{
    EmbeddedServer, Installation, SCOPE, SignInFixture, Tokens, claims, half_hash, members, oauth_error,
    register_app, shared_fixture, shared_server, shared_signed_in_browser, wait_for_duration,
};

/// Tokens of the shared fixture's user.
fn tokens() -> Tokens {
    let fixture = shared_fixture();
    Tokens::from_response(
        &fixture.exchange(
            &fixture.code_in_browser(&shared_signed_in_browser(), &fixture.authorization_request()),
        ),
    )
}

fn refreshed(fixture: &SignInFixture<'_>, token: &str) -> Tokens {
    Tokens::from_response(&fixture.refresh(token))
}

#[test]
fn refresh_issues_new_tokens_of_the_same_grant() {
    let fixture = shared_fixture();
    let first = tokens();
    let second = refreshed(fixture, first.refresh());
    assert_eq!(members(&second.0), ["access_token", "expires_in", "id_token", "refresh_token", "token_type"]);
    assert_eq!((&second.0["token_type"], &second.0["expires_in"]), (&"Bearer".into(), &3600.into()));
    assert_ne!(first.refresh(), second.refresh());
    let [mut before, mut after] = [&first, &second].map(|tokens| claims(tokens.access()));
    for changing in ["exp", "iat", "nbf", "jti"] {
        let [before, after] = [&mut before, &mut after].map(|claims| claims[changing].take());
        assert!(!before.is_null() && !after.is_null(), "{changing}");
    }
    assert_eq!(before, after, "all other claims are unchanged");
    assert_eq!(fixture.userinfo(second.access()).status, 200);
    assert_eq!(
        fixture.userinfo(first.access()).status,
        200,
        "the older access token stays valid until it expires"
    );
}

#[test]
fn id_token_of_a_refresh_has_the_same_auth_time() {
    let first = tokens();
    let second = refreshed(shared_fixture(), first.refresh());
    let [before, after] = [claims(first.id()), claims(second.id())];
    for same in ["iss", "sub", "aud", "auth_time", "amr"] {
        assert_eq!(before[same], after[same], "{same}");
    }
    assert_eq!((after.get("nonce"), &after["at_hash"]), (None, &half_hash(second.access()).into()));
}

#[test]
fn retry_within_the_grace_period_gets_the_same_successor() {
    let fixture = shared_fixture();
    let first = tokens();
    let [one, other, third] = [(); 3].map(|()| refreshed(fixture, first.refresh()));
    assert_eq!([other.refresh(), third.refresh()], [one.refresh(); 2], "the same successor");
    assert_eq!(fixture.userinfo(other.access()).status, 200);
    assert_eq!(fixture.refresh(one.refresh()).status, 200);
}

#[test]
fn reuse_after_the_successor_was_used_revokes_the_family() {
    let fixture = shared_fixture();
    let first = tokens();
    let second = refreshed(fixture, first.refresh());
    let third = refreshed(fixture, second.refresh());
    assert_eq!(oauth_error(&fixture.refresh(first.refresh()), 400), "invalid_grant");
    for token in [second.refresh(), third.refresh()] {
        assert_eq!(oauth_error(&fixture.refresh(token), 400), "invalid_grant", "the token family is revoked");
    }
    for tokens in [first, second, third] {
        assert_eq!(fixture.userinfo(tokens.access()).status, 401);
        assert_eq!(fixture.introspect(tokens.access()), json!({"active": false}));
    }
}

#[test]
fn reuse_after_the_grace_period_revokes_the_family() {
    let server = EmbeddedServer::start(Installation::new(), &["identity.refresh_grace=1s"]);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let first = fixture.tokens();
    let second = refreshed(&fixture, first.refresh());
    wait_for_duration(Duration::from_millis(1050));
    assert_eq!(oauth_error(&fixture.refresh(first.refresh()), 400), "invalid_grant");
    assert_eq!(oauth_error(&fixture.refresh(second.refresh()), 400), "invalid_grant");
    assert_eq!(fixture.userinfo(second.access()).status, 401);
    assert_eq!(fixture.audit("kind=refresh_reused").len(), 1);
}

#[test]
fn another_client_can_neither_use_nor_revoke_a_refresh_token() {
    let fixture = shared_fixture();
    let first = tokens();
    let other = fixture.with_app(register_app(shared_server(), &[]));
    assert_eq!(oauth_error(&other.refresh(first.refresh()), 400), "invalid_grant");
    let second = refreshed(fixture, first.refresh());
    assert_eq!(oauth_error(&other.refresh(first.refresh()), 400), "invalid_grant", "and cannot revoke it");
    assert_eq!(fixture.refresh(second.refresh()).status, 200);
}

#[test]
fn scope_can_be_narrowed_but_not_widened() {
    let fixture = shared_fixture();
    let first = tokens();
    let with_scope = |token: &str, scope: &str| {
        fixture.token_request(&[("grant_type", "refresh_token"), ("refresh_token", token), ("scope", scope)])
    };
    for more in ["openid SVC.ES.EquipoContex", "SVC.ES.NEWPOL.COR.API", "address"] {
        assert_eq!(oauth_error(&with_scope(first.refresh(), more), 400), "invalid_scope", "{more}");
    }
    let less = Tokens::from_response(&with_scope(first.refresh(), "SVC.ES.Webhooks"));
    assert_eq!(claims(less.access())["scope"], json!(["SVC.ES.Webhooks"]));
    assert_eq!(claims(less.access()).get("email"), None, "without the scope there are no accounting claims");
    assert_eq!(less.0.get("id_token"), None);
    let all = refreshed(fixture, less.refresh());
    let scope: Vec<String> = serde_json::from_value(claims(all.access())["scope"].clone()).unwrap();
    assert_eq!(scope.join(" "), SCOPE, "the grant keeps its scopes");
    let known = Tokens::from_response(&with_scope(all.refresh(), "openid address"));
    assert_eq!(known.0["scope"], "openid", "an unknown scope is passed over, and the response says so");
}

#[test]
fn invalid_refresh_token_is_refused() {
    let fixture = shared_fixture();
    let first = tokens();
    for token in ["nonsense", first.access(), first.id(), &first.refresh()[1..]] {
        assert_eq!(oauth_error(&fixture.refresh(token), 400), "invalid_grant");
    }
    assert_eq!(oauth_error(&fixture.refresh(""), 400), "invalid_request");
    assert_eq!(fixture.refresh(first.refresh()).status, 200);
}

/// When a refresh token expires according to introspection: seconds since the grant, and as a timestamp.
fn expiry_of(fixture: &SignInFixture<'_>, token: &str) -> (i64, i64) {
    let introspection = fixture.introspect(token);
    let [exp, iat] = ["exp", "iat"].map(|member| introspection[member].as_i64().unwrap());
    (exp - iat, exp)
}

#[test]
fn fixed_lifetime_counts_from_the_exchange() {
    let fixture = shared_fixture();
    let first = tokens();
    let (span, end) = expiry_of(fixture, first.refresh());
    assert_eq!(span, 30 * 24 * 60 * 60);
    wait_for_duration(Duration::from_millis(1050));
    let second = refreshed(fixture, first.refresh());
    assert_eq!(expiry_of(fixture, second.refresh()), (span, end), "a refresh extends nothing");
}

#[test]
fn sliding_lifetime_counts_from_the_last_refresh() {
    let server = EmbeddedServer::start(Installation::new(), &["identity.refresh_sliding=true"]);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let first = fixture.tokens();
    let (_, end) = expiry_of(&fixture, first.refresh());
    wait_for_duration(Duration::from_millis(1050));
    let second = refreshed(&fixture, first.refresh());
    assert!(expiry_of(&fixture, second.refresh()).1 > end);
}

#[test]
fn refresh_token_expires_after_the_configured_time() {
    let server = EmbeddedServer::start(Installation::new(), &["identity.refresh_token_ttl=2s"]);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let first = fixture.tokens();
    wait_for_duration(Duration::from_millis(700));
    let second = refreshed(&fixture, first.refresh());
    wait_for_duration(Duration::from_millis(1400));
    assert_eq!(oauth_error(&fixture.refresh(second.refresh()), 400), "invalid_grant");
    assert_eq!(fixture.introspect(second.refresh()), json!({"active": false}));
}

#[test]
fn refresh_keeps_the_chosen_tenant() {
    let fixture = SignInFixture::with_tenants(2);
    let page = fixture.authorize_for_tenant(
        &fixture.browser(),
        &fixture.authorization_request(),
        &fixture.tenants[1],
    );
    let mut tokens = Tokens::from_response(&fixture.exchange(&page.params()["code"]));
    for _ in 0..3 {
        tokens = refreshed(&fixture, tokens.refresh());
        assert_eq!(claims(tokens.access())["svc.es.clientid"], fixture.tenants[1]);
    }
}
