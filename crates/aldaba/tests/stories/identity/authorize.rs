//! The authorization request: whom to answer, on a page or by redirect, and with what.

use crate::harness::{Ask, CALLBACK, Call, ISSUER, Office, Page, at_lobby, claims, decoded, lobby, shared};

/// A page that says what is wrong, and leads nowhere.
#[track_caller]
fn is_error_page(page: &Page) {
    assert_eq!((page.status, page.location()), (400, ""), "{page:?}");
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    assert!(page.text().contains(page.header("x-request-id")), "it names the request: {}", page.text());
}

/// The error that came back to the client, with everything that goes along.
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
fn an_unknown_application_gets_a_page() {
    let ask = lobby().ask();
    let twice = ask.clone().and("client_id", &lobby().app.id);
    for ask in [ask.clone().without("client_id"), ask.clone().with("client_id", ""), twice] {
        is_error_page(&at_lobby().get(&ask.path()));
    }
    for id in ["nobody", "ñ", "' OR 1=1 --", &lobby().app.id.to_uppercase()] {
        is_error_page(&at_lobby().get(&ask.clone().with("client_id", id).path()));
    }
}

#[test]
fn a_disabled_application_gets_a_page() {
    let office = Office::new();
    office.command(&["client", "disable", &office.app.id]);
    is_error_page(&office.browser().get(&office.ask().path()));
    office.command(&["client", "enable", &office.app.id]);
    assert_eq!(office.browser().get(&office.ask().path()).status, 302);
}

#[test]
fn an_address_that_is_not_registered_to_the_letter_gets_a_page() {
    let ask = lobby().ask();
    let twice = ask.clone().and("redirect_uri", CALLBACK);
    for ask in [ask.clone().without("redirect_uri"), ask.clone().with("redirect_uri", ""), twice] {
        is_error_page(&at_lobby().get(&ask.path()));
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
        is_error_page(&at_lobby().get(&ask.clone().with("redirect_uri", uri).path()));
    }
}

#[test]
fn only_these_addresses_can_be_registered() {
    let add = |uri: &str| shared().site.program(&["client", "add", "x", "--redirect-uri", uri]).run().code;
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
fn everything_else_goes_back_to_the_client() {
    let ask = lobby().ask();
    let wrong = |name: &str, value: &str| error_of(&at_lobby().get(&ask.clone().with(name, value).path()));
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
    let plain = ask.clone().with("code_challenge", &"x".repeat(43)).with("code_challenge_method", "plain");
    assert_eq!(error_of(&at_lobby().get(&plain.path())), "invalid_request");
    let short = ask.clone().with("code_challenge", &"x".repeat(42)).with("code_challenge_method", "S256");
    assert_eq!(error_of(&at_lobby().get(&short.path())), "invalid_request");
    for name in ["scope", "response_type", "nonce", "foo"] {
        let twice = ask.clone().and(name, "code").and(name, "code");
        assert_eq!(error_of(&at_lobby().get(&twice.path())), "invalid_request", "{name} twice");
    }
    let missing = ask.without("response_type");
    assert_eq!(error_of(&at_lobby().get(&missing.path())), "invalid_request");
}

#[test]
fn errors_come_before_anybody_is_asked_to_sign_in() {
    let office = lobby();
    let page = office.browser().get(&office.ask().with("response_type", "token").path());
    assert_eq!(error_of(&page), "unsupported_response_type");
}

#[test]
fn a_state_that_was_not_sent_is_not_made_up() {
    let ask = lobby().ask().without("state").with("response_type", "token");
    let params = at_lobby().get(&ask.path()).params();
    assert_eq!(params.keys().map(String::as_str).collect::<Vec<_>>(), ["error", "error_description", "iss"]);
}

#[test]
fn a_form_is_as_good_as_a_query() {
    let office = lobby();
    let browser = at_lobby();
    let page = browser.settle(browser.post("/auth/core/connect/authorize", &office.ask().fields()));
    assert_eq!(office.exchange(&page.params()["code"]).status, 200);
    let fields = office.ask().with("response_type", "token");
    let page = browser.settle(browser.post("/auth/core/connect/authorize", &fields.fields()));
    assert_eq!(error_of(&page), "unsupported_response_type");
    is_error_page(&browser.settle(browser.post("/auth/core/connect/authorize", &[("client_id", "nobody")])));
}

#[test]
fn a_request_that_is_too_long_is_refused() {
    let long = Ask(vec![("client_id".into(), "x".repeat(25 * 1024))]);
    assert_eq!(lobby().browser().get(&long.path()).status, 414);
    let many: Vec<(String, String)> = (0..101).map(|number| (format!("p{number}"), "x".into())).collect();
    let ask = many.iter().fold(lobby().ask(), |ask, (name, value)| ask.with(name, value));
    assert_eq!(error_of(&lobby().browser().get(&ask.path())), "invalid_request");
}

#[test]
fn a_hint_of_another_client_or_an_access_token_is_no_hint() {
    let office = lobby();
    let tokens = office.tokens();
    let good = office.ask().with("id_token_hint", tokens.id()).with("prompt", "none");
    assert!(at_lobby().get(&good.path()).params().contains_key("code"));
    let wrong = office.ask().with("id_token_hint", tokens.access());
    assert_eq!(error_of(&at_lobby().get(&wrong.path())), "invalid_request");
    let other = Office::new();
    let foreign = other.ask().with("id_token_hint", tokens.id());
    let page = other.browser().get(&foreign.path());
    assert_eq!(page.params()["error"], "invalid_request", "of {}", claims(tokens.id()));
}

#[test]
fn the_issuer_is_the_configured_one_whatever_a_proxy_says() {
    let url = format!("{}{}", lobby().serve.public_url, lobby().ask().with("prompt", "none").path());
    let reply = Call::get(&url).header("x-forwarded-host", "evil.example").send();
    let (_, query) = reply.header("location").split_once('?').unwrap();
    assert_eq!(decoded(query)["iss"], ISSUER);
}
