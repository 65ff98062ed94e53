//! Sign-in with a code of an app, or with a recovery code.

use std::time::Duration;

use testserver::wait_for;

use super::fixture::{Fixture, SESSION, form_for};
use crate::integration::mail::smtp_server::{Security, SmtpServer};

#[test]
fn app_is_asked_for_after_the_password_and_shows_in_the_tokens() {
    let (fixture, app, _) = Fixture::enrolled();
    let (browser, page) = fixture.at_second_step(&[]);
    assert!(!page.has_field("passkey"), "passkeys do not work on an IP address");
    assert!(!page.header("content-security-policy").contains("script-src"), "{page:?}");
    let callback = fixture.give_code(&browser, &page, &app);
    let (access, id, refresh) = fixture.tokens(&callback);
    assert_eq!(access["amr"], serde_json::json!(["password", "2fa"]));
    assert_eq!((&id["amr"], &id["acr"]), (&access["amr"], &serde_json::json!("2fa")));
    let (access, id, _) =
        fixture.token_request(&[("grant_type", "refresh_token"), ("refresh_token", &refresh)]);
    assert_eq!(access["amr"], serde_json::json!(["password", "2fa"]), "a refresh loses nothing");
    assert_eq!(id["acr"], "2fa");
}

#[test]
fn without_a_second_factor_nothing_changes() {
    let fixture = Fixture::new();
    let browser = fixture.browser();
    let login = browser.follow_redirects(browser.get(&fixture.request(&[])));
    let callback = browser.follow_redirects(fixture.enter_password(&browser, &login));
    let (access, id, refresh) = fixture.tokens(&callback);
    assert_eq!((&access["amr"], id.get("acr")), (&serde_json::json!(["password"]), None));
    fixture.enrol(&fixture.signed_in());
    let (access, id, _) =
        fixture.token_request(&[("grant_type", "refresh_token"), ("refresh_token", &refresh)]);
    assert_eq!(access["amr"], serde_json::json!(["password"]), "a refresh gains nothing");
    assert_eq!(id.get("acr"), None);
}

#[test]
fn wrong_old_and_used_codes_are_refused() {
    let (fixture, app, _) = Fixture::enrolled();
    let current = fixture.code(&app);
    let (browser, page) = fixture.at_second_step(&[]);
    let refused = |page: &crate::harness::Page, code: &str| {
        let page = browser.submit(&form_for(page, "totp"), &[("code", code)]);
        assert_eq!((page.status, browser.cookie(SESSION)), (400, None), "{code}: {page:?}");
        page
    };
    let wrong = if current == "000000" { "000001" } else { "000000" };
    let page = refused(&page, wrong);
    let page = refused(&page, "12345");
    let page = refused(&page, "no code at all");
    fixture.clock.advance(Duration::from_secs(90));
    let page = refused(&page, &current);
    let callback = fixture.give_code(&browser, &page, &app);
    assert!(callback.params().contains_key("code"), "{callback:?}");

    let used = fixture.code(&app);
    let (browser, page) = fixture.at_second_step(&[]);
    let page = browser.submit(&form_for(&page, "totp"), &[("code", &used)]);
    assert_eq!((page.status, browser.cookie(SESSION)), (400, None), "a code is valid once");
    // What is no code guesses nothing, and is not counted.
    assert_eq!(fixture.audit_count("sign_in_failed"), 3);
}

#[test]
fn guesses_use_up_the_bucket_of_the_account() {
    let (fixture, app, codes) = Fixture::enrolled();
    let current = fixture.code(&app);
    let wrong = if current == "000000" { "000001" } else { "000000" };
    let (browser, mut page) = fixture.at_second_step(&[]);
    for _ in 0..5 {
        page = browser.submit(&form_for(&page, "totp"), &[("code", wrong)]);
        assert_eq!(page.status, 400, "{page:?}");
    }
    let refused = browser.submit(&form_for(&page, "totp"), &[("code", &current)]);
    assert_eq!((refused.status, refused.header("retry-after")), (429, "120"), "{refused:?}");
    let (other, other_page) = fixture.at_second_step(&[]);
    let refused = other.submit(&form_for(&other_page, "totp"), &[("code", &current)]);
    assert_eq!(refused.status, 429, "another browser has the same bucket: {refused:?}");
    // Recovery codes have their own, so that who knows the password cannot lock the owner out.
    let recovered = other.submit(&form_for(&other_page, "recovery"), &[("recovery_code", &codes[0])]);
    assert!(other.follow_redirects(recovered).params().contains_key("code"));
    fixture.clock.advance(Duration::from_secs(120));
    let callback = fixture.give_code(&browser, &page, &app);
    assert!(callback.params().contains_key("code"), "{callback:?}");
}

