//! Ways around the second factor.

use std::time::Duration;

use testserver::PASSWORD;

use super::fixture::{FACTORS, Fixture, SESSION, TOTP, error_of, form_for, form_that, shown_secret};
use crate::harness::{Browser, Page};

fn ticket_of(page: &Page) -> String {
    let form = form_for(page, "totp");
    form.fields.into_iter().find(|(name, _)| name == "ticket").unwrap().1
}

/// Whether a page asks to sign in, or refuses.
fn opens_nothing(page: &Page) -> bool {
    let leads_to_sign_in = page.location().starts_with("/auth/core/login");
    (leads_to_sign_in || page.status == 400) && !page.location().contains("code=")
}

#[test]
fn ticket_of_the_second_step_opens_nothing_else() {
    let (fixture, ..) = Fixture::enrolled();
    let (browser, page) = fixture.at_second_step(&[]);
    let ticket = ticket_of(&page);
    let tenant = fixture.tenant.id.as_str();
    let fields = [("ticket", ticket.as_str()), ("tenant", tenant), ("decision", "allow")];
    let posted = browser.post("/auth/core/tenant", &fields);
    assert!(opens_nothing(&posted), "{posted:?}");
    for path in ["/auth/core/tenant", FACTORS, TOTP, "/auth/core/account", "/auth/core/permissions"] {
        let page = browser.get(&format!("{path}?ticket={ticket}"));
        assert!(opens_nothing(&page), "{path}: {page:?}");
    }
    let again = browser.get(&fixture.request(&[]));
    assert!(opens_nothing(&again), "{again:?}");
    assert_eq!(error_of(&browser.get(&fixture.request(&[("prompt", "none")]))), "login_required");
    let removed = browser.post(FACTORS, &[("ticket", &ticket), ("do", "remove"), ("factor", "x")]);
    assert!(opens_nothing(&removed), "{removed:?}");
    assert_eq!(browser.cookie(SESSION), None);
}

#[test]
fn ticket_of_another_browser_is_refused() {
    let (fixture, app, _) = Fixture::enrolled();
    let (_, page) = fixture.at_second_step(&[]);
    let thief = fixture.browser();
    thief.get("/auth/core/login");
    let refused = thief.submit(&form_for(&page, "totp"), &[("code", &fixture.code(&app))]);
    assert!(opens_nothing(&refused), "{refused:?}");
    assert_eq!(thief.cookie(SESSION), None);
    let shown = thief.get(&format!("/auth/core/second-factor?ticket={}", ticket_of(&page)));
    assert!(opens_nothing(&thief.follow_redirects(shown)) || thief.cookie(SESSION).is_none());
}

#[test]
fn ticket_without_a_password_gives_no_session() {
    let (fixture, app, codes) = Fixture::enrolled();
    let browser = fixture.browser();
    let login = browser.follow_redirects(browser.get(&fixture.request(&[])));
    let ticket = login.form("post").fields.into_iter().find(|(name, _)| name == "ticket").unwrap().1;
    let code = fixture.code(&app);
    for fields in [
        vec![("ticket", ticket.as_str()), ("method", "totp"), ("code", &code)],
        vec![("ticket", ticket.as_str()), ("method", "recovery"), ("recovery_code", &codes[0])],
        vec![("ticket", ticket.as_str()), ("method", "passkey"), ("passkey", "{}")],
    ] {
        let page = browser.post("/auth/core/second-factor", &fields);
        assert!(opens_nothing(&page), "{page:?}");
        assert_eq!(browser.cookie(SESSION), None);
    }
}

