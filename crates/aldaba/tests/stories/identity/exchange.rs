//! From a code to tokens.

use crate::harness::{CALLBACK, ISSUER, Office, Tokens, claims, oauth_error};

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
