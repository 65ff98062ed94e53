//! The profile Basic OP: the code flow, id_tokens, userinfo, scopes, prompts and hints.

use std::time::Duration;

use super::{
    NONCE, candidate, code_of, exchange, flow, new_candidate, refused, request, reuse_is_refused,
    silent_flow, valid_tokens,
};
use crate::harness::{
    CALLBACK, Keyring, Office, Serve, Site, Tokens, claims, let_pass, members, new_app, oauth_error, opened,
    shared,
};

#[test]
fn oidcc_server() {
    let office = candidate();
    let (tokens, id) = flow(office, &office.browser(), &request(office));
    assert_eq!(id.get("name"), None, "only where profile was asked for");
    let person = office.userinfo(tokens.access()).json();
    assert_eq!(person["sub"], id["sub"]);
}

#[test]
fn oidcc_server_client_secret_post() {
    let office = candidate();
    let code = code_of(&office.arrive(&office.browser(), &request(office)));
    valid_tokens(office, &office.exchange(&code), Some(NONCE));
}

#[test]
fn oidcc_response_type_missing() {
    let office = candidate();
    refused(&office.browser().get(&request(office).without("response_type").path()), "invalid_request");
}

#[test]
fn oidcc_idtoken_signature() {
    let office = candidate();
    let (tokens, _) = flow(office, &office.browser(), &request(office));
    let (header, _) = opened(tokens.id());
    assert_eq!(header["alg"], "RS256");
    let keys = Keyring::of(office.serve);
    assert!(
        keys.kids().contains(&header["kid"].as_str().unwrap()),
        "the key has the name that the token says"
    );
}

#[test]
fn oidcc_userinfo_get() {
    let office = candidate();
    let (tokens, id) = flow(office, &office.browser(), &request(office));
    let reply = office.userinfo(tokens.access());
    assert_eq!((reply.status, &reply.json()["sub"]), (200, &id["sub"]));
}

#[test]
fn oidcc_userinfo_post_header() {
    let office = candidate();
    let (tokens, id) = flow(office, &office.browser(), &request(office));
    let bearer = format!("Bearer {}", tokens.access());
    let reply = office.call("connect/userinfo").header("authorization", &bearer).send();
    assert_eq!((reply.status, &reply.json()["sub"]), (200, &id["sub"]));
}

#[test]
fn oidcc_userinfo_post_body() {
    let office = candidate();
    let (tokens, id) = flow(office, &office.browser(), &request(office));
    let reply = office.form_call("connect/userinfo", &[("access_token", tokens.access())]);
    assert_eq!((reply.status, &reply.json()["sub"]), (200, &id["sub"]));
}

#[test]
fn oidcc_ensure_request_without_nonce_succeeds_for_code_flow() {
    let office = candidate();
    let (_, id) = flow(office, &office.browser(), &request(office).without("nonce"));
    assert_eq!(id.get("nonce"), None);
}

/// Asks for scopes and returns the names of what userinfo tells.
fn told(scope: &str) -> Vec<String> {
    let office = candidate();
    let (tokens, _) = flow(office, &office.browser(), &request(office).with("scope", scope));
    let person = office.userinfo(tokens.access()).json();
    members(&person).into_iter().map(str::to_owned).collect()
}

#[test]
fn oidcc_scope_profile() {
    assert_eq!(told("openid profile"), ["given_name", "locale", "name", "sub"]);
}

#[test]
fn oidcc_scope_email() {
    assert_eq!(told("openid email"), ["email", "sub"]);
}

#[test]
fn oidcc_scope_all() {
    let all = told("openid email phone address profile");
    assert_eq!(all, ["email", "given_name", "locale", "name", "sub"], "phone and address are not known");
}

#[test]
fn oidcc_ensure_other_scope_order_succeeds() {
    assert_eq!(told("email openid"), ["email", "sub"]);
}

#[test]
fn oidcc_prompt_login() {
    let office = new_candidate();
    let browser = office.browser();
    let (_, first) = flow(&office, &browser, &request(&office));
    let_pass(Duration::from_millis(1050));
    let again = request(&office).with("prompt", "login");
    let page = browser.ask(&again);
    assert!(page.has_field("password"), "a second sign-in page: {page:?}");
    let (_, second) = flow(&office, &browser, &again);
    assert!(second["auth_time"].as_i64() > first["auth_time"].as_i64());
    assert_eq!(first["sub"], second["sub"]);
}