#[test]
fn someone_elses_code_and_session_do_not_help() {
    let (fixture, ..) = Fixture::enrolled();
    let mallory = Fixture { user: fixture.server.add_user(&[&fixture.tenant]), ..fixture };
    let (app, codes) = mallory.enrol(&mallory.signed_in());
    let fixture = Fixture { user: other_user(&mallory), ..mallory };
    let browser = fixture.browser();
    let login = browser.get("/auth/core/login");
    let page = browser.follow_redirects(fixture.enter_password(&browser, &login));
    for (method, field, value) in
        [("totp", "code", fixture.code(&app)), ("recovery", "recovery_code", codes[0].clone())]
    {
        let refused = browser.submit(&form_for(&page, method), &[(field, &value)]);
        assert_eq!((refused.status, browser.cookie(SESSION)), (400, None), "{refused:?}");
    }
}

/// Another enrolled user.
fn other_user(fixture: &Fixture) -> testserver::TestUser {
    let user = fixture.server.add_user(&[&fixture.tenant]);
    let browser: Browser = fixture.browser();
    let login = browser.get("/auth/core/login");
    let fields = [("username", user.email.as_str()), ("password", PASSWORD)];
    browser.submit(&login.form("post"), &fields);
    fixture.enrol(&browser);
    user
}

/// A developer's step is nothing among the users, also with the same browser id.
#[test]
fn step_of_one_realm_is_nothing_in_another() {
    let (fixture, app, _) = Fixture::enrolled();
    let (browser, page) = fixture.at_second_step(&[]);
    let form = form_for(&page, "totp");
    let other = Browser::new(fixture.server.base_url());
    other.get("/portal/login");
    other.set_cookie("aldaba-developer-browser", &browser.cookie("aldaba-browser").unwrap());
    let ticket = ticket_of(&page);
    let code = fixture.code(&app);
    let fields = [("ticket", ticket.as_str()), ("method", "totp"), ("code", &code)];
    let refused = other.post("/portal/second-factor", &fields);
    assert_eq!((refused.status, other.cookie("aldaba-developer-session")), (400, None), "{refused:?}");
    assert_eq!(other.get(&format!("/portal/second-factor?ticket={ticket}")).status, 400);
    let accepted = browser.submit(&form, &[("code", &code)]);
    assert_eq!(accepted.status, 302, "the code was not used: {accepted:?}");
}

/// Over a host name, the sign-in page offers passkeys; a response that proves nothing is counted like a wrong password.
#[test]
fn refused_passkey_is_audited() {
    let fixture = Fixture::new();
    let origin = fixture.server.base_url().replace("127.0.0.1", "localhost");
    let browser = Browser::new(&origin);
    let login = browser.get("/auth/core/login");
    let policy = login.header("content-security-policy");
    assert!(policy.contains("script-src 'self';"), "{policy}");
    let form = login.forms().into_iter().find(|form| form.action.contains("/login/passkey")).unwrap();
    let without_script = browser.submit(&form, &[]);
    assert_eq!(without_script.status, 400);
    assert!(without_script.text().contains("JavaScript"), "{}", without_script.text());
    assert_eq!(failures(&fixture), 0, "no script, no attempt");
    let refused = browser.submit(&form, &[("passkey", "{}")]);
    assert_eq!((refused.status, browser.cookie(SESSION)), (400, None), "{refused:?}");
    assert_eq!(failures(&fixture), 1);
}

fn failures(fixture: &Fixture) -> usize {
    let path = "/operator/v1/audit?kind=sign_in_failed&pageSize=1000";
    let entries = fixture.server.operator_get(path).expect_status(200).json();
    entries["records"].as_array().unwrap().len()
}

#[test]
fn concurrent_enrolments_add_one_app_and_one_set_of_codes() {
    let fixture = Fixture::new();
    let browser = fixture.signed_in();
    let page = browser.follow_redirects(browser.get(TOTP));
    let (code, form) = (fixture.code(&shown_secret(&page)), page.form("post"));
    let cookies = ["aldaba-session", "aldaba-browser"].map(|name| (name, browser.cookie(name).unwrap()));
    let origin = fixture.server.base_url().to_owned();
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let attempts: Vec<_> = (0..6)
            .map(|_| {
                let (form, code, cookies, origin) = (&form, &code, &cookies, &origin);
                scope.spawn(move || {
                    let browser = Browser::new(origin);
                    for (name, value) in cookies {
                        browser.set_cookie(name, value);
                    }
                    browser.submit(form, &[("code", code), ("name", "Móvil")]).status
                })
            })
            .collect();
        attempts.into_iter().map(|attempt| attempt.join().unwrap()).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert_eq!(
        (fixture.audit_count("second_factor_added"), fixture.audit_count("recovery_codes_made")),
        (1, 1)
    );
}

