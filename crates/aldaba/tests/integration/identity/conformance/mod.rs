//! OpenID conformance: one test for each applicable check of the public suite's profiles, with the check's name.
//! `docs/conformance.md` describes each check.

mod basic;
mod config;
mod logout;
mod requests;

use std::sync::OnceLock;

use serde_json::Value;

use crate::harness::{
    AuthorizationRequest, Browser, CALLBACK, HttpResponse, ISSUER, JwkSet, Page, SignInFixture, Tokens,
    half_hash, is_guid, oauth_error,
};

/// The redirect URI after logout.
const AFTER: &str = "https://app.example/post_logout_redirect";
const NONCE: &str = "6f1ed002ab5595859014ebf0951522d9";
const STATE: &str = "9ad67f2e-1f1c-43ce-8e0a-0c6b3c3b6c0a";

/// The provider under test as the suite configures it: one client with the plain code flow, one tenant.
fn candidate() -> &'static SignInFixture<'static> {
    static CANDIDATE: OnceLock<SignInFixture<'static>> = OnceLock::new();
    CANDIDATE.get_or_init(new_candidate)
}

/// A separate one, for tests that sign the user out.
fn new_candidate() -> SignInFixture<'static> {
    SignInFixture::with_client(&["--no-callback-id-token", "--post-logout-uri", AFTER])
}

/// The suite's authorization request: `openid`, a state and a nonce.
fn request(fixture: &SignInFixture<'_>) -> AuthorizationRequest {
    fixture.authorization_request().with("scope", "openid").with("state", STATE).with("nonce", NONCE)
}

/// The code of an authorization response with exactly the query parameters that the suite allows.
#[track_caller]
fn code_of(page: &Page) -> String {
    assert_eq!(page.status, 302, "{page:?}");
    assert!(page.location().starts_with(&format!("{CALLBACK}?")), "{page:?}");
    let params = page.params();
    assert_eq!(params.keys().map(String::as_str).collect::<Vec<_>>(), ["code", "iss", "state"], "{page:?}");
    assert_eq!((params["state"].as_str(), params["iss"].as_str()), (STATE, ISSUER));
    assert!(params["code"].len() >= 22, "128 bits at least");
    params["code"].clone()
}

/// Exchanges a code with client_secret_basic, the suite's default.
fn exchange(fixture: &SignInFixture<'_>, code: &str) -> HttpResponse {
    let fields = [("grant_type", "authorization_code"), ("code", code), ("redirect_uri", CALLBACK)];
    fixture.post_form_with_basic("connect/token", &fixture.app.basic(), &fields)
}

/// Checks a token response as the suite does after every exchange.
#[track_caller]
fn expect_valid_tokens(
    fixture: &SignInFixture<'_>,
    response: &HttpResponse,
    nonce: Option<&str>,
) -> (Tokens, Value) {
    let tokens = Tokens::from_response(response);
    assert_eq!((response.header("cache-control"), response.header("pragma")), ("no-store", "no-cache"));
    assert_eq!(tokens.0["token_type"], "Bearer");
    assert!(tokens.0["expires_in"].as_u64().unwrap() > 0);
    let id = JwkSet::fetch(fixture.server).verify(tokens.id());
    assert_eq!((&id["iss"], id["aud"].as_str()), (&ISSUER.into(), Some(fixture.app.id.as_str())));
    assert!(is_guid(id["sub"].as_str().unwrap()), "{id}");
    assert!(
        id["exp"].as_i64() > id["iat"].as_i64() && id["auth_time"].as_i64() <= id["iat"].as_i64(),
        "{id}"
    );
    assert_eq!(id.get("nonce").and_then(Value::as_str), nonce, "{id}");
    assert_eq!(id["at_hash"], half_hash(tokens.access()));
    (tokens, id)
}

/// Runs the code flow in this browser, with a sign-in if asked, and returns the verified id_token.
#[track_caller]
fn flow(fixture: &SignInFixture<'_>, browser: &Browser, request: &AuthorizationRequest) -> (Tokens, Value) {
    let code = code_of(&fixture.authorize(browser, request));
    let nonce = request.0.iter().any(|(name, _)| name == "nonce").then_some(NONCE);
    expect_valid_tokens(fixture, &exchange(fixture, &code), nonce)
}

/// The same without any page in between.
#[track_caller]
fn flow_without_pages(
    fixture: &SignInFixture<'_>,
    browser: &Browser,
    request: &AuthorizationRequest,
) -> Value {
    let code = code_of(&browser.get(&request.path()));
    expect_valid_tokens(fixture, &exchange(fixture, &code), Some(NONCE)).1
}

/// Expects an authorization error as the suite checks it.
#[track_caller]
fn refused(page: &Page, error: &str) {
    let params = page.params();
    assert_eq!((page.status, params["error"].as_str()), (302, error), "{page:?}");
    assert_eq!((params["state"].as_str(), params.get("code")), (STATE, None), "{page:?}");
    assert!(!params["error_description"].contains(['\r', '\n', '\t']), "{page:?}");
}

/// Expects that a used code is refused and that its tokens are revoked.
#[track_caller]
fn reuse_is_refused(fixture: &SignInFixture<'_>, code: &str, tokens: &Tokens) {
    assert_eq!(oauth_error(&exchange(fixture, code), 400), "invalid_grant");
    assert_eq!(fixture.userinfo(tokens.access()).status, 401, "the access token is revoked");
}
