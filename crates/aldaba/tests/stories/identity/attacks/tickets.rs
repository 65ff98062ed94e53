//! Attacks on tickets, the sealed requests that a browser carries from page to page.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::office;
use crate::harness::{Office, PASSWORD, SESSION, encoded, oauth_error};

/// The same ticket with one bit changed, in every region of it.
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
fn a_ticket_that_was_touched_is_none() {
    let office = office(2, &[]);
    let browser = office.browser();
    let page = browser.settle(browser.get(&office.ask().path()));
    let ticket = page.value("ticket");
    for wrong in tampered(&ticket) {
        let fields = [("ticket", wrong.as_str()), ("username", &office.email), ("password", PASSWORD)];
        browser.post("/auth/core/login", &fields).is_refusal();
        if wrong.len() < 20_000 && !wrong.is_empty() {
            for path in ["login", "tenant", "logout"] {
                browser.get(&format!("/auth/core/{path}?{}", encoded(&fields[..1]))).is_refusal();
            }
        }
        for path in ["tenant", "logout"] {
            browser.post(&format!("/auth/core/{path}"), &fields[..1]).is_refusal();
        }
        assert_eq!(browser.cookie(SESSION), None, "{wrong}");
    }
    let page = browser.submit(&page.form("post"), &[("username", &office.email), ("password", PASSWORD)]);
    assert_eq!(page.status, 302, "untouched it is good");
    office.serve.is_well();
}

#[test]
fn a_ticket_of_another_server_is_none() {
    let (here, elsewhere) = (office(1, &[]), Office::new());
    let foreign = elsewhere.browser();
    let ticket = foreign.settle(foreign.get(&elsewhere.ask().path())).value("ticket");
    let browser = here.browser();
    browser.set_cookie("aldaba-browser", &foreign.cookie("aldaba-browser").unwrap());
    let fields = [("ticket", ticket.as_str()), ("username", &here.email), ("password", PASSWORD)];
    browser.post("/auth/core/login", &fields).is_refusal();
    assert_eq!(browser.cookie(SESSION), None);
    here.serve.is_well();
}

#[test]
fn a_ticket_tells_nothing_and_no_two_are_the_same() {
    let office = office(1, &[]);
    let browser = office.browser();
    let ask = office.ask().with("login_hint", "somebody@example.com");
    let [one, other] = [(); 2].map(|()| browser.settle(browser.get(&ask.path())).value("ticket"));
    assert_ne!(one, other);
    let bytes = URL_SAFE_NO_PAD.decode(&one).unwrap();
    for plain in ["somebody@example.com", "redirect_uri", &office.app.id] {
        assert!(!bytes.windows(plain.len()).any(|window| window == plain.as_bytes()), "{plain}");
    }
    office.serve.is_well();
}

#[test]
fn what_other_tokens_open_a_ticket_does_not_and_the_other_way_round() {
    let office = office(1, &[]);
    let browser = office.browser();
    let ticket = browser.settle(browser.get(&office.ask().path())).value("ticket");
    let tokens = office.tokens();
    for token in [tokens.access(), tokens.refresh(), tokens.id()] {
        browser.get(&format!("/auth/core/login?{}", encoded(&[("ticket", token)]))).is_refusal();
    }
    assert_eq!(office.userinfo(&ticket).status, 401);
    assert_eq!(office.introspect(&ticket)["active"], false);
    assert_eq!(oauth_error(&office.refresh(&ticket), 400), "invalid_grant");
    assert_eq!(oauth_error(&office.exchange(&ticket), 400), "invalid_grant");
    office.serve.is_well();
}

#[test]
fn an_application_that_was_disabled_on_the_way_gets_no_answer() {
    let office = office(2, &[]);
    let browser = office.browser();
    let choice = office.tenant_page(&browser, &office.ask());
    let entering = office.browser();
    let page = entering.settle(entering.get(&office.ask().path()));
    office.command(&["client", "disable", &office.app.id]);
    browser.submit(&choice.form("post"), &[("tenant", &office.tenants[0])]).is_refusal();
    entering.submit(&page.form("post"), &[("username", &office.email), ("password", PASSWORD)]).is_refusal();
    browser.get(&office.ask().path()).is_refusal();
    office.serve.is_well();
}
