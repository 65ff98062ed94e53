//! Adding, naming and removing second factors at the account page.

use std::time::Duration;

use super::fixture::{
    FACTORS, Fixture, SESSION, TOTP, form_for, form_that, shown_recovery_codes, shown_secret,
};
use crate::harness::Browser;

fn is_signed_in(browser: &Browser) -> bool {
    browser.get("/auth/core/permissions").status == 200
}

#[test]
fn enrolment_ends_other_sessions_and_mails_the_person() {
    let fixture = Fixture::with(|builder| {
        builder
            .set("mail.server", "localhost:1")
            .set("mail.from", "Contaplus <no-reply@example.com>")
            .set("mail.tls", "none")
    });
    let (browser, other) = (fixture.signed_in(), fixture.signed_in());
    let cookie = browser.cookie(SESSION);
    fixture.enrol(&browser);
    assert_ne!(browser.cookie(SESSION), cookie);
    assert!(is_signed_in(&browser));
    assert!(!is_signed_in(&other));
    let now = domain::Clock::now(&*fixture.clock);
    assert_eq!(fixture.server.block_on(fixture.server.store().waiting_mails(now)), Ok(1));
    let kinds: Vec<String> =
        fixture.audit().iter().map(|record| record["kind"].as_str().unwrap().to_owned()).collect();
    for kind in ["second_factor_added", "recovery_codes_made"] {
        assert!(kinds.iter().any(|one| one == kind), "{kind} in {kinds:?}");
    }
}

#[test]
fn wrong_first_code_keeps_the_secret() {
    let fixture = Fixture::new();
    let browser = fixture.signed_in();
    let page = browser.follow_redirects(browser.get(TOTP));
    let app = shown_secret(&page);
    let right = fixture.code(&app);
    let wrong = if right == "000000" { "000001" } else { "000000" };
    let page = browser.submit(&page.form("post"), &[("code", wrong), ("name", "Móvil")]);
    assert_eq!(page.status, 400, "{page:?}");
    assert_eq!(shown_secret(&page), app);
    let nameless = browser.submit(&page.form("post"), &[("code", &right), ("name", " ")]);
    assert_eq!((nameless.status, shown_secret(&nameless)), (400, app));
    let done = browser.submit(&nameless.form("post"), &[("code", &right), ("name", "Móvil")]);
    assert_eq!(shown_recovery_codes(&done).len(), 10);
    // Sent again, the form adds nothing.
    let again = browser.submit(&nameless.form("post"), &[("code", &right), ("name", "Móvil")]);
    assert_eq!(again.status, 400, "{again:?}");
    assert_eq!(fixture.audit_count("second_factor_added"), 1);
}

#[test]
fn factors_are_named_and_removed() {
    let (fixture, app, codes) = Fixture::enrolled();
    let (browser, page) = fixture.at_second_step(&[]);
    fixture.give_code(&browser, &page, &app);
    let list = browser.get(FACTORS);
    let named = browser.submit(&form_that(&list, "rename"), &[("name", "El de casa"), ("do", "rename")]);
    let list = browser.follow_redirects(named);
    assert!(list.text().contains("El de casa"), "{}", list.text());
    let long = "x".repeat(61);
    let refused = browser.submit(&form_that(&list, "rename"), &[("name", &long), ("do", "rename")]);
    assert_eq!(refused.status, 400);

    let shown = browser.submit(&form_that(&list, "codes"), &[("do", "codes")]);
    let new = shown_recovery_codes(&shown);
    assert!(new.len() == 10 && new.iter().all(|code| !codes.contains(code)));
    let removed = browser.submit(&form_that(&list, "remove"), &[("do", "remove")]);
    let list = browser.follow_redirects(removed);
    assert!(!list.text().contains("El de casa"), "{}", list.text());
    let plain = fixture.signed_in();
    assert!(is_signed_in(&plain), "the password alone signs in again");
    for kind in ["second_factor_renamed", "second_factor_removed"] {
        assert_eq!(fixture.audit_count(kind), 1, "{kind}");
    }
    assert_eq!(fixture.audit_count("recovery_codes_made"), 2);
}

#[test]
fn old_session_proves_again_who_it_is() {
    let (fixture, app, _) = Fixture::enrolled();
    let (browser, page) = fixture.at_second_step(&[]);
    fixture.give_code(&browser, &page, &app);
    let list = browser.get(FACTORS);
    fixture.clock.advance(Duration::from_secs(601));
    let refused = browser.submit(&form_that(&list, "remove"), &[("do", "remove")]);
    assert!(refused.location().starts_with("/auth/core/second-factor?"), "{refused:?}");
    assert_eq!(fixture.audit_count("second_factor_removed"), 0);
    let step = browser.follow_redirects(refused);
    let list =
        browser.follow_redirects(browser.submit(&form_for(&step, "totp"), &[("code", &fixture.code(&app))]));
    assert!(list.text().contains("Móvil"), "{}", list.text());
    let removed = browser.submit(&form_that(&list, "remove"), &[("do", "remove")]);
    assert!(removed.location().contains("done=removed"), "{removed:?}");

    let plain = fixture.signed_in();
    fixture.clock.advance(Duration::from_secs(601));
    let add = plain.get(TOTP);
    assert!(add.location().starts_with("/auth/core/login?"), "without a factor, the password: {add:?}");
}

#[test]
fn operator_resets_lost_factors() {
    let fixture = Fixture::with(|builder| {
        builder
            .set("mail.server", "localhost:1")
            .set("mail.from", "Contaplus <no-reply@example.com>")
            .set("mail.tls", "none")
    });
    let browser = fixture.signed_in();
    fixture.enrol(&browser);
    let path = format!("users/{}/reset-second-factors", fixture.user.email);
    let body = serde_json::json!({});
    assert_eq!(fixture.server.operator_post(&path, &body)["removed"], 1);
    assert!(!is_signed_in(&browser), "all sessions have ended");
    assert!(is_signed_in(&fixture.signed_in()), "the password alone signs in again");
    let now = domain::Clock::now(&*fixture.clock);
    assert_eq!(
        fixture.server.block_on(fixture.server.store().waiting_mails(now)),
        Ok(2),
        "the person is told"
    );
    let reset = fixture.audit().into_iter().find(|record| record["kind"] == "second_factor_reset").unwrap();
    assert_eq!(reset["actor"], "operator", "{reset}");
    assert_eq!(fixture.server.operator_post(&path, &body)["removed"], 0, "nothing is left");
    assert_eq!(fixture.audit_count("second_factor_reset"), 1);
}
