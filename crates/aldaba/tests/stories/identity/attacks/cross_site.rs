//! Attacks from another site: what a victim's browser is made to send must not sign anybody in or out, choose,
//! consent or revoke.

use super::office;
use crate::harness::{Browser, Office, PASSWORD, SESSION, Tokens, encoded};

const TENANT: &str = "/auth/core/tenant";
const PERMISSIONS: &str = "/auth/core/permissions";
const LOGOUT: &str = "/auth/core/logout";

fn sign_in_ticket(office: &Office<'_>, browser: &Browser) -> String {
    browser.settle(browser.get(&office.ask().with("prompt", "login").path())).value("ticket")
}

fn sign_out_ticket(browser: &Browser) -> String {
    browser.get(LOGOUT).value("ticket")
}

/// The ticket on the page with the permissions; there must be one of them.
fn permissions_ticket(browser: &Browser) -> String {
    browser.get(PERMISSIONS).value("ticket")
}

fn is_signed_in(browser: &Browser) -> bool {
    browser.get(PERMISSIONS).status == 200
}

#[test]
fn login_csrf_another_browsers_ticket_signs_nobody_in() {
    let office = office(1, &[]);
    let attackers = sign_in_ticket(&office, &office.browser());
    let victims = office.browser();
    sign_in_ticket(&office, &victims);
    for browser in [&victims, &office.browser()] {
        for ticket in [attackers.as_str(), "", "x"] {
            let fields = [("ticket", ticket), ("username", office.email.as_str()), ("password", PASSWORD)];
            let page = browser.post("/auth/core/login", &fields);
            page.is_refusal();
            assert_eq!(browser.cookie(SESSION), None, "{ticket:?}");
        }
        assert!(!is_signed_in(browser));
    }
    let untold = [("username", office.email.as_str()), ("password", PASSWORD)];
    victims.post("/auth/core/login", &untold).is_refusal();
    assert!(!is_signed_in(&victims));
    office.serve.is_well();
}

#[test]
fn login_csrf_a_foreign_form_carries_no_cookie_and_signs_nobody_in() {
    let office = office(1, &[]);
    let attackers = office.browser();
    let ticket = sign_in_ticket(&office, &attackers);
    let fields = [("ticket", ticket.as_str()), ("username", &office.email), ("password", PASSWORD)];
    let reply = office.form_call("login", &fields);
    assert_eq!(reply.status, 400);
    for line in reply.headers.get_all("set-cookie") {
        assert!(!line.to_str().unwrap().contains(SESSION), "{reply:?}");
    }
    office.serve.is_well();
}

#[test]
fn tenant_choice_csrf_nobody_chooses_for_another() {
    let (victim, attacker) = (office(2, &[]), office(2, &[]));
    let attacker = Office { app: victim.app.clone(), ..attacker };
    let (browser, attackers) = (victim.browser(), attacker.browser());
    victim.tenant_page(&browser, &victim.ask());
    let foreign = attacker.tenant_page(&attackers, &attacker.ask()).value("ticket");
    victim.tokens();
    let [signing_out, permissions] = [sign_out_ticket(&browser), permissions_ticket(&browser)];
    for ticket in [foreign.as_str(), "", "x", &signing_out, &permissions] {
        for tenant in &victim.tenants {
            let fields = [("ticket", ticket), ("tenant", tenant), ("decision", "allow")];
            let page = browser.settle(browser.post(TENANT, &fields));
            assert!(!page.has_code(), "{ticket}: {page:?}");
            let page = browser.settle(browser.get(&format!("{TENANT}?{}", encoded(&fields))));
            assert!(!page.has_code(), "{ticket}: {page:?}");
        }
    }
    let page = browser.post(TENANT, &[("tenant", &victim.tenants[0]), ("decision", "allow")]);
    page.is_refusal();
    victim.serve.is_well();
}

#[test]
fn consent_csrf_nobody_consents_for_another() {
    let victim = office(1, &["--consent"]);
    let attacker = Office { app: victim.app.clone(), ..office(1, &[]) };
    let (browser, attackers) = (victim.browser(), attacker.browser());
    let asked = victim.enter(&browser, &browser.settle(browser.get(&victim.ask().path())));
    assert!(asked.has_field("tenant"), "{asked:?}");
    let foreign = attacker.enter(&attackers, &attackers.settle(attackers.get(&attacker.ask().path())));
    let (own, foreign) = (sign_out_ticket(&browser), foreign.value("ticket"));
    for ticket in [foreign.as_str(), &own, "", "x"] {
        for decision in ["allow", "deny"] {
            let fields = [("ticket", ticket), ("tenant", &victim.tenants[0]), ("decision", decision)];
            let page = browser.settle(browser.post(TENANT, &fields));
            assert!(!page.has_code() && !page.location().contains("error="), "{ticket}: {page:?}");
        }
    }
    let silent = browser.get(&victim.ask().with("prompt", "none").path());
    assert_eq!(silent.params()["error"], "consent_required", "nothing has been consented to");
    let chosen = [("tenant", victim.tenants[0].as_str()), ("decision", "allow")];
    assert!(browser.submit(&asked.form("post"), &chosen).has_code(), "the person's own click counts");
    victim.serve.is_well();
}

#[test]
fn a_consent_that_was_not_given_is_not_taken_from_a_doubtful_answer() {
    let office = office(1, &["--consent"]);
    let browser = office.browser();
    let asked = office.enter(&browser, &browser.settle(browser.get(&office.ask().path())));
    let (ticket, tenant) = (asked.value("ticket"), office.tenants[0].as_str());
    let doubled =
        [("ticket", ticket.as_str()), ("tenant", tenant), ("decision", "deny"), ("decision", "allow")];
    assert!(!browser.post(TENANT, &doubled).has_code(), "both allowed and denied");
    for decision in ["", "maybe", "DENY"] {
        let fields = [("ticket", ticket.as_str()), ("tenant", tenant), ("decision", decision)];
        let page = browser.post(TENANT, &fields);
        assert!(!page.has_code(), "{decision:?} is no consent: {page:?}");
    }
    office.serve.is_well();
}

