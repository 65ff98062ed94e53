//! Attacks on tickets, the sealed authorization requests that a browser carries from page to page.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::attack_fixture;
use crate::harness::{PASSWORD, SESSION, SignInFixture, encode_form, oauth_error};

/// The same ticket with one bit changed, once in each region.
fn tampered(ticket: &str) -> Vec<String> {
    let sealed = URL_SAFE_NO_PAD.decode(ticket).unwrap();
    let last = sealed.len() - 1;
    let places = [0, 6, 11, 12, 13, 40, sealed.len() / 2, last - 16, last - 15, last - 8, last];
    let flipped = places.into_iter().flat_map(|place| {
        [0x01, 0x80].map(|bit| {
            let mut bytes = sealed.clone();
            bytes[place] ^= bit;
            URL_SAFE_NO_PAD.encode(bytes)
        })
    });
    let mut all: Vec<String> = flipped.collect();
    let cut = [0, 1, 11, 12, 28, sealed.len() - 16, last];
    all.extend(cut.map(|length| URL_SAFE_NO_PAD.encode(&sealed[..length])));
    all.extend([
        format!("{ticket}A"),
        format!("{ticket}AAAA"),
        format!("{ticket}=="),
        format!("A{ticket}"),
        format!("{ticket}{ticket}"),
        ticket[1..].to_owned(),
        ticket.to_lowercase(),
        format!(" {ticket}"),
        format!("{ticket}\0"),
        "\u{fffd}".to_owned(),
        "x".repeat(50_000),
    ]);
    all
}

#[test]
fn modified_ticket_is_refused() {
    let fixture = attack_fixture(2, &[]);
    let browser = fixture.browser();
    let page = browser.follow_redirects(browser.get(&fixture.authorization_request().path()));
    let ticket = page.value("ticket");
    for wrong in tampered(&ticket) {
        let fields = [("ticket", wrong.as_str()), ("username", &fixture.email), ("password", PASSWORD)];
        browser.post("/auth/core/login", &fields).assert_error_page();
        if wrong.len() < 20_000 && !wrong.is_empty() {
            for path in ["login", "tenant", "logout"] {
                browser.get(&format!("/auth/core/{path}?{}", encode_form(&fields[..1]))).assert_error_page();
            }
        }
        for path in ["tenant", "logout"] {
            browser.post(&format!("/auth/core/{path}"), &fields[..1]).assert_error_page();
        }
        assert_eq!(browser.cookie(SESSION), None, "{wrong}");
    }
    let page = browser.submit(&page.form("post"), &[("username", &fixture.email), ("password", PASSWORD)]);
    assert_eq!(page.status, 302, "the unchanged ticket is valid");
    fixture.server.assert_healthy();
}

#[test]
fn ticket_of_another_server_is_refused() {
    let (attacked, other_server) = (attack_fixture(1, &[]), SignInFixture::new());
    let foreign = other_server.browser();
    let ticket =
        foreign.follow_redirects(foreign.get(&other_server.authorization_request().path())).value("ticket");
    let browser = attacked.browser();
    browser.set_cookie("aldaba-browser", &foreign.cookie("aldaba-browser").unwrap());
    let fields = [("ticket", ticket.as_str()), ("username", &attacked.email), ("password", PASSWORD)];
    browser.post("/auth/core/login", &fields).assert_error_page();
    assert_eq!(browser.cookie(SESSION), None);
    attacked.server.assert_healthy();
}

#[test]
fn tickets_are_opaque_and_unique() {
    let fixture = attack_fixture(1, &[]);
    let browser = fixture.browser();
    let request = fixture.authorization_request().with("login_hint", "somebody@example.com");
    let [one, other] =
        [(); 2].map(|()| browser.follow_redirects(browser.get(&request.path())).value("ticket"));
    assert_ne!(one, other);
    let bytes = URL_SAFE_NO_PAD.decode(&one).unwrap();
    for plain in ["somebody@example.com", "redirect_uri", &fixture.app.id] {
        assert!(!bytes.windows(plain.len()).any(|window| window == plain.as_bytes()), "{plain}");
    }
    fixture.server.assert_healthy();
}

#[test]
fn tickets_and_tokens_are_not_interchangeable() {
    let fixture = attack_fixture(1, &[]);
    let browser = fixture.browser();
    let ticket =
        browser.follow_redirects(browser.get(&fixture.authorization_request().path())).value("ticket");
    let tokens = fixture.tokens();
    for token in [tokens.access(), tokens.refresh(), tokens.id()] {
        browser.get(&format!("/auth/core/login?{}", encode_form(&[("ticket", token)]))).assert_error_page();
    }
    assert_eq!(fixture.userinfo(&ticket).status, 401);
    assert_eq!(fixture.introspect(&ticket)["active"], false);
    assert_eq!(oauth_error(&fixture.refresh(&ticket), 400), "invalid_grant");
    assert_eq!(oauth_error(&fixture.exchange(&ticket), 400), "invalid_grant");
    fixture.server.assert_healthy();
}

#[test]
fn client_disabled_during_the_sign_in_gets_no_response() {
    let fixture = attack_fixture(2, &[]);
    let browser = fixture.browser();
    let choice = fixture.tenant_page(&browser, &fixture.authorization_request());
    let entering = fixture.browser();
    let page = entering.follow_redirects(entering.get(&fixture.authorization_request().path()));
    fixture.command(&["client", "disable", &fixture.app.id]);
    browser.submit(&choice.form("post"), &[("tenant", &fixture.tenants[0])]).assert_error_page();
    entering
        .submit(&page.form("post"), &[("username", &fixture.email), ("password", PASSWORD)])
        .assert_error_page();
    browser.get(&fixture.authorization_request().path()).assert_error_page();
    fixture.server.assert_healthy();
}