#[test]
fn parallel_guesses_of_one_code_accept_it_once() {
    let (fixture, app, _) = Fixture::enrolled();
    let steps: Vec<(Browser, Page)> = (0..4).map(|_| fixture.at_second_step(&[])).collect();
    let code = fixture.code(&app);
    let accepted = steps.iter().filter(|(browser, page)| {
        browser.submit(&form_for(page, "totp"), &[("code", &code)]);
        browser.cookie(SESSION).is_some()
    });
    assert_eq!(accepted.count(), 1);
}

/// Who has the password and an old session, but no factor, must not get rid of the factors.
#[test]
fn changed_password_is_no_fresh_second_factor() {
    let (fixture, app, _) = Fixture::enrolled();
    let (browser, page) = fixture.at_second_step(&[]);
    fixture.give_code(&browser, &page, &app);
    fixture.clock.advance(Duration::from_secs(601));
    let account = browser.get("/auth/core/account");
    let forms = account.forms().into_iter();
    let form = forms.into_iter().find(|form| form.fields.iter().any(|(name, _)| name == "new_password"));
    let new = "otras palabras muy distintas";
    let filled =
        [("password", PASSWORD), ("new_password", new), ("repeated_password", new), ("do", "password")];
    let changed = browser.submit(&form.unwrap(), &filled);
    assert!(changed.location().contains("done=password"), "{changed:?}");
    let list = browser.get(FACTORS);
    let refused = browser.submit(&form_that(&list, "remove"), &[("do", "remove")]);
    assert!(refused.location().starts_with("/auth/core/second-factor?"), "{refused:?}");
    assert_eq!(fixture.audit_count("second_factor_removed"), 0);
}

#[test]
fn code_alone_is_no_new_sign_in() {
    let (fixture, app, _) = Fixture::enrolled();
    let (browser, page) = fixture.at_second_step(&[]);
    fixture.give_code(&browser, &page, &app);
    fixture.clock.advance(Duration::from_secs(90));
    let login = browser.follow_redirects(browser.get(&fixture.request(&[("prompt", "login")])));
    let form = login.form("post");
    let (_, ticket) = form.fields.iter().find(|(name, _)| name == "ticket").unwrap();
    let fields = [("ticket", ticket.as_str()), ("method", "totp"), ("code", &fixture.code(&app))];
    let page = browser.post("/auth/core/second-factor", &fields);
    assert!(page.location().starts_with("/auth/core/login?"), "{page:?}");
}

#[test]
fn signing_out_ends_a_session_that_can_only_enrol() {
    let fixture = Fixture::with(|builder| builder.set("identity.second_factor.users", "required"));
    let browser = fixture.signed_in();
    assert_eq!(browser.get(FACTORS).status, 200);
    let stolen = browser.cookie(SESSION).unwrap();
    browser.submit(&browser.get("/auth/core/logout").form("post"), &[]);
    browser.set_cookie(SESSION, &stolen);
    let page = browser.get(FACTORS);
    assert!(page.location().starts_with("/auth/core/login?"), "{page:?}");
}

#[test]
fn cookie_from_before_the_enrolment_is_worthless_after_it() {
    let fixture = Fixture::new();
    let browser = fixture.signed_in();
    let stolen = browser.cookie(SESSION).unwrap();
    fixture.enrol(&browser);
    assert_ne!(browser.cookie(SESSION).unwrap(), stolen);
    assert_eq!(browser.get("/auth/core/account").status, 200);
    browser.set_cookie(SESSION, &stolen);
    assert_eq!(browser.get("/auth/core/account").status, 302);
}
