//! Basic OP profile, continued: parameters that a provider may ignore or not support.

use super::{NONCE, candidate, code_of, expect_valid_tokens, flow, refused, request};
use crate::harness::{CALLBACK, Page, encode_form, sha256};

/// The code flow with one more parameter.
#[track_caller]
fn succeeds_with(name: &str, value: &str) {
    let fixture = candidate();
    flow(fixture, &fixture.browser(), &request(fixture).with(name, value));
}

fn lang(page: &Page) -> &str {
    page.text().split("<html lang=\"").nth(1).unwrap().split('"').next().unwrap()
}

#[test]
fn oidcc_ensure_request_with_unknown_parameter_succeeds() {
    succeeds_with("extra", "foobar");
}

#[test]
fn oidcc_login_hint() {
    let fixture = candidate();
    let hinted = request(fixture).with("login_hint", &fixture.email);
    let page = fixture.browser().start_authorization(&hinted);
    assert!(page.form("post").fields.contains(&("username".into(), fixture.email.clone())));
    flow(fixture, &fixture.browser(), &hinted);
}

#[test]
fn oidcc_ui_locales() {
    let fixture = candidate();
    assert_eq!(
        lang(&fixture.browser().start_authorization(&request(fixture).with("ui_locales", "en"))),
        "en"
    );
    succeeds_with("ui_locales", "se");
}

#[test]
fn oidcc_claims_locales() {
    succeeds_with("claims_locales", "se");
}

#[test]
fn oidcc_display_page() {
    succeeds_with("display", "page");
}

#[test]
fn oidcc_display_popup() {
    succeeds_with("display", "popup");
}

#[test]
fn oidcc_ensure_request_with_acr_values_succeeds() {
    succeeds_with("acr_values", "1 2");
}

#[test]
fn oidcc_ensure_post_request_succeeds() {
    let fixture = candidate();
    let browser = fixture.browser();
    let request = request(fixture);
    let ingest = browser.follow_redirects(browser.post("/auth/core/connect/authorize", &request.fields()));
    let code = code_of(&fixture.submit_credentials(&browser, &ingest));
    expect_valid_tokens(fixture, &fixture.exchange(&code), Some(NONCE));
}

#[test]
fn oidcc_ensure_request_with_valid_pkce_succeeds() {
    let fixture = candidate();
    let verifier = "a-verifier-with-forty-three-characters-or-more.~_";
    let challenge = sha256(verifier);
    let request = request(fixture).with("code_challenge", &challenge).with("code_challenge_method", "S256");
    let code = code_of(&fixture.authorize(&fixture.browser(), &request));
    expect_valid_tokens(fixture, &fixture.exchange_with(&code, &[("code_verifier", verifier)]), Some(NONCE));
}

#[test]
fn oidcc_request_uri_unsupported() {
    let fixture = candidate();
    let request = request(fixture).with("request_uri", "https://app.example/request.jwt");
    refused(&fixture.browser().get(&request.path()), "request_uri_not_supported");
}

/// An unsigned request object.
fn unsigned(claims: &str) -> String {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let parts = [r#"{"alg":"none"}"#, claims].map(|part| URL_SAFE_NO_PAD.encode(part));
    format!("{}.", parts.join("."))
}

#[test]
fn oidcc_unsigned_request_object_rejected() {
    let fixture = candidate();
    let object = unsigned(&format!(r#"{{"client_id":"{}","nonce":"{NONCE}"}}"#, fixture.app.id));
    refused(
        &fixture.browser().get(&request(fixture).with("request", &object).path()),
        "request_not_supported",
    );
}

#[test]
fn oidcc_unsigned_request_object_rejected_by_form_post() {
    let fixture = candidate();
    // The suite sends response_mode and state inside the object alone.
    let object = unsigned(r#"{"response_mode":"form_post","state":"from-the-object"}"#);
    let page = fixture.browser().get(&request(fixture).without("state").with("request", &object).path());
    assert_eq!(page.status, 200, "{page:?}");
    let form = page.form("post");
    assert_eq!(form.action, CALLBACK);
    let field = |name: &str| form.fields.iter().find(|(known, _)| known == name).map(|(_, value)| &**value);
    assert_eq!((field("error"), field("state")), (Some("request_not_supported"), Some("from-the-object")));
    let broken = request(fixture).with("request", "a.%25.b");
    refused(&fixture.browser().get(&broken.path()), "request_not_supported");
}

#[test]
fn oidcc_ensure_request_object_with_redirect_uri() {
    let fixture = candidate();
    let object = unsigned(&format!(r#"{{"redirect_uri":"{CALLBACK}"}}"#));
    let request =
        request(fixture).with("request", &object).with("redirect_uri", "https://app.example/invalid");
    let page = fixture.browser().get(&request.path());
    assert_eq!(
        (page.status, page.location()),
        (400, ""),
        "a redirect_uri inside a request object is ignored"
    );
    assert!(!page.text().contains(&encode_form(&[("", CALLBACK)])));
}
