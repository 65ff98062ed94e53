//! The authorization endpoint: which errors get a page, which are redirected to the client, and their parameters.

use crate::harness::{
    AuthorizationRequest, CALLBACK, HttpRequest, ISSUER, Page, SignInFixture, claims, decode_form,
    shared_fixture, shared_server, shared_signed_in_browser,
};

/// Expects an error page that redirects nowhere.
#[track_caller]
fn expect_error_page(page: &Page) {
    assert_eq!((page.status, page.location()), (400, ""), "{page:?}");
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    assert!(
        page.text().contains(page.header("x-request-id")),
        "the page shows the request id: {}",
        page.text()
    );
}

/// The error in the redirect to the client, after a check of the other parameters.
#[track_caller]
fn error_of(page: &Page) -> String {
    assert_eq!(page.status, 302, "{page:?}");
    assert!(page.location().starts_with(&format!("{CALLBACK}?error=")), "{page:?}");
    let params = page.params();
    let names: Vec<&str> = params.keys().map(String::as_str).collect();
    assert_eq!(names, ["error", "error_description", "iss", "state"], "{page:?}");
    assert_eq!((params["state"].as_str(), params["iss"].as_str()), ("af0ifjsldkj", ISSUER));
    let is_allowed = |c: char| matches!(c, ' '..='!' | '#'..='[' | ']'..='~');
    assert!(params["error_description"].chars().all(is_allowed), "{params:?}");
    params["error"].clone()
}

#[test]
fn unknown_client_gets_an_error_page() {
    let request = shared_fixture().authorization_request();
    let twice = request.clone().and("client_id", &shared_fixture().app.id);
    for request in [request.clone().without("client_id"), request.clone().with("client_id", ""), twice] {
        expect_error_page(&shared_signed_in_browser().get(&request.path()));
    }
    for id in ["nobody", "ñ", "' OR 1=1 --", &shared_fixture().app.id.to_uppercase()] {
        expect_error_page(&shared_signed_in_browser().get(&request.clone().with("client_id", id).path()));
    }
}

#[test]
fn disabled_client_gets_an_error_page() {
    let fixture = SignInFixture::new();
    fixture.command(&["client", "disable", &fixture.app.id]);
    expect_error_page(&fixture.browser().get(&fixture.authorization_request().path()));
    fixture.command(&["client", "enable", &fixture.app.id]);
    assert_eq!(fixture.browser().get(&fixture.authorization_request().path()).status, 302);
}

#[test]
fn redirect_uri_must_match_a_registered_one_exactly() {
    let request = shared_fixture().authorization_request();
    let twice = request.clone().and("redirect_uri", CALLBACK);
    for request in [request.clone().without("redirect_uri"), request.clone().with("redirect_uri", ""), twice]
    {
        expect_error_page(&shared_signed_in_browser().get(&request.path()));
    }
    for uri in [
        "http://localhost:8765/callback/",
        "http://localhost:8765/callback?x=1",
        "http://localhost:8765/callback#x",
        "http://localhost:8765/Callback",
        "http://localhost:8765/",
        "http://localhost:8766/callback",
        "http://127.0.0.1:8765/callback",
        "http://LOCALHOST:8765/callback",
        "https://localhost:8765/callback",
        "http://localhost:8765/%63allback",
        " http://localhost:8765/callback",
        "http://localhost:8765/callback/../callback",
        "urn:ietf:wg:oauth:2.0:oob",
        "http://oob/",
        "javascript:alert(1)",
    ] {
        expect_error_page(&shared_signed_in_browser().get(&request.clone().with("redirect_uri", uri).path()));
    }
    let page =
        shared_signed_in_browser().get(&request.with("redirect_uri", "https://elsewhere.example/cb").path());
    expect_error_page(&page);
    assert!(!page.text().contains("8765"), "registered addresses are not shown: {}", page.text());
}

#[test]
fn error_page_has_a_way_on_and_the_other_language() {
    let request = shared_fixture().authorization_request().with("client_id", "nobody");
    let browser = shared_signed_in_browser();
    let page = browser.get(&request.path());
    let text = page.text();
    assert!(
        text.contains("lang=\"es\"") && text.contains("href=\"/auth/core/permissions?lang=es\""),
        "{text}"
    );
    let (_, rest) = text.split_once("class=\"language-switch\" href=\"").unwrap();
    let switch = rest.split('"').next().unwrap().replace("&amp;", "&");
    let path = request.path();
    let (path, _) = path.split_once('?').unwrap();
    let other = browser.get(&format!("{path}{switch}"));
    expect_error_page(&other);
    assert!(other.text().contains("lang=\"en\"") && other.text().contains("Application not available"));
}

#[test]
fn only_valid_redirect_uris_can_be_registered() {
    let add = |uri: &str| {
        shared_server().installation.program(&["client", "add", "x", "--redirect-uri", uri]).run().code
    };
    for uri in
        ["https://app.example/cb", "http://localhost:1/cb", "urn:ietf:wg:oauth:2.0:oob", "http://oob/done"]
    {
        assert_eq!(add(uri), Some(0), "{uri}");
    }
    for uri in [
        "http://127.0.0.1:8765/cb",
        "http://[::1]:8765/cb",
        "http://app.example/cb",
        "https://user:pass@app.example/cb",
        "https://app.example/cb#x",
        "https://*.example/cb",
    ] {
        assert_eq!(add(uri), Some(2), "{uri}");
    }
}

