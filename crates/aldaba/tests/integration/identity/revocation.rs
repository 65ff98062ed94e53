//! Taking back: by the application, at once on this node and within five seconds on another.

use serde_json::json;

use crate::harness::{
    Database, Installation, ServeProcess, SignInFixture, Tokens, assert_within_seconds, oauth_error,
    register_app, shared_fixture, shared_server, shared_signed_in_browser,
};

fn tokens() -> Tokens {
    let fixture = shared_fixture();
    Tokens::from_response(
        &fixture.exchange(
            &fixture.code_in_browser(&shared_signed_in_browser(), &fixture.authorization_request()),
        ),
    )
}

/// Nothing that came of the grant is good any more.
#[track_caller]
fn is_dead(fixture: &SignInFixture<'_>, tokens: &Tokens) {
    assert_eq!(fixture.userinfo(tokens.access()).status, 401);
    assert_eq!(oauth_error(&fixture.refresh(tokens.refresh()), 400), "invalid_grant");
    for token in [tokens.access(), tokens.refresh()] {
        assert_eq!(fixture.introspect(token), json!({"active": false}));
    }
}

#[test]
fn either_token_ends_the_grant_at_once() {
    let fixture = shared_fixture();
    for pick in [Tokens::access, Tokens::refresh] {
        let tokens = tokens();
        assert_eq!(fixture.userinfo(tokens.access()).status, 200, "it was good, and that was just looked up");
        let response = fixture.revoke(pick(&tokens));
        assert_eq!((response.status, response.header("cache-control")), (200, "no-store"));
        is_dead(fixture, &tokens);
        assert_eq!(fixture.revoke(pick(&tokens)).status, 200, "again changes nothing");
    }
}

#[test]
fn a_token_that_was_rotated_still_ends_its_grant() {
    let fixture = shared_fixture();
    let first = tokens();
    let second = Tokens::from_response(&fixture.refresh(first.refresh()));
    assert_eq!(fixture.revoke(first.refresh()).status, 200);
    is_dead(fixture, &second);
}

#[test]
fn one_grant_ends_and_others_live() {
    let fixture = shared_fixture();
    let [one, other] = [tokens(), tokens()];
    fixture.revoke(one.access());
    is_dead(fixture, &one);
    assert_eq!(fixture.userinfo(other.access()).status, 200);
    assert_eq!(fixture.refresh(other.refresh()).status, 200);
}

#[test]
fn what_is_not_the_clients_own_is_left_alone() {
    let fixture = shared_fixture();
    let tokens = tokens();
    let other = fixture.with_app(register_app(shared_server(), &[]));
    for token in [tokens.access(), tokens.refresh(), "nonsense", tokens.id()] {
        assert_eq!(other.revoke(token).status, 200, "RFC 7009: no error, and nothing happens");
    }
    assert_eq!(fixture.userinfo(tokens.access()).status, 200);
    assert_eq!(fixture.refresh(tokens.refresh()).status, 200);
    assert_eq!(oauth_error(&fixture.revoke(""), 400), "invalid_request");
    let stranger = fixture.post_form("connect/revocation", &[("token", tokens.access())]);
    assert_eq!(oauth_error(&stranger, 401), "invalid_client");
}

#[test]
fn another_node_knows_within_five_seconds() {
    let database = Database::create();
    let [first, second] = [(); 2].map(|()| Installation::with_store(&database.url()));
    second.copy_master_key_from(&first);
    let [first, second] = [first, second].map(|installation| ServeProcess::start(installation, &[]));
    let here = SignInFixture::on(&first, 1, &[]);
    let there = SignInFixture {
        server: &second,
        tenants: here.tenants.clone(),
        email: here.email.clone(),
        app: here.app.clone(),
    };
    let tokens = Tokens::from_response(&there.exchange(&here.code(&here.authorization_request())));
    assert_eq!(there.userinfo(tokens.access()).status, 200, "nodes are alike");
    assert_eq!(here.userinfo(tokens.access()).status, 200);
    assert_eq!(here.revoke(tokens.access()).status, 200);
    assert_eq!(here.userinfo(tokens.access()).status, 401, "at once where it happened");
    assert_within_seconds(5, "the other node to refuse", || there.userinfo(tokens.access()).status == 401);
    is_dead(&there, &tokens);

    let tokens = Tokens::from_response(&there.exchange(&here.code(&here.authorization_request())));
    assert_eq!(there.userinfo(tokens.access()).status, 200);
    here.command(&["user", "disable", &here.email]);
    assert_within_seconds(5, "the other node to refuse the user", || {
        there.userinfo(tokens.access()).status == 401
    });
    assert_eq!(oauth_error(&there.refresh(tokens.refresh()), 400), "invalid_grant");
}

#[test]
fn a_node_that_hears_nothing_from_the_store_refuses_every_token() {
    let database = Database::create();
    let server = ServeProcess::start(Installation::with_store(&database.url()), &[]);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let tokens = fixture.tokens();
    assert_eq!(fixture.userinfo(tokens.access()).status, 200);
    drop(database);
    assert_within_seconds(8, "the node to refuse", || fixture.userinfo(tokens.access()).status != 200);
    let response = fixture.userinfo(tokens.access());
    assert!(response.status >= 500, "the token may be good, and nobody knows: {response:?}");
}
