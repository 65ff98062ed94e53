//! Taking back: by the application, at once on this node and within five seconds on another.

use serde_json::json;

use crate::harness::{
    Database, Office, Serve, Site, Tokens, at_lobby, lobby, new_app, oauth_error, shared, within_seconds,
};

fn tokens() -> Tokens {
    let office = lobby();
    Tokens::of(&office.exchange(&office.code_in(&at_lobby(), &office.ask())))
}

/// Nothing that came of the grant is good any more.
#[track_caller]
fn is_dead(office: &Office<'_>, tokens: &Tokens) {
    assert_eq!(office.userinfo(tokens.access()).status, 401);
    assert_eq!(oauth_error(&office.refresh(tokens.refresh()), 400), "invalid_grant");
    for token in [tokens.access(), tokens.refresh()] {
        assert_eq!(office.introspect(token), json!({"active": false}));
    }
}

#[test]
fn either_token_ends_the_grant_at_once() {
    let office = lobby();
    for pick in [Tokens::access, Tokens::refresh] {
        let tokens = tokens();
        assert_eq!(office.userinfo(tokens.access()).status, 200, "it was good, and that was just looked up");
        let reply = office.revoke(pick(&tokens));
        assert_eq!((reply.status, reply.header("cache-control")), (200, "no-store"));
        is_dead(office, &tokens);
        assert_eq!(office.revoke(pick(&tokens)).status, 200, "again changes nothing");
    }
}

#[test]
fn a_token_that_was_rotated_still_ends_its_grant() {
    let office = lobby();
    let first = tokens();
    let second = Tokens::of(&office.refresh(first.refresh()));
    assert_eq!(office.revoke(first.refresh()).status, 200);
    is_dead(office, &second);
}

#[test]
fn one_grant_ends_and_others_live() {
    let office = lobby();
    let [one, other] = [tokens(), tokens()];
    office.revoke(one.access());
    is_dead(office, &one);
    assert_eq!(office.userinfo(other.access()).status, 200);
    assert_eq!(office.refresh(other.refresh()).status, 200);
}

#[test]
fn what_is_not_the_clients_own_is_left_alone() {
    let office = lobby();
    let tokens = tokens();
    let other = office.with_app(new_app(shared(), &[]));
    for token in [tokens.access(), tokens.refresh(), "nonsense", tokens.id()] {
        assert_eq!(other.revoke(token).status, 200, "RFC 7009: no error, and nothing happens");
    }
    assert_eq!(office.userinfo(tokens.access()).status, 200);
    assert_eq!(office.refresh(tokens.refresh()).status, 200);
    assert_eq!(oauth_error(&office.revoke(""), 400), "invalid_request");
    let stranger = office.form_call("connect/revocation", &[("token", tokens.access())]);
    assert_eq!(oauth_error(&stranger, 401), "invalid_client");
}

#[test]
fn another_node_knows_within_five_seconds() {
    let database = Database::create();
    let [first, second] = [(); 2].map(|()| Site::over(&database.url()));
    second.share_master_key(&first);
    let [first, second] = [first, second].map(|site| Serve::start(site, &[]));
    let here = Office::on(&first, 1, &[]);
    let there = Office {
        serve: &second,
        tenants: here.tenants.clone(),
        email: here.email.clone(),
        app: here.app.clone(),
    };
    let tokens = Tokens::of(&there.exchange(&here.code(&here.ask())));
    assert_eq!(there.userinfo(tokens.access()).status, 200, "nodes are alike");
    assert_eq!(here.userinfo(tokens.access()).status, 200);
    assert_eq!(here.revoke(tokens.access()).status, 200);
    assert_eq!(here.userinfo(tokens.access()).status, 401, "at once where it happened");
    within_seconds(5, "the other node to refuse", || there.userinfo(tokens.access()).status == 401);
    is_dead(&there, &tokens);

    let tokens = Tokens::of(&there.exchange(&here.code(&here.ask())));
    assert_eq!(there.userinfo(tokens.access()).status, 200);
    here.command(&["user", "disable", &here.email]);
    within_seconds(5, "the other node to refuse the user", || there.userinfo(tokens.access()).status == 401);
    assert_eq!(oauth_error(&there.refresh(tokens.refresh()), 400), "invalid_grant");
}

#[test]
fn a_node_that_hears_nothing_from_the_store_refuses_every_token() {
    let database = Database::create();
    let serve = Serve::start(Site::over(&database.url()), &[]);
    let office = Office::on(&serve, 1, &[]);
    let tokens = office.tokens();
    assert_eq!(office.userinfo(tokens.access()).status, 200);
    drop(database);
    within_seconds(8, "the node to refuse", || office.userinfo(tokens.access()).status != 200);
    let reply = office.userinfo(tokens.access());
    assert!(reply.status >= 500, "the token may be good, and nobody knows: {reply:?}");
}