#[test]
fn other_errors_are_redirected_to_the_client() {
    let request = shared_fixture().authorization_request();
    let wrong = |name: &str, value: &str| {
        error_of(&shared_signed_in_browser().get(&request.clone().with(name, value).path()))
    };
    for kind in ["token", "id_token", "code id_token", "code token", "code id_token token", "none", "CODE"] {
        assert_eq!(wrong("response_type", kind), "unsupported_response_type", "{kind}");
    }
    for (name, value, error) in [
        ("response_type", "", "invalid_request"),
        ("scope", "", "invalid_scope"),
        ("scope", "address phone", "invalid_scope"),
        ("scope", "OPENID", "invalid_scope"),
        ("scope", "offline_access", "invalid_scope"),
        ("prompt", "none login", "invalid_request"),
        ("prompt", "create", "invalid_request"),
        ("max_age", "-1", "invalid_request"),
        ("max_age", "soon", "invalid_request"),
        ("response_mode", "fragment", "invalid_request"),
        ("request", "eyJhbGciOiJub25lIn0.e30.", "request_not_supported"),
        ("request_uri", "https://app.example/request", "request_uri_not_supported"),
        ("registration", "{}", "registration_not_supported"),
        ("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "invalid_request"),
        ("code_challenge_method", "S256", "invalid_request"),
        ("id_token_hint", "eyJhbGciOiJub25lIn0.e30.", "invalid_request"),
        ("nonce", &"n".repeat(4097), "invalid_request"),
        ("login_hint", "a\0b", "invalid_request"),
    ] {
        assert_eq!(wrong(name, value), error, "{name}={value}");
    }
    let plain =
        request.clone().with("code_challenge", &"x".repeat(43)).with("code_challenge_method", "plain");
    assert_eq!(error_of(&shared_signed_in_browser().get(&plain.path())), "invalid_request");
    let short = request.clone().with("code_challenge", &"x".repeat(42)).with("code_challenge_method", "S256");
    assert_eq!(error_of(&shared_signed_in_browser().get(&short.path())), "invalid_request");
    for name in ["scope", "response_type", "nonce", "foo"] {
        let twice = request.clone().and(name, "code").and(name, "code");
        assert_eq!(
            error_of(&shared_signed_in_browser().get(&twice.path())),
            "invalid_request",
            "{name} twice"
        );
    }
    let missing = request.without("response_type");
    assert_eq!(error_of(&shared_signed_in_browser().get(&missing.path())), "invalid_request");
}

#[test]
fn errors_are_returned_before_the_sign_in_page() {
    let fixture = shared_fixture();
    let page = fixture.browser().get(&fixture.authorization_request().with("response_type", "token").path());
    assert_eq!(error_of(&page), "unsupported_response_type");
}

#[test]
fn error_without_a_state_returns_no_state() {
    let request = shared_fixture().authorization_request().without("state").with("response_type", "token");
    let params = shared_signed_in_browser().get(&request.path()).params();
    assert_eq!(params.keys().map(String::as_str).collect::<Vec<_>>(), ["error", "error_description", "iss"]);
}

#[test]
fn authorization_request_can_be_posted_as_a_form() {
    let fixture = shared_fixture();
    let browser = shared_signed_in_browser();
    let page = browser.follow_redirects(
        browser.post("/auth/core/connect/authorize", &fixture.authorization_request().fields()),
    );
    assert_eq!(fixture.exchange(&page.params()["code"]).status, 200);
    let fields = fixture.authorization_request().with("response_type", "token");
    let page = browser.follow_redirects(browser.post("/auth/core/connect/authorize", &fields.fields()));
    assert_eq!(error_of(&page), "unsupported_response_type");
    expect_error_page(
        &browser.follow_redirects(browser.post("/auth/core/connect/authorize", &[("client_id", "nobody")])),
    );
}

#[test]
fn too_long_request_is_refused() {
    let long = AuthorizationRequest(vec![("client_id".into(), "x".repeat(25 * 1024))]);
    assert_eq!(shared_fixture().browser().get(&long.path()).status, 414);
    let many: Vec<(String, String)> = (0..101).map(|number| (format!("p{number}"), "x".into())).collect();
    let request = many
        .iter()
        .fold(shared_fixture().authorization_request(), |request, (name, value)| request.with(name, value));
    assert_eq!(error_of(&shared_fixture().browser().get(&request.path())), "invalid_request");
}

#[test]
fn id_token_hint_must_be_an_id_token_of_the_client() {
    let fixture = shared_fixture();
    let tokens = fixture.tokens();
    let good = fixture.authorization_request().with("id_token_hint", tokens.id()).with("prompt", "none");
    assert!(shared_signed_in_browser().get(&good.path()).params().contains_key("code"));
    let wrong = fixture.authorization_request().with("id_token_hint", tokens.access());
    assert_eq!(error_of(&shared_signed_in_browser().get(&wrong.path())), "invalid_request");
    let other = SignInFixture::new();
    let foreign = other.authorization_request().with("id_token_hint", tokens.id());
    let page = other.browser().get(&foreign.path());
    assert_eq!(page.params()["error"], "invalid_request", "of {}", claims(tokens.id()));
}

#[test]
fn issuer_ignores_forwarded_headers() {
    let url = format!(
        "{}{}",
        shared_fixture().server.public_url,
        shared_fixture().authorization_request().with("prompt", "none").path()
    );
    let response = HttpRequest::get(&url).header("x-forwarded-host", "evil.example").send();
    let (_, query) = response.header("location").split_once('?').unwrap();
    assert_eq!(decode_form(query)["iss"], ISSUER);
}