#[test]
fn oidcc_prompt_none_not_logged_in() {
    let office = candidate();
    refused(&office.browser().get(&request(office).with("prompt", "none").path()), "login_required");
}

#[test]
fn oidcc_prompt_none_logged_in() {
    let office = candidate();
    let browser = office.browser();
    let (_, first) = flow(office, &browser, &request(office));
    let second = silent_flow(office, &browser, &request(office).with("prompt", "none"));
    assert_eq!((&first["auth_time"], &first["sub"]), (&second["auth_time"], &second["sub"]));
}

#[test]
fn oidcc_max_age_1() {
    let office = new_candidate();
    let browser = office.browser();
    let (_, first) = flow(&office, &browser, &request(&office));
    // The suite waits for two seconds, so that more than one has passed for certain.
    let_pass(Duration::from_secs(2));
    let again = request(&office).with("max_age", "1");
    let page = browser.ask(&again);
    assert!(page.has_field("password"), "a second sign-in page: {page:?}");
    let (_, second) = flow(&office, &browser, &again);
    assert!(second["auth_time"].as_i64() > first["auth_time"].as_i64());
}

#[test]
fn oidcc_max_age_10000() {
    let office = candidate();
    let browser = office.browser();
    let (_, first) = flow(office, &browser, &request(office).with("max_age", "15000"));
    let second = silent_flow(office, &browser, &request(office).with("max_age", "10000"));
    assert!(second["auth_time"].is_i64());
    assert_eq!((&first["auth_time"], &first["sub"]), (&second["auth_time"], &second["sub"]));
}

#[test]
fn oidcc_id_token_hint() {
    let office = candidate();
    let browser = office.browser();
    let (tokens, first) = flow(office, &browser, &request(office));
    let hinted = request(office).with("prompt", "none").with("id_token_hint", tokens.id());
    let second = silent_flow(office, &browser, &hinted);
    assert_eq!((&first["auth_time"], &first["sub"]), (&second["auth_time"], &second["sub"]));
}

#[test]
fn oidcc_codereuse() {
    let office = candidate();
    let code = code_of(&office.arrive(&office.browser(), &request(office)));
    let (tokens, _) = valid_tokens(office, &exchange(office, &code), Some(NONCE));
    reuse_is_refused(office, &code, &tokens);
}

#[test]
fn oidcc_codereuse_30seconds() {
    // Thirty seconds are a tenth of a code's five minutes. Here a code lives ten seconds, and one passes.
    let serve = Serve::start(Site::new(), &["--set", "identity.code_ttl=10s"]);
    let office = Office::on(&serve, 1, &["--no-callback-id-token"]);
    let code = code_of(&office.arrive(&office.browser(), &request(&office)));
    let (tokens, _) = valid_tokens(&office, &exchange(&office, &code), Some(NONCE));
    let_pass(Duration::from_secs(1));
    reuse_is_refused(&office, &code, &tokens);
}

#[test]
fn oidcc_ensure_registered_redirect_uri() {
    let office = candidate();
    let page =
        office.browser().get(&request(office).with("redirect_uri", &format!("{CALLBACK}/other")).path());
    assert_eq!((page.status, page.location()), (400, ""), "a page, and nothing at the client");
}

#[test]
fn oidcc_refresh_token() {
    let office = candidate();
    let other = office.with_app(new_app(shared(), &["--no-callback-id-token"]));
    let mut last = None;
    for office in [office, &other] {
        let ask = request(office).with("scope", "openid offline_access").with("prompt", "consent");
        let (first, before) = flow(office, &office.browser(), &ask);
        let fields = [("grant_type", "refresh_token"), ("refresh_token", first.refresh())];
        assert!(first.refresh().bytes().all(|byte| byte.is_ascii_graphic()));
        let reply = office.basic_call("connect/token", &office.app.basic(), &fields);
        let second = Tokens::of(&reply);
        assert_ne!(first.access(), second.access());
        let after = claims(second.id());
        for same in ["iss", "sub", "aud", "auth_time"] {
            assert_eq!(before[same], after[same], "{same}");
        }
        assert!(after["iat"].as_i64() >= before["iat"].as_i64());
        assert_eq!(office.userinfo(second.access()).status, 200);
        last = Some(second);
    }
    let stolen = last.unwrap();
    assert_eq!(
        oauth_error(&office.refresh(stolen.refresh()), 400),
        "invalid_grant",
        "it is bound to its client"
    );
}
