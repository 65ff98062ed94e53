//! Basic OP profile: the code flow, id_tokens, userinfo, scopes, prompts and hints.

use std::time::Duration;

use super::{
    NONCE, candidate, code_of, exchange, expect_valid_tokens, flow, flow_without_pages, new_candidate,
    refused, request, reuse_is_refused,
};
use crate::harness::{
    CALLBACK, EmbeddedServer, Installation, JwkSet, SignInFixture, Tokens, claims, decode_jwt, members,
    oauth_error, register_app, shared_server, wait_for_duration,
};

#[test]
fn oidcc_server() {
    let fixture = candidate();
    let (tokens, id) = flow(fixture, &fixture.browser(), &request(fixture));
    assert_eq!(id.get("name"), None, "only with the scope profile");
    let person = fixture.userinfo(tokens.access()).json();
    assert_eq!(person["sub"], id["sub"]);
}

#[test]
fn oidcc_server_client_secret_post() {
    let fixture = candidate();
    let code = code_of(&fixture.authorize(&fixture.browser(), &request(fixture)));
    expect_valid_tokens(fixture, &fixture.exchange(&code), Some(NONCE));
}

#[test]
fn oidcc_response_type_missing() {
    let fixture = candidate();
    refused(&fixture.browser().get(&request(fixture).without("response_type").path()), "invalid_request");
}

#[test]
fn oidcc_idtoken_signature() {
    let fixture = candidate();
    let (tokens, _) = flow(fixture, &fixture.browser(), &request(fixture));
    let (header, _) = decode_jwt(tokens.id());
    assert_eq!(header["alg"], "RS256");
    let keys = JwkSet::fetch(fixture.server);
    assert!(keys.kids().contains(&header["kid"].as_str().unwrap()), "the token's kid is the key's kid");
}

#[test]
fn oidcc_userinfo_get() {
    let fixture = candidate();
    let (tokens, id) = flow(fixture, &fixture.browser(), &request(fixture));
    let response = fixture.userinfo(tokens.access());
    assert_eq!((response.status, &response.json()["sub"]), (200, &id["sub"]));
}

#[test]
fn oidcc_userinfo_post_header() {
    let fixture = candidate();
    let (tokens, id) = flow(fixture, &fixture.browser(), &request(fixture));
    let bearer = format!("Bearer {}", tokens.access());
    let response = fixture.request("connect/userinfo").header("authorization", &bearer).send();
    assert_eq!((response.status, &response.json()["sub"]), (200, &id["sub"]));
}

#[test]
fn oidcc_userinfo_post_body() {
    let fixture = candidate();
    let (tokens, id) = flow(fixture, &fixture.browser(), &request(fixture));
    let response = fixture.post_form("connect/userinfo", &[("access_token", tokens.access())]);
    assert_eq!((response.status, &response.json()["sub"]), (200, &id["sub"]));
}

#[test]
fn oidcc_ensure_request_without_nonce_succeeds_for_code_flow() {
    let fixture = candidate();
    let (_, id) = flow(fixture, &fixture.browser(), &request(fixture).without("nonce"));
    assert_eq!(id.get("nonce"), None);
}

/// Requests these scopes and returns the member names of the userinfo response.
fn userinfo_members(scope: &str) -> Vec<String> {
    let fixture = candidate();
    let (tokens, _) = flow(fixture, &fixture.browser(), &request(fixture).with("scope", scope));
    let person = fixture.userinfo(tokens.access()).json();
    members(&person).into_iter().map(str::to_owned).collect()
}

#[test]
fn oidcc_scope_profile() {
    assert_eq!(
        userinfo_members("openid profile"),
        ["given_name", "locale", "name", "sub", "tenant_id", "tenant_name", "updated_at"]
    );
}

#[test]
fn oidcc_scope_email() {
    assert_eq!(
        userinfo_members("openid email"),
        ["email", "email_verified", "sub", "tenant_id", "tenant_name"]
    );
}

#[test]
fn oidcc_scope_all() {
    let all = userinfo_members("openid email phone address profile");
    assert_eq!(
        all,
        [
            "email",
            "email_verified",
            "given_name",
            "locale",
            "name",
            "preferred_username",
            "sub",
            "tenant_id",
            "tenant_name",
            "updated_at",
        ],
        "phone and address are not supported"
    );
}

#[test]
fn oidcc_ensure_other_scope_order_succeeds() {
    assert_eq!(
        userinfo_members("email openid"),
        ["email", "email_verified", "sub", "tenant_id", "tenant_name"]
    );
}

#[test]
fn oidcc_prompt_login() {
    let fixture = new_candidate();
    let browser = fixture.browser();
    let (_, first) = flow(&fixture, &browser, &request(&fixture));
    wait_for_duration(Duration::from_millis(1050));
    let again = request(&fixture).with("prompt", "login");
    let page = browser.start_authorization(&again);
    assert!(page.has_field("password"), "a second sign-in page: {page:?}");
    let (_, second) = flow(&fixture, &browser, &again);
    assert!(second["auth_time"].as_i64() > first["auth_time"].as_i64());
    assert_eq!(first["sub"], second["sub"]);
}

