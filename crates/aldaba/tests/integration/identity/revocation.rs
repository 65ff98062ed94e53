//! Token revocation: immediate on the node that did it, within five seconds on others.

use serde_json::json;

use crate::harness::{
    Database, EmbeddedServer, Installation, ServeProcess, SignInFixture, Tokens, assert_within_seconds,
    oauth_error, register_app, shared_fixture, shared_server, shared_signed_in_browser,
};

fn tokens() -> Tokens {
    let fixture = shared_fixture();
    Tokens::from_response(
        &fixture.exchange(
            &fixture.code_in_browser(&shared_signed_in_browser(), &fixture.authorization_request()),
        ),
    )
}

/// Expects that no token of the grant is accepted.
#[track_caller]
fn expect_tokens_refused(fixture: &SignInFixture<'_>, tokens: &Tokens) {
    assert_eq!(fixture.userinfo(tokens.access()).status, 401);
    assert_eq!(oauth_error(&fixture.refresh(tokens.refresh()), 400), "invalid_grant");
    for token in [tokens.access(), tokens.refresh()] {
        assert_eq!(fixture.introspect(token), json!({"active": false}));
    }
}

#[test]
fn revoking_either_token_ends_the_grant_immediately() {
    let fixture = shared_fixture();
    for pick in [Tokens::access, Tokens::refresh] {
        let tokens = tokens();
        assert_eq!(
            fixture.userinfo(tokens.access()).status,
            200,
            "the token was valid, and its status is cached"
        );
        let response = fixture.revoke(pick(&tokens));
        assert_eq!((response.status, response.header("cache-control")), (200, "no-store"));
        expect_tokens_refused(fixture, &tokens);
        assert_eq!(fixture.revoke(pick(&tokens)).status, 200, "a second revocation changes nothing");
    }
}

#[test]
fn rotated_refresh_token_can_still_revoke_the_grant() {
    let fixture = shared_fixture();
    let first = tokens();
    let second = Tokens::from_response(&fixture.refresh(first.refresh()));
    assert_eq!(fixture.revoke(first.refresh()).status, 200);
    expect_tokens_refused(fixture, &second);
}

#[test]
fn revocation_ends_only_its_grant() {
    let fixture = shared_fixture();
    let [one, other] = [tokens(), tokens()];
    fixture.revoke(one.access());
    expect_tokens_refused(fixture, &one);
    assert_eq!(fixture.userinfo(other.access()).status, 200);
    assert_eq!(fixture.refresh(other.refresh()).status, 200);
}

#[test]
fn client_cannot_revoke_tokens_of_another_client() {
    let fixture = shared_fixture();
    let tokens = tokens();
    let other = fixture.with_app(register_app(shared_server(), &[]));
    for token in [tokens.access(), tokens.refresh(), "nonsense", tokens.id()] {
        assert_eq!(other.revoke(token).status, 200, "RFC 7009: success without an effect");
    }
    assert_eq!(fixture.userinfo(tokens.access()).status, 200);
    assert_eq!(fixture.refresh(tokens.refresh()).status, 200);
    assert_eq!(oauth_error(&fixture.revoke(""), 400), "invalid_request");
    let unauthenticated = fixture.post_form("connect/revocation", &[("token", tokens.access())]);
    assert_eq!(oauth_error(&unauthenticated, 401), "invalid_client");
}

#[test]
fn revocation_reaches_another_node_within_five_seconds() {
    let database = Database::create();
    let [first, second] = [(); 2].map(|()| Installation::with_store(&database.url()));
    second.copy_master_key_from(&first);
    let [first, second] = [first, second].map(|installation| ServeProcess::start(installation, &[]));
    let first_node = SignInFixture::on(&first, 1, &[]);
    let second_node = SignInFixture {
        server: &second,
        tenants: first_node.tenants.clone(),
        email: first_node.email.clone(),
        app: first_node.app.clone(),
    };
    let tokens =
        Tokens::from_response(&second_node.exchange(&first_node.code(&first_node.authorization_request())));
    assert_eq!(second_node.userinfo(tokens.access()).status, 200, "both nodes accept the token");
    assert_eq!(first_node.userinfo(tokens.access()).status, 200);
    assert_eq!(first_node.revoke(tokens.access()).status, 200);
    assert_eq!(first_node.userinfo(tokens.access()).status, 401, "immediately on the node that revoked it");
    assert_within_seconds(5, "the other node to refuse", || {
        second_node.userinfo(tokens.access()).status == 401
    });
    expect_tokens_refused(&second_node, &tokens);

    let tokens =
        Tokens::from_response(&second_node.exchange(&first_node.code(&first_node.authorization_request())));
    assert_eq!(second_node.userinfo(tokens.access()).status, 200);
    first_node.command(&["user", "disable", &first_node.email]);
    assert_within_seconds(5, "the other node to refuse the user", || {
        second_node.userinfo(tokens.access()).status == 401
    });
    assert_eq!(oauth_error(&second_node.refresh(tokens.refresh()), 400), "invalid_grant");
}

#[test]
fn node_without_the_store_refuses_every_token() {
    let database = Database::create();
    let server = EmbeddedServer::start(Installation::with_store(&database.url()), &[]);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let tokens = fixture.tokens();
    assert_eq!(fixture.userinfo(tokens.access()).status, 200);
    drop(database);
    assert_within_seconds(8, "the node to refuse", || fixture.userinfo(tokens.access()).status != 200);
    let response = fixture.userinfo(tokens.access());
    assert!(
        response.status >= 500,
        "without the store the node cannot know whether the token is valid: {response:?}"
    );
}
