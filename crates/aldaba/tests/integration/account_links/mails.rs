//! The mails of the accounts as they arrive, in both languages; a failing mail server loses none and blocks nobody.

use std::time::Duration;

use domain::Clock as _;
use testserver::wait_for;

use super::{Fixture, NEW_PASSWORD, OTHER_PASSWORD, accept, reset};
use crate::harness::metric;
use crate::integration::mail::smtp_server::Fault;

#[test]
fn every_mail_arrives_in_the_language_of_its_recipient() {
    let fixture = Fixture::start();
    for (lang, subjects) in [
        ("es", ["Tu cuenta de Contaplus", "Contrase=C3=B1a nueva", "ha cambiado"]),
        (
            "en",
            ["Your Contaplus account", "New password for Contaplus", "Your Contaplus password has changed"],
        ),
    ] {
        let email = format!("eva-{lang}@example.com");
        fixture.invite("users", &email, lang);
        let page = {
            let (browser, link) = (fixture.browser("users"), fixture.link_to(&email, 1));
            let form = browser.follow_redirects(browser.get(&link)).form("post");
            let filled = [
                ("given_name", "Eva"),
                ("lang", lang),
                ("new_password", NEW_PASSWORD),
                ("repeated_password", NEW_PASSWORD),
            ];
            browser.submit(&form, &filled)
        };
        assert_eq!(page.status, 302, "{page:?}");
        fixture.forget("users", "/auth/core", &email);
        let link = fixture.link_to(&email, 2);
        assert_eq!(reset(&fixture.browser("users"), &link, OTHER_PASSWORD).status, 200);
        let mails = fixture.mails_to(&email, 3);
        for (mail, subject) in mails.iter().zip(subjects) {
            let data = decoded(&mail.data);
            let subject = decoded(subject);
            assert!(data.contains(&subject), "{subject:?} in {data}");
            assert!(data.contains("Contaplus") && data.contains("ayuda@contaplus.example"), "{data}");
            assert!(data.contains("text/plain") && data.contains("text/html"), "{data}");
        }
    }
}

/// Without the encodings of headers and quoted-printable.
fn decoded(text: &str) -> String {
    let joined = text.replace("=\r\n", "").replace("?=\r\n =?utf-8?Q?", "").replace('_', " ");
    let mut bytes = Vec::new();
    let mut rest = joined.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = tail.get(..2).filter(|_| *first == b'=').and_then(|hex| std::str::from_utf8(hex).ok());
        if let Some(byte) = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            bytes.push(byte);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn failing_mail_server_loses_no_mail_and_blocks_no_request() {
    let fixture = Fixture::with(&[Fault::Silence, Fault::Content("451 later")], |builder| builder);
    fixture.invite("users", "eva@example.com", "es");
    wait_for("the service sends", || fixture.smtp.commands().contains(&"MAIL".to_owned()).then_some(()));
    // While the server is silent, everything else goes on.
    fixture.invite("users", "ana@example.com", "es");
    let asked = fixture.forget("users", "/auth/core", "nobody@example.com");
    assert_eq!(asked.status, 200);
    assert_eq!(fixture.browser("users").get("/auth/core/login").status, 200);
    let failures = || metric(fixture.server.operator_url(), "aldaba_mail_failures_total");
    for count in 1..=2 {
        wait_for("the attempt has failed", || (failures() >= count).then_some(()));
        fixture.pass(Duration::from_secs(60 * 60));
    }
    for email in ["eva@example.com", "ana@example.com"] {
        let link = fixture.link_to(email, 1);
        assert_eq!(accept(&fixture.browser("users"), &link, NEW_PASSWORD).status, 302);
    }
    let now = fixture.clock.now();
    wait_for("nothing waits", || {
        (fixture.server.block_on(fixture.server.store().waiting_mails(now)) == Ok(0)).then_some(())
    });
}
