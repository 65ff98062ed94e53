//! From a code to tokens.

use std::time::Duration;

use crate::harness::{
    App, CALLBACK, ISSUER, Office, Serve, Site, Tokens, at_lobby, claims, get, let_pass, lobby, new_app,
    oauth_error, shared,
};

#[test]
fn a_code_becomes_tokens_once() {
    let office = Office::new();
    let code = office.code(&office.ask());
    let tokens = Tokens::of(&office.exchange(&code));
    assert_eq!((&tokens.0["token_type"], &tokens.0["expires_in"]), (&"Bearer".into(), &3600.into()));
    assert_eq!(claims(tokens.access())["iss"], ISSUER);
    assert_eq!(oauth_error(&office.exchange(&code), 400), "invalid_grant");
    assert_eq!(office.userinfo(tokens.access()).status, 401, "what the code had given is revoked");
    assert_eq!(oauth_error(&office.refresh(tokens.refresh()), 400), "invalid_grant");
}

#[test]
fn the_callback_brings_code_id_token_state_and_issuer() {
    let office = Office::with_tenants(2);
    let page = office.arrive(&office.browser(), &office.ask());
    assert_eq!(page.status, 302);
    assert!(page.location().starts_with(&format!("{CALLBACK}?code=")), "{page:?}");
    let params = page.params();
    assert_eq!(params.keys().map(String::as_str).collect::<Vec<_>>(), ["code", "id_token", "iss", "state"]);
    assert_eq!((params["state"].as_str(), params["iss"].as_str()), ("af0ifjsldkj", ISSUER));
    assert_eq!(claims(&params["id_token"])["nonce"], "n-0S6_WzA2Mj");
}

#[test]
fn a_wrong_address_burns_the_code() {
    let office = lobby();
    for wrong in ["http://localhost:8765/callback/", "https://app.example/", ""] {
        let code = office.code_in(&at_lobby(), &office.ask());
        let reply = office.exchange_with(&code, &[("redirect_uri", wrong)]);
        assert_eq!(oauth_error(&reply, 400), "invalid_grant", "{wrong}");
        assert_eq!(oauth_error(&office.exchange(&code), 400), "invalid_grant", "it is used up by {wrong}");
    }
}

#[test]
fn another_client_neither_gets_nor_burns_a_code() {
    let office = lobby();
    let other = office.with_app(new_app(shared(), &[]));
    let code = office.code_in(&at_lobby(), &office.ask());
    assert_eq!(oauth_error(&other.exchange(&code), 400), "invalid_grant");
    let nobody = office.with_app(App { secret: "wrong".into(), ..office.app.clone() });
    assert_eq!(oauth_error(&nobody.exchange(&code), 401), "invalid_client");
    assert_eq!(office.exchange(&code).status, 200, "its own client still has it");
}

#[test]
fn what_is_no_code_is_refused() {
    let office = lobby();
    for code in ["nonsense", "ñ", &"x".repeat(10_000)] {
        assert_eq!(oauth_error(&office.exchange(code), 400), "invalid_grant");
    }
    assert_eq!(oauth_error(&office.exchange(""), 400), "invalid_request");
    assert_eq!(oauth_error(&office.exchange(office.tokens().refresh()), 400), "invalid_grant");
}

#[test]
fn a_code_lives_as_long_as_configured() {
    let serve = Serve::start(Site::new(), &["--set", "identity.code_ttl=1s"]);
    let office = Office::on(&serve, 1, &[]);
    let browser = office.signed_in();
    assert_eq!(office.exchange(&office.code_in(&browser, &office.ask())).status, 200);
    let code = office.code_in(&browser, &office.ask());
    let_pass(Duration::from_millis(1050));
    assert_eq!(oauth_error(&office.exchange(&code), 400), "invalid_grant");
}

#[test]
fn codes_are_long_and_never_the_same() {
    let office = lobby();
    let codes: Vec<String> = (0..5).map(|_| office.code_in(&at_lobby(), &office.ask())).collect();
    for (number, code) in codes.iter().enumerate() {
        assert!(code.len() >= 43 && !codes[..number].contains(code), "{codes:?}");
    }
}

#[test]
fn what_the_token_endpoint_is_asked_must_be_complete() {
    let office = lobby();
    let error = |fields: &[(&str, &str)]| oauth_error(&office.token_call(fields), 400);
    assert_eq!(error(&[]), "invalid_request");
    assert_eq!(error(&[("grant_type", "")]), "invalid_request");
    assert_eq!(error(&[("grant_type", "authorization_code")]), "invalid_request");
    assert_eq!(error(&[("grant_type", "refresh_token")]), "invalid_request");
    assert_eq!(
        error(&[("grant_type", "authorization_code"), ("code", "a"), ("code", "a")]),
        "invalid_request"
    );
    for kind in ["password", "client_credentials", "implicit", "AUTHORIZATION_CODE"] {
        assert_eq!(error(&[("grant_type", kind)]), "unsupported_grant_type");
    }
}

#[test]
fn tokens_are_for_their_receiver_alone() {
    let office = lobby();
    let reply = office.exchange(&office.code_in(&at_lobby(), &office.ask()));
    assert_eq!((reply.header("cache-control"), reply.header("pragma")), ("no-store", "no-cache"));
    assert_eq!(reply.header("content-type"), "application/json");
    assert_eq!(reply.header("access-control-allow-origin"), "");
}

#[test]
fn a_get_is_no_way_to_ask_for_tokens() {
    let reply = get(shared(), "connect/token?grant_type=authorization_code").send();
    assert_eq!(reply.status, 405);
}

#[test]
fn what_is_no_form_is_malformed() {
    let office = lobby();
    let body = r#"{"grant_type":"authorization_code"}"#;
    let reply = office.call("connect/token").header("content-type", "application/json").body(body).send();
    assert_eq!(oauth_error(&reply, 400), "invalid_request", "RFC 6749, 5.2: token errors are 400");
}
