//! Open redirects: URLs that almost match a registered one, after sign-in and after sign-out.

use super::attack_fixture;
use crate::harness::{Browser, CALLBACK, SignInFixture, attack_server, encode_form};

const HOME: &str = "https://app.example/callback";
const BYE: &str = "https://app.example/bye";

/// URLs that a careless comparison takes for the registered one.
fn similar_uris(registered: &str) -> Vec<String> {
    let rest = registered.strip_prefix("https://app.example").unwrap();
    let mut all: Vec<String> = [
        "https://APP.example",
        "HTTPS://app.example",
        "http://app.example",
        "//app.example",
        "https://app.example:443",
        "https://app.example:8443",
        "https://app.example.",
        "https://app.example.evil.example",
        "https://evil.example/app.example",
        "https://evilapp.example",
        "https://evil.app.example",
        "https://user@app.example",
        "https://app.example@evil.example",
        "https://app.example:pass@evil.example",
        "https://app.example%40evil.example",
        "https://app.example%2eevil.example",
        "https://app.example\\@evil.example",
        "https://evil.example\\app.example",
        "https:\\\\app.example",
        "https:/app.example",
        "https:app.example",
        "https://app。example",
        "https://app\u{ff0e}example",
        "https://app\u{2024}example",
        "https://\u{430}pp.example",
        "https://app.example\t",
        "https://app\n.example",
        "https://127.0.0.1",
        "https://evil.example#https://app.example",
        "https://evil.example?https://app.example",
        "javascript://app.example",
        "data://app.example",
    ]
    .iter()
    .map(|before| format!("{before}{rest}"))
    .collect();
    let after = [
        "/",
        "?",
        "#",
        "?x=1",
        "#x",
        "/..",
        "/../evil",
        "/%2e%2e/evil",
        "/.",
        "%2f",
        "%00",
        "%0d%0a",
        "%20",
        " ",
        "\t",
        "\r\n",
        "\r\nlocation: https://evil.example",
        ";x",
        "&x",
        "x",
        ".evil.example",
        "\u{200b}",
        "\u{0}",
    ];
    all.extend(after.iter().map(|after| format!("{registered}{after}")));
    all.extend([
        registered.to_uppercase(),
        registered.replace("https://app.example/", "https://app.example/%2e/"),
        registered.replace("https://app.example/", "https://app.example//"),
        registered.replace("https://app.example/", "https://app.example/x/../"),
        registered.replace("https://app.example/", "https://app.example/%2"),
        registered.replace('/', "%2F"),
        registered.replace('/', "%252F"),
        encode_form(&[("", registered)]).trim_start_matches('=').to_owned(),
        format!(" {registered}"),
        format!("\t{registered}"),
        format!("{registered} {registered}"),
        registered[..registered.len() - 1].to_owned(),
        "https://app.example".to_owned(),
        "https://app.example/".to_owned(),
        "https://app.example/*".to_owned(),
        "/".to_owned(),
    ]);
    all
}

#[test]
fn open_redirect_to_a_similar_uri_is_refused() {
    let fixture = attack_fixture(1, &["--redirect-uri", HOME]);
    let browser = fixture.signed_in_browser();
    let granted = fixture.authorize(&browser, &fixture.authorization_request().with("redirect_uri", HOME));
    assert!(granted.location().starts_with(&format!("{HOME}?code=")), "{granted:?}");
    for uri in similar_uris(HOME) {
        for request in [
            fixture.authorization_request(),
            fixture.authorization_request().with("response_mode", "form_post"),
            fixture.authorization_request().with("prompt", "none"),
        ] {
            browser.get(&request.with("redirect_uri", &uri).path()).assert_error_page();
        }
    }
    fixture.server.assert_healthy();
}

#[test]
fn open_redirect_of_errors_is_refused() {
    let fixture = attack_fixture(1, &[]);
    let browser = fixture.browser();
    let evil = fixture.authorization_request().with("redirect_uri", "https://evil.example/");
    for request in [
        evil.clone().with("response_type", "token"),
        evil.clone().with("scope", ""),
        evil.clone().with("prompt", "none"),
        evil.clone().with("client_id", "nobody"),
        evil.clone().without("client_id"),
        fixture.authorization_request().without("redirect_uri"),
        fixture.authorization_request().with("redirect_uri", ""),
        fixture.authorization_request().and("redirect_uri", "https://evil.example/"),
        fixture.authorization_request().and("redirect_uri", CALLBACK),
        fixture.authorization_request().and("client_id", &fixture.app.id),
    ] {
        let page = browser.get(&request.path());
        page.assert_error_page();
        // The language switch repeats the request, encoded.
        assert!(!page.text().contains("//evil.example"), "{}", page.text());
    }
    fixture.server.assert_healthy();
}