#[test]
fn recovery_code_signs_in_once() {
    let (fixture, app, codes) = Fixture::enrolled();
    assert_eq!(codes.len(), 10);
    let (browser, page) = fixture.at_second_step(&[]);
    let typed = codes[3].to_uppercase();
    let done = browser.submit(&form_for(&page, "recovery"), &[("recovery_code", &typed)]);
    let (access, ..) = fixture.tokens(&browser.follow_redirects(done));
    assert_eq!(access["amr"], serde_json::json!(["password", "2fa"]));
    assert_eq!(fixture.audit_count("recovery_code_used"), 1);

    let (browser, page) = fixture.at_second_step(&[]);
    let again = browser.submit(&form_for(&page, "recovery"), &[("recovery_code", &codes[3])]);
    assert_eq!((again.status, browser.cookie(SESSION)), (400, None));
    let list = fixture.give_code(&browser, &again, &app);
    assert!(list.params().contains_key("code"));
    let list = browser.get(super::fixture::FACTORS);
    assert!(list.text().contains("Te quedan 9 códigos") || list.text().contains("You have 9 recovery codes"));
}

#[test]
fn used_recovery_code_is_mailed_to_its_owner() {
    let smtp = SmtpServer::start(Security::Plain, &[]);
    let fixture = Fixture::with(|builder| {
        builder
            .set("mail.server", &format!("localhost:{}", smtp.address.port()))
            .set("mail.from", "Contaplus <no-reply@example.com>")
            .set("mail.tls", "none")
    });
    let (_, codes) = fixture.enrol(&fixture.signed_in());
    wait_for("the mail of the enrolment", || (smtp.received().len() == 1).then_some(()));
    let (browser, page) = fixture.at_second_step(&[]);
    let page = browser.submit(&form_for(&page, "recovery"), &[("recovery_code", "00000-00000")]);
    assert_eq!(page.status, 400, "{page:?}");
    let done = browser.submit(&form_for(&page, "recovery"), &[("recovery_code", &codes[0])]);
    assert!(browser.follow_redirects(done).params().contains_key("code"));
    let told = wait_for("a mail about the code", || smtp.received().get(1).cloned());
    assert_eq!(told.to, fixture.user.email);
    let text = told.body();
    assert!(text.contains("Te quedan 9.") && !text.contains(&codes[0]), "{text}");
    let now = domain::Clock::now(&*fixture.clock);
    wait_for("no mail waits", || {
        let waiting = fixture.server.block_on(fixture.server.store().waiting_mails(now)).unwrap();
        (waiting == 0).then_some(())
    });
    assert_eq!(smtp.received().len(), 2, "the wrong code told nobody");
}

#[test]
fn step_ends_with_its_time_and_with_the_password() {
    let (fixture, app, _) = Fixture::enrolled();
    let (browser, page) = fixture.at_second_step(&[]);
    fixture.clock.advance(Duration::from_secs(601));
    let late = browser.submit(&form_for(&page, "totp"), &[("code", &fixture.code(&app))]);
    assert!(late.location().starts_with("/auth/core/login?"), "{late:?}");
    assert_eq!(browser.cookie(SESSION), None);

    let (browser, page) = fixture.at_second_step(&[]);
    let new = "otra contraseña muy larga";
    let url = format!("{}/operator/v1/users/{}", fixture.server.operator_url(), fixture.user.id);
    testserver::Request::new("PATCH".parse().unwrap(), &url)
        .bearer(fixture.server.operator_token())
        .json(&serde_json::json!({ "password": new }))
        .send()
        .expect_status(200);
    let void = browser.submit(&form_for(&page, "totp"), &[("code", &fixture.code(&app))]);
    assert!(void.location().starts_with("/auth/core/login?"), "a changed password voids the step: {void:?}");

    // The new password does not remove the second factor.
    let browser = fixture.browser();
    let login = browser.follow_redirects(browser.get(&fixture.request(&[])));
    let entered = fixture.enter(&browser, &login, new);
    assert!(entered.location().starts_with("/auth/core/second-factor?ticket="), "{entered:?}");
}
