//! Attacks on where an answer goes: addresses that are almost a registered one, after sign-in and after sign-out.

use super::office;
use crate::harness::{Browser, CALLBACK, Office, encoded, target};

const HOME: &str = "https://app.example/callback";
const BYE: &str = "https://app.example/bye";

/// Addresses that a careless comparison takes for a registered one.
fn almost(registered: &str) -> Vec<String> {
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
        encoded(&[("", registered)]).trim_start_matches('=').to_owned(),
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
fn open_redirect_an_address_that_is_almost_registered_is_not() {
    let office = office(1, &["--redirect-uri", HOME]);
    let browser = office.signed_in();
    let given = office.arrive(&browser, &office.ask().with("redirect_uri", HOME));
    assert!(given.location().starts_with(&format!("{HOME}?code=")), "{given:?}");
    for uri in almost(HOME) {
        for ask in [
            office.ask(),
            office.ask().with("response_mode", "form_post"),
            office.ask().with("prompt", "none"),
        ] {
            browser.get(&ask.with("redirect_uri", &uri).path()).is_refusal();
        }
    }
    office.serve.is_well();
}

#[test]
fn open_redirect_not_even_to_say_that_something_is_wrong() {
    let office = office(1, &[]);
    let browser = office.browser();
    let evil = office.ask().with("redirect_uri", "https://evil.example/");
    for ask in [
        evil.clone().with("response_type", "token"),
        evil.clone().with("scope", ""),
        evil.clone().with("prompt", "none"),
        evil.clone().with("client_id", "nobody"),
        evil.clone().without("client_id"),
        office.ask().without("redirect_uri"),
        office.ask().with("redirect_uri", ""),
        office.ask().and("redirect_uri", "https://evil.example/"),
        office.ask().and("redirect_uri", CALLBACK),
        office.ask().and("client_id", &office.app.id),
    ] {
        let page = browser.get(&ask.path());
        page.is_refusal();
        assert!(!page.text().contains("evil.example"), "{}", page.text());
    }
    office.serve.is_well();
}

#[test]
fn this_machine_is_named_localhost_or_not_at_all() {
    let office = office(1, &[]);
    let browser = office.signed_in();
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
        browser.get(&office.ask().with("redirect_uri", uri).path()).is_refusal();
    }
    office.serve.is_well();
}

#[test]
fn registration_takes_no_address_that_could_be_anybodys() {
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
            let done = target().site.program(&add).run();
            assert_ne!(done.code, Some(0), "{flag} {uri}: {done:?}");
        }
    }
    target().is_well();
}

fn leaving(office: &Office<'_>, uri: &str) -> String {
    let fields = [("client_id", office.app.id.as_str()), ("post_logout_redirect_uri", uri), ("state", "s")];
    format!("/auth/core/connect/endsession?{}", encoded(&fields))
}

#[test]
fn open_redirect_after_sign_out_neither() {
    let office = office(1, &["--post-logout-uri", BYE]);
    let (signed_in, nobody) = (office.signed_in(), office.browser());
    let gone = nobody.get(&leaving(&office, BYE));
    assert_eq!((gone.status, gone.location()), (302, "https://app.example/bye?state=s"));
    let mut wrong = almost(BYE);
    wrong.extend(["https://evil.example/".into(), CALLBACK.into()]);
    for uri in wrong {
        for browser in [&signed_in, &nobody] {
            browser.get(&leaving(&office, &uri)).is_refusal();
        }
    }
    let unnamed = encoded(&[("post_logout_redirect_uri", BYE)]);
    nobody.get(&format!("/auth/core/connect/endsession?{unnamed}")).is_refusal();
    assert!(is_signed_in(&signed_in));
    office.serve.is_well();
}

#[test]
fn after_sign_out_an_address_that_was_taken_back_is_no_way_to_go() {
    let office = office(1, &["--post-logout-uri", "https://sold.example/bye"]);
    let browser = office.signed_in();
    let asked = browser.settle(browser.get(&leaving(&office, "https://sold.example/bye")));
    let ticket = asked.value("ticket");
    office.command(&["client", "set", &office.app.id, "--post-logout-uri", BYE]);
    // Whoever kept the link sends it to people in other browsers.
    let elsewhere = office.browser().get(&format!("/auth/core/logout?ticket={ticket}"));
    assert_eq!(elsewhere.location(), "", "the domain is another's by now");
    let confirmed = browser.submit(&asked.form("post"), &[]);
    assert_eq!(confirmed.location(), "", "the domain is another's by now");
    office.serve.is_well();
}

fn is_signed_in(browser: &Browser) -> bool {
    browser.get("/auth/core/permissions").status == 200
}
