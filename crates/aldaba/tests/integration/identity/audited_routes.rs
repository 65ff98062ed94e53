//! Every route of the identity provider that changes something leaves an audit entry.

use std::cell::RefCell;

use crate::harness::{PASSWORD, SignInFixture, Tokens};

/// Routes that take a POST and change nothing, and why.
const UNAUDITED: [(&str, &str); 2] = [("/connect/introspect", "reads"), ("/connect/userinfo", "reads")];

/// Routes that need an authenticator, and the test that finds their entries.
const AUDITED_ELSEWHERE: [(&str, &str); 5] = [
    ("/login/passkey", "the browser tour, and second_factor::attacks::refused_passkey_is_audited"),
    ("/second-factor", "second_factor::sign_in::wrong_old_and_used_codes_are_refused"),
    ("/account/second-factors", "second_factor::enrolment::factors_are_named_and_removed"),
    (
        "/account/second-factors/totp",
        "second_factor::enrolment::enrolment_ends_other_sessions_and_mails_the_person",
    ),
    ("/account/second-factors/passkey", "the browser tour"),
];
/// Routes that need a mail server: the tests of `account_links` find their entries.
const WITH_MAIL: [&str; 4] = ["/invitation", "/forgot", "/register", "/reset"];

/// Performs requests and finds their entries by the user, whom no other test uses.
struct Audited<'a> {
    fixture: &'a SignInFixture<'a>,
    routes: RefCell<Vec<&'static str>>,
}

impl Audited<'_> {
    fn kinds(&self) -> Vec<String> {
        let records = self.fixture.audit(&format!("user={}&pageSize=1000", self.fixture.email));
        records.iter().map(|record| record["kind"].as_str().unwrap().to_owned()).collect()
    }

    #[track_caller]
    fn check<T>(&self, route: &'static str, kind: &str, action: impl FnOnce() -> T) -> T {
        let before = self.kinds().len();
        let done = action();
        let all = self.kinds();
        let new = &all[..all.len() - before];
        assert!(new.iter().any(|one| one == kind), "{route} left {new:?}, not {kind}");
        self.routes.borrow_mut().push(route);
        done
    }
}

#[test]
fn every_mutating_route_leaves_an_audit_entry() {
    let fixture = SignInFixture::with_tenants(2);
    let audited = Audited { fixture: &fixture, routes: RefCell::default() };
    let (browser, request) = (fixture.browser(), fixture.authorization_request());
    let form = browser.start_authorization(&request).form("post");
    let page = audited.check("/login", "signed_in", || {
        browser.follow_redirects(fixture.try_password(&browser, &form, PASSWORD))
    });
    let chosen = [("tenant", fixture.tenants[0].as_str()), ("decision", "allow")];
    let done = audited.check("/tenant", "code_issued", || {
        browser.follow_redirects(browser.submit(&page.form("post"), &chosen))
    });
    let code = done.params().remove("code").unwrap();
    let tokens =
        audited.check("/connect/token", "granted", || Tokens::from_response(&fixture.exchange(&code)));
    audited.check("/connect/revocation", "revoked", || fixture.revoke(tokens.refresh()));
    let code = fixture.code_in_browser(&browser, &request);
    let tokens = Tokens::from_response(&fixture.exchange(&code));
    audited.check("/permissions", "revoked", || {
        browser.submit(&browser.get("/auth/core/permissions").form("post"), &[])
    });
    audited.check("/account", "user_changed", || {
        let form = browser.get("/auth/core/account").form("post");
        browser.submit(&form, &[("given_name", "Otra"), ("do", "profile")])
    });
    let hint = [("id_token_hint", tokens.id())];
    audited.check("/connect/endsession", "signed_out", || {
        browser.follow_redirects(browser.post("/auth/core/connect/endsession", &hint))
    });
    // A POST starts the same flow as a GET.
    audited.check("/connect/authorize", "code_issued", || {
        let page = browser.follow_redirects(browser.post("/auth/core/connect/authorize", &request.fields()));
        let page = browser.follow_redirects(fixture.try_password(&browser, &page.form("post"), PASSWORD));
        browser.follow_redirects(browser.submit(&page.form("post"), &chosen))
    });
    audited.check("/logout", "signed_out", || {
        browser.submit(&browser.get("/auth/core/logout").form("post"), &[])
    });

    let audited = audited.routes.into_inner();
    let all = identity::post_routes();
    let is_listed = |route: &&&str| {
        let not_here = || UNAUDITED.iter().chain(&AUDITED_ELSEWHERE);
        audited.contains(route)
            || WITH_MAIL.contains(*route)
            || not_here().any(|(other, _)| *other == **route)
    };
    let missing: Vec<&&str> = all.iter().filter(|route| !is_listed(route)).collect();
    assert!(missing.is_empty(), "these routes are not in this test: {missing:?}");
    println!(
        "{} of {} POST routes change something, and each leaves an audit entry",
        audited.len(),
        all.len()
    );
}
