//! How often one may guess the second factor: buckets of the account, of its known browsers, and of recovery codes.

use std::time::Duration;

use testserver::PASSWORD;

use super::fixture::{Fixture, form_for};
use crate::harness::{Browser, Page};

/// A method of the second step and the field of its code.
type Method = (&'static str, &'static str);
const APP: Method = ("totp", "code");
const RECOVERY: Method = ("recovery", "recovery_code");

fn give(browser: &Browser, page: &Page, (method, field): Method, code: &str) -> Page {
    browser.submit(&form_for(page, method), &[(field, code)])
}

/// Gives wrong codes until no more are compared; returns the last page with a form.
fn use_up(browser: &Browser, mut page: Page, method: Method, wrong: &str) -> Page {
    for _ in 0..5 {
        page = give(browser, &page, method, wrong);
        assert_eq!(page.status, 400, "{page:?}");
    }
    let refused = give(browser, &page, method, wrong);
    assert_eq!(refused.status, 429, "{refused:?}");
    refused
}

/// The second step in a browser that may be signed in already: the request is newer than its session.
fn second_step(fixture: &Fixture, browser: &Browser) -> Page {
    fixture.clock.advance(Duration::from_secs(1));
    let request = fixture.request(&[("prompt", "login")]);
    let login = browser.follow_redirects(browser.get(&request));
    browser.follow_redirects(fixture.enter_password(browser, &login))
}

fn wrong_codes(right: &str) -> [(Method, &'static str); 2] {
    [(APP, if right == "000000" { "000001" } else { "000000" }), (RECOVERY, "00000-00000")]
}

/// Who knows the password can empty the buckets of the account, and does not lock the owner out of a browser that has signed
/// in before.
#[test]
fn stranger_does_not_lock_out_a_known_browser() {
    let fixture = Fixture::new();
    let known = fixture.signed_in();
    let (app, codes) = fixture.enrol(&known);
    let right = fixture.code(&app);
    let (stranger, mut page) = fixture.at_second_step(&[]);
    for (method, wrong) in wrong_codes(&right) {
        page = use_up(&stranger, page, method, wrong);
    }
    // A browser that is known for another account is a stranger to this one.
    let mallory = fixture.server.add_user(&[&fixture.tenant]);
    let other = fixture.browser();
    let form = other.get("/auth/core/login").form("post");
    assert_eq!(other.submit(&form, &[("username", &mallory.email), ("password", PASSWORD)]).status, 302);
    let page = second_step(&fixture, &other);
    for (method, code) in [(APP, &right), (RECOVERY, &codes[0])] {
        assert_eq!(give(&other, &page, method, code).status, 429, "{method:?}");
    }

    let page = second_step(&fixture, &known);
    let callback = known.follow_redirects(give(&known, &page, APP, &right));
    assert!(callback.params().contains_key("code"), "{callback:?}");
    let page = second_step(&fixture, &known);
    let callback = known.follow_redirects(give(&known, &page, RECOVERY, &codes[0]));
    assert!(callback.params().contains_key("code"), "{callback:?}");
}

/// Its buckets are no larger than others, and nobody else's.
#[test]
fn known_browser_guesses_no_more_than_a_stranger() {
    let fixture = Fixture::new();
    let known = fixture.signed_in();
    let (app, codes) = fixture.enrol(&known);
    let right = fixture.code(&app);
    let mut page = second_step(&fixture, &known);
    for (method, wrong) in wrong_codes(&right) {
        page = use_up(&known, page, method, wrong);
    }
    for (method, code) in [(APP, &right), (RECOVERY, &codes[0])] {
        assert_eq!(give(&known, &page, method, code).status, 429, "{method:?}");
    }
    let (stranger, page) = fixture.at_second_step(&[]);
    let callback = fixture.give_code(&stranger, &page, &app);
    assert!(callback.params().contains_key("code"), "{callback:?}");
}

#[test]
fn guessed_recovery_codes_leave_the_apps_alone() {
    let (fixture, app, codes) = Fixture::enrolled();
    let (browser, page) = fixture.at_second_step(&[]);
    let [_, (recovery, wrong)] = wrong_codes("");
    let page = use_up(&browser, page, recovery, wrong);
    assert_eq!(give(&browser, &page, RECOVERY, &codes[0]).status, 429);
    let callback = fixture.give_code(&browser, &page, &app);
    assert!(callback.params().contains_key("code"), "{callback:?}");
}