#[test]
fn oidcc_prompt_none_not_logged_in() {
    let fixture = candidate();
    refused(&fixture.browser().get(&request(fixture).with("prompt", "none").path()), "login_required");
}

#[test]
fn oidcc_prompt_none_logged_in() {
    let fixture = candidate();
    let browser = fixture.browser();
    let (_, first) = flow(fixture, &browser, &request(fixture));
    let second = flow_without_pages(fixture, &browser, &request(fixture).with("prompt", "none"));
    assert_eq!((&first["auth_time"], &first["sub"]), (&second["auth_time"], &second["sub"]));
}

#[test]
fn oidcc_max_age_1() {
    let fixture = new_candidate();
    let browser = fixture.browser();
    let (_, first) = flow(&fixture, &browser, &request(&fixture));
    // The suite waits for two seconds, so that at least one has passed.
    wait_for_duration(Duration::from_secs(2));
    let again = request(&fixture).with("max_age", "1");
    let page = browser.start_authorization(&again);
    assert!(page.has_field("password"), "a second sign-in page: {page:?}");
    let (_, second) = flow(&fixture, &browser, &again);
    assert!(second["auth_time"].as_i64() > first["auth_time"].as_i64());
}

#[test]
fn oidcc_max_age_10000() {
    let fixture = candidate();
    let browser = fixture.browser();
    let (_, first) = flow(fixture, &browser, &request(fixture).with("max_age", "15000"));
    let second = flow_without_pages(fixture, &browser, &request(fixture).with("max_age", "10000"));
    assert!(second["auth_time"].is_i64());
    assert_eq!((&first["auth_time"], &first["sub"]), (&second["auth_time"], &second["sub"]));
}

#[test]
fn oidcc_id_token_hint() {
    let fixture = candidate();
    let browser = fixture.browser();
    let (tokens, first) = flow(fixture, &browser, &request(fixture));
    let hinted = request(fixture).with("prompt", "none").with("id_token_hint", tokens.id());
    let second = flow_without_pages(fixture, &browser, &hinted);
    assert_eq!((&first["auth_time"], &first["sub"]), (&second["auth_time"], &second["sub"]));
}

#[test]
fn oidcc_codereuse() {
    let fixture = candidate();
    let code = code_of(&fixture.authorize(&fixture.browser(), &request(fixture)));
    let (tokens, _) = expect_valid_tokens(fixture, &exchange(fixture, &code), Some(NONCE));
    reuse_is_refused(fixture, &code, &tokens);
}

#[test]
fn oidcc_codereuse_30seconds() {
    // The suite waits thirty seconds, a tenth of a code's lifetime. Here a code lives ten seconds, and the test waits one.
    let server = EmbeddedServer::start(Installation::new(), &["identity.code_ttl=10s"]);
    let fixture = SignInFixture::on(&server, 1, &["--no-callback-id-token"]);
    let code = code_of(&fixture.authorize(&fixture.browser(), &request(&fixture)));
    let (tokens, _) = expect_valid_tokens(&fixture, &exchange(&fixture, &code), Some(NONCE));
    wait_for_duration(Duration::from_secs(1));
    reuse_is_refused(&fixture, &code, &tokens);
}

#[test]
fn oidcc_ensure_registered_redirect_uri() {
    let fixture = candidate();
    let page =
        fixture.browser().get(&request(fixture).with("redirect_uri", &format!("{CALLBACK}/other")).path());
    assert_eq!((page.status, page.location()), (400, ""), "an error page, and no redirect to the client");
}

#[test]
fn oidcc_refresh_token() {
    let fixture = candidate();
    let other = fixture.with_app(register_app(shared_server(), &["--no-callback-id-token"]));
    let mut last = None;
    for fixture in [fixture, &other] {
        let request = request(fixture).with("scope", "openid offline_access").with("prompt", "consent");
        let (first, before) = flow(fixture, &fixture.browser(), &request);
        let fields = [("grant_type", "refresh_token"), ("refresh_token", first.refresh())];
        assert!(first.refresh().bytes().all(|byte| byte.is_ascii_graphic()));
        let response = fixture.post_form_with_basic("connect/token", &fixture.app.basic(), &fields);
        let second = Tokens::from_response(&response);
        assert_ne!(first.access(), second.access());
        let after = claims(second.id());
        for same in ["iss", "sub", "aud", "auth_time"] {
            assert_eq!(before[same], after[same], "{same}");
        }
        assert!(after["iat"].as_i64() >= before["iat"].as_i64());
        assert_eq!(fixture.userinfo(second.access()).status, 200);
        last = Some(second);
    }
    let stolen = last.unwrap();
    assert_eq!(
        oauth_error(&fixture.refresh(stolen.refresh()), 400),
        "invalid_grant",
        "the refresh token is bound to its client"
    );
}