#[test]
fn http_redirect_uri_must_use_localhost() {
    let fixture = attack_fixture(1, &[]);
    let browser = fixture.signed_in_browser();
    for uri in [
        "http://127.0.0.1:8765/callback",
        "http://[::1]:8765/callback",
        "http://127.1:8765/callback",
        "http://2130706433:8765/callback",
        "http://0.0.0.0:8765/callback",
        "http://[::ffff:127.0.0.1]:8765/callback",
        "http://localhost:8766/callback",
        "http://localhost/callback",
        "http://LOCALHOST:8765/callback",
        "http://localhost.:8765/callback",
        "https://localhost:8765/callback",
    ] {
        browser.get(&fixture.authorization_request().with("redirect_uri", uri).path()).assert_error_page();
    }
    fixture.server.assert_healthy();
}

#[test]
fn registration_refuses_unsafe_redirect_uris() {
    for uri in [
        "http://127.0.0.1:8765/callback",
        "http://[::1]:8765/callback",
        "http://app.example/callback",
        "http://localhost.evil.example:8765/",
        "http://localhost:8765@evil.example/",
        "https://user@app.example/",
        "https://app.example/#x",
        "https://*.example/",
        "https://app.example\\@evil.example/",
        "https://app.example/\u{200b}",
        "javascript:alert(1)",
    ] {
        for flag in ["--redirect-uri", "--post-logout-uri"] {
            let add = ["client", "add", "x", "--redirect-uri", HOME, flag, uri];
            let finished = attack_server().installation.program(&add).run();
            assert_ne!(finished.code, Some(0), "{flag} {uri}: {finished:?}");
        }
    }
    attack_server().assert_healthy();
}

fn end_session_path(fixture: &SignInFixture<'_>, uri: &str) -> String {
    let fields = [("client_id", fixture.app.id.as_str()), ("post_logout_redirect_uri", uri), ("state", "s")];
    format!("/auth/core/connect/endsession?{}", encode_form(&fields))
}

#[test]
fn open_redirect_after_sign_out_is_refused() {
    let fixture = attack_fixture(1, &["--post-logout-uri", BYE]);
    let (signed_in_browser, signed_out_browser) = (fixture.signed_in_browser(), fixture.browser());
    let gone = signed_out_browser.get(&end_session_path(&fixture, BYE));
    assert_eq!((gone.status, gone.location()), (302, "https://app.example/bye?state=s"));
    let mut wrong = similar_uris(BYE);
    wrong.extend(["https://evil.example/".into(), CALLBACK.into()]);
    for uri in wrong {
        for browser in [&signed_in_browser, &signed_out_browser] {
            let page = browser.follow_redirects(browser.get(&end_session_path(&fixture, &uri)));
            assert_eq!((page.status, page.location()), (200, ""), "{uri}");
            page.assert_security_headers();
        }
        let browser = fixture.signed_in_browser();
        let question = browser.follow_redirects(browser.get(&end_session_path(&fixture, &uri)));
        let left = browser.submit(&question.form("post"), &[]);
        assert_eq!((left.status, left.location()), (200, ""), "{uri}");
    }
    let unnamed = encode_form(&[("post_logout_redirect_uri", BYE)]);
    let left = signed_out_browser.get(&format!("/auth/core/connect/endsession?{unnamed}"));
    assert_eq!((left.status, left.location()), (200, ""));
    assert!(is_signed_in(&signed_in_browser));
    fixture.server.assert_healthy();
}

#[test]
fn removed_post_logout_redirect_uri_is_refused() {
    let fixture = attack_fixture(1, &["--post-logout-uri", "https://sold.example/bye"]);
    let browser = fixture.signed_in_browser();
    let confirmation_page =
        browser.follow_redirects(browser.get(&end_session_path(&fixture, "https://sold.example/bye")));
    let ticket = confirmation_page.value("ticket");
    fixture.command(&["client", "set", &fixture.app.id, "--post-logout-uri", BYE]);
    // Someone who kept the link sends it to users in other browsers.
    let elsewhere = fixture.browser().get(&format!("/auth/core/logout?ticket={ticket}"));
    assert_eq!(elsewhere.location(), "", "the domain may have another owner by now");
    let confirmed = browser.submit(&confirmation_page.form("post"), &[]);
    assert_eq!(confirmed.location(), "", "the domain may have another owner by now");
    fixture.server.assert_healthy();
}

fn is_signed_in(browser: &Browser) -> bool {
    browser.get("/auth/core/permissions").status == 200
}
