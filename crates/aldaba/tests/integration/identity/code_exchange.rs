//! The authorization code grant at the token endpoint.

use std::time::Duration;

use crate::harness::{
    CALLBACK, EmbeddedServer, HttpResponse, ISSUER, Installation, SignInFixture, TestApp, Tokens, claims,
    get, oauth_error, register_app, shared_fixture, shared_server, shared_signed_in_browser,
    wait_for_duration,
};

#[track_caller]
fn assert_description(response: &HttpResponse, part: &str) {
    let description = response.json()["error_description"].as_str().unwrap().to_owned();
    assert!(description.contains(part), "{description}");
}

#[test]
fn code_is_exchanged_once() {
    let fixture = SignInFixture::new();
    let code = fixture.code(&fixture.authorization_request());
    let tokens = Tokens::from_response(&fixture.exchange(&code));
    assert_eq!((&tokens.0["token_type"], &tokens.0["expires_in"]), (&"Bearer".into(), &3600.into()));
    assert_eq!(claims(tokens.access())["iss"], ISSUER);
    let second = fixture.exchange(&code);
    assert_eq!(oauth_error(&second, 400), "invalid_grant");
    assert_description(&second, "The tokens that were issued for it are revoked");
    assert_eq!(fixture.userinfo(tokens.access()).status, 401, "the tokens issued for the code are revoked");
    assert_eq!(oauth_error(&fixture.refresh(tokens.refresh()), 400), "invalid_grant");
}

#[test]
fn callback_has_code_id_token_state_and_issuer() {
    let fixture = SignInFixture::with_tenants(2);
    let page = fixture.authorize(&fixture.browser(), &fixture.authorization_request());
    assert_eq!(page.status, 302);
    assert!(page.location().starts_with(&format!("{CALLBACK}?code=")), "{page:?}");
    let params = page.params();
    assert_eq!(params.keys().map(String::as_str).collect::<Vec<_>>(), ["code", "id_token", "iss", "state"]);
    assert_eq!((params["state"].as_str(), params["iss"].as_str()), ("af0ifjsldkj", ISSUER));
    assert_eq!(claims(&params["id_token"])["nonce"], "n-0S6_WzA2Mj");
}

#[test]
fn wrong_redirect_uri_uses_up_the_code() {
    let fixture = shared_fixture();
    for wrong in ["http://localhost:8765/callback/", "https://app.example/", ""] {
        let code = fixture.code_in_browser(&shared_signed_in_browser(), &fixture.authorization_request());
        let response = fixture.exchange_with(&code, &[("redirect_uri", wrong)]);
        assert_eq!(oauth_error(&response, 400), "invalid_grant", "{wrong}");
        let second = fixture.exchange(&code);
        assert_eq!(oauth_error(&second, 400), "invalid_grant", "the code is used up by {wrong}");
        assert_description(&second, "in a request that was refused. No tokens were issued for it");
    }
}

#[test]
fn another_client_cannot_exchange_or_use_up_a_code() {
    let fixture = shared_fixture();
    let other = fixture.with_app(register_app(shared_server(), &[]));
    let code = fixture.code_in_browser(&shared_signed_in_browser(), &fixture.authorization_request());
    assert_eq!(oauth_error(&other.exchange(&code), 400), "invalid_grant");
    let nobody = fixture.with_app(TestApp { secret: "wrong".into(), ..fixture.app.clone() });
    assert_eq!(oauth_error(&nobody.exchange(&code), 401), "invalid_client");
    assert_eq!(fixture.exchange(&code).status, 200, "its own client can still use it");
}

#[test]
fn invalid_code_is_refused() {
    let fixture = shared_fixture();
    for code in ["nonsense", "ñ", &"x".repeat(10_000)] {
        assert_eq!(oauth_error(&fixture.exchange(code), 400), "invalid_grant");
    }
    assert_eq!(oauth_error(&fixture.exchange(""), 400), "invalid_request");
    assert_eq!(oauth_error(&fixture.exchange(fixture.tokens().refresh()), 400), "invalid_grant");
}

#[test]
fn code_expires_after_the_configured_time() {
    let server = EmbeddedServer::start(Installation::new(), &["identity.code_ttl=1s"]);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let browser = fixture.signed_in_browser();
    assert_eq!(
        fixture.exchange(&fixture.code_in_browser(&browser, &fixture.authorization_request())).status,
        200
    );
    let code = fixture.code_in_browser(&browser, &fixture.authorization_request());
    wait_for_duration(Duration::from_millis(1050));
    assert_eq!(oauth_error(&fixture.exchange(&code), 400), "invalid_grant");
}

#[test]
fn codes_are_long_and_unique() {
    let fixture = shared_fixture();
    let codes: Vec<String> = (0..5)
        .map(|_| fixture.code_in_browser(&shared_signed_in_browser(), &fixture.authorization_request()))
        .collect();
    for (number, code) in codes.iter().enumerate() {
        assert!(code.len() >= 43 && !codes[..number].contains(code), "{codes:?}");
    }
}

#[test]
fn token_request_must_be_complete() {
    let fixture = shared_fixture();
    let error = |fields: &[(&str, &str)]| oauth_error(&fixture.token_request(fields), 400);
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
fn token_responses_are_not_cached() {
    let fixture = shared_fixture();
    let response = fixture
        .exchange(&fixture.code_in_browser(&shared_signed_in_browser(), &fixture.authorization_request()));
    assert_eq!((response.header("cache-control"), response.header("pragma")), ("no-store", "no-cache"));
    assert_eq!(response.header("content-type"), "application/json");
    assert_eq!(response.header("access-control-allow-origin"), "");
}

#[test]
fn token_endpoint_refuses_get() {
    let response = get(shared_server(), "connect/token?grant_type=authorization_code").send();
    assert_eq!(response.status, 405);
}

#[test]
fn token_request_must_be_a_form() {
    let fixture = shared_fixture();
    let body = r#"{"grant_type":"authorization_code"}"#;
    let response =
        fixture.request("connect/token").header("content-type", "application/json").body(body).send();
    assert_eq!(oauth_error(&response, 400), "invalid_request", "RFC 6749, 5.2: token errors are 400");
}