#[test]
fn revocation_csrf_nobody_revokes_for_another() {
    let (victim, attacker) = (office(1, &[]), office(1, &[]));
    let (tokens, theirs) = (victim.tokens(), attacker.tokens());
    let (browser, attackers) = (victim.signed_in(), attacker.signed_in());
    let [key, their_key] = [&browser, &attackers].map(|browser| browser.get(PERMISSIONS).value("access"));
    let foreign = permissions_ticket(&attackers);
    let others = [sign_in_ticket(&victim, &browser), sign_out_ticket(&browser)];
    for ticket in [foreign.as_str(), "", "x", &others[0], &others[1]] {
        let fields = [("ticket", ticket), ("access", key.as_str())];
        let page = browser.post(PERMISSIONS, &fields);
        assert!(!page.location().contains("revoked"), "{ticket}: {page:?}");
        browser.get(&format!("{PERMISSIONS}?{}", encoded(&fields)));
    }
    browser.post(PERMISSIONS, &[("access", &key)]);
    // With a good ticket of one's own, another's access.
    attackers.post(PERMISSIONS, &[("ticket", &foreign), ("access", &key)]);
    victim.form_call("permissions", &[("ticket", &permissions_ticket(&browser)), ("access", &key)]);
    assert_eq!(victim.userinfo(tokens.access()).status, 200);
    assert_eq!(attacker.userinfo(theirs.access()).status, 200);
    attackers.post(PERMISSIONS, &[("ticket", &foreign), ("access", &their_key)]);
    assert_eq!(attacker.userinfo(theirs.access()).status, 401, "one's own can be revoked");
    victim.serve.is_well();
}

#[test]
fn an_application_cannot_dodge_its_revocation_by_being_busy() {
    let office = office(1, &[]);
    let browser = office.signed_in();
    let [older, newer] =
        [(); 2].map(|()| Tokens::of(&office.exchange(&office.code_in(&browser, &office.ask()))));
    let page = browser.get(PERMISSIONS);
    // Between the page and the click, the application refreshes what it got first.
    let busy = Tokens::of(&office.refresh(older.refresh()));
    browser.submit(&page.form("post"), &[]);
    for token in [older.access(), newer.access(), busy.access()] {
        assert_eq!(office.userinfo(token).status, 401, "the person took it back");
    }
    office.serve.is_well();
}

#[test]
fn a_code_in_the_drawer_does_not_outlive_the_revocation() {
    let office = office(1, &[]);
    let browser = office.signed_in();
    office.exchange(&office.code_in(&browser, &office.ask()));
    let kept = office.code_in(&browser, &office.ask());
    let page = browser.get(PERMISSIONS);
    browser.submit(&page.form("post"), &[]);
    let late = office.exchange(&kept);
    assert_eq!(late.status, 400, "it was asked for before the person took all back: {late:?}");
    office.serve.is_well();
}

#[test]
fn logout_csrf_nobody_is_signed_out_unasked() {
    let (victim, attacker) = (office(1, &[]), office(1, &[]));
    let (browser, attackers) = (victim.signed_in(), attacker.signed_in());
    let their_id = attacker.tokens().id().to_owned();
    let foreign = sign_out_ticket(&attackers);
    let others = [sign_in_ticket(&victim, &browser), foreign.clone(), String::new(), "x".to_owned()];
    for ticket in &others {
        browser.get(&format!("{LOGOUT}?{}", encoded(&[("ticket", ticket)])));
        browser.post(LOGOUT, &[("ticket", ticket)]);
        assert!(is_signed_in(&browser), "{ticket}");
    }
    browser.post(LOGOUT, &[]);
    let hint = [("id_token_hint", their_id.as_str())];
    let named = [("client_id", victim.app.id.as_str())];
    for fields in [&[][..], &hint[..], &named[..]] {
        let asked =
            browser.settle(browser.get(&format!("/auth/core/connect/endsession?{}", encoded(fields))));
        assert!(asked.has_field("ticket"), "the person is asked: {asked:?}");
        browser.settle(browser.post("/auth/core/connect/endsession", fields));
        assert!(is_signed_in(&browser), "{fields:?}");
    }
    // Their own click, and an application that shows the person's own id_token.
    let own = victim.tokens();
    let hint = encoded(&[("id_token_hint", own.id())]);
    browser.get(&format!("/auth/core/connect/endsession?{hint}"));
    assert!(!is_signed_in(&browser));
    victim.serve.is_well();
}

#[test]
fn a_form_that_says_it_comes_from_another_site_is_not_read() {
    let office = office(1, &[]);
    let ticket = sign_in_ticket(&office, &office.browser());
    let tokens = office.tokens();
    for path in ["login", "logout", "tenant", "permissions"] {
        let fields = [("ticket", ticket.as_str()), ("username", &office.email), ("password", PASSWORD)];
        let call = office.call(path).header("content-type", "application/x-www-form-urlencoded");
        let reply = call.header("sec-fetch-site", "cross-site").body(encoded(&fields)).send();
        assert_eq!((reply.status, reply.header("location")), (403, ""), "{path}: {reply:?}");
        assert!(reply.headers.get("set-cookie").is_none(), "and takes no browser's mark away: {reply:?}");
    }
    assert_eq!(office.userinfo(tokens.access()).status, 200);
    office.serve.is_well();
}
