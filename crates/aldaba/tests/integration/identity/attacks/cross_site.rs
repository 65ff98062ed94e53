//! Cross-site request forgery: a request from another site must not sign in, sign out, choose, consent or revoke.

use super::attack_fixture;
use crate::harness::{Browser, PASSWORD, SESSION, SignInFixture, Tokens, encode_form};

const TENANT: &str = "/auth/core/tenant";
const PERMISSIONS: &str = "/auth/core/permissions";
const LOGOUT: &str = "/auth/core/logout";

fn sign_in_ticket(fixture: &SignInFixture<'_>, browser: &Browser) -> String {
    browser
        .follow_redirects(browser.get(&fixture.authorization_request().with("prompt", "login").path()))
        .value("ticket")
}

fn sign_out_ticket(browser: &Browser) -> String {
    browser.get(LOGOUT).value("ticket")
}

/// The ticket of the permissions page; every form has the same one.
fn permissions_ticket(browser: &Browser) -> String {
    browser.get(PERMISSIONS).value("ticket")
}

fn is_signed_in(browser: &Browser) -> bool {
    browser.get(PERMISSIONS).status == 200
}

#[test]
fn login_csrf_with_a_ticket_of_another_browser_is_refused() {
    let fixture = attack_fixture(1, &[]);
    let attackers = sign_in_ticket(&fixture, &fixture.browser());
    let victims = fixture.browser();
    sign_in_ticket(&fixture, &victims);
    for browser in [&victims, &fixture.browser()] {
        for ticket in [attackers.as_str(), "", "x"] {
            let fields = [("ticket", ticket), ("username", fixture.email.as_str()), ("password", PASSWORD)];
            let page = browser.post("/auth/core/login", &fields);
            page.assert_error_page();
            assert_eq!(browser.cookie(SESSION), None, "{ticket:?}");
        }
        assert!(!is_signed_in(browser));
    }
    let fields = [("username", fixture.email.as_str()), ("password", PASSWORD)];
    victims.post("/auth/core/login", &fields).assert_error_page();
    assert!(!is_signed_in(&victims));
    fixture.server.assert_healthy();
}

#[test]
fn login_csrf_without_a_cookie_is_refused() {
    let fixture = attack_fixture(1, &[]);
    let attackers = fixture.browser();
    let ticket = sign_in_ticket(&fixture, &attackers);
    let fields = [("ticket", ticket.as_str()), ("username", &fixture.email), ("password", PASSWORD)];
    let response = fixture.post_form("login", &fields);
    assert_eq!(response.status, 400);
    for line in response.headers.get_all("set-cookie") {
        assert!(!line.to_str().unwrap().contains(SESSION), "{response:?}");
    }
    fixture.server.assert_healthy();
}

#[test]
fn tenant_choice_csrf_is_refused() {
    let (victim, attacker) = (attack_fixture(2, &[]), attack_fixture(2, &[]));
    let attacker = SignInFixture { app: victim.app.clone(), ..attacker };
    let (browser, attackers) = (victim.browser(), attacker.browser());
    victim.tenant_page(&browser, &victim.authorization_request());
    let foreign = attacker.tenant_page(&attackers, &attacker.authorization_request()).value("ticket");
    victim.tokens();
    let [signing_out, permissions] = [sign_out_ticket(&browser), permissions_ticket(&browser)];
    for ticket in [foreign.as_str(), "", "x", &signing_out, &permissions] {
        for tenant in &victim.tenants {
            let fields = [("ticket", ticket), ("tenant", tenant), ("decision", "allow")];
            let page = browser.follow_redirects(browser.post(TENANT, &fields));
            assert!(!page.has_code(), "{ticket}: {page:?}");
            let page = browser.follow_redirects(browser.get(&format!("{TENANT}?{}", encode_form(&fields))));
            assert!(!page.has_code(), "{ticket}: {page:?}");
        }
    }
    let page = browser.post(TENANT, &[("tenant", &victim.tenants[0]), ("decision", "allow")]);
    page.assert_error_page();
    victim.server.assert_healthy();
}

#[test]
fn consent_csrf_is_refused() {
    let victim = attack_fixture(1, &["--consent"]);
    let attacker = SignInFixture { app: victim.app.clone(), ..attack_fixture(1, &[]) };
    let (browser, attackers) = (victim.browser(), attacker.browser());
    let asked_page = victim.submit_credentials(
        &browser,
        &browser.follow_redirects(browser.get(&victim.authorization_request().path())),
    );
    assert!(asked_page.has_field("tenant"), "{asked_page:?}");
    let foreign = attacker.submit_credentials(
        &attackers,
        &attackers.follow_redirects(attackers.get(&attacker.authorization_request().path())),
    );
    let (own, foreign) = (sign_out_ticket(&browser), foreign.value("ticket"));
    for ticket in [foreign.as_str(), &own, "", "x"] {
        for decision in ["allow", "deny"] {
            let fields = [("ticket", ticket), ("tenant", &victim.tenants[0]), ("decision", decision)];
            let page = browser.follow_redirects(browser.post(TENANT, &fields));
            assert!(!page.has_code() && !page.location().contains("error="), "{ticket}: {page:?}");
        }
    }
    let silent = browser.get(&victim.authorization_request().with("prompt", "none").path());
    assert_eq!(silent.params()["error"], "consent_required", "no consent was given");
    let chosen = [("tenant", victim.tenants[0].as_str()), ("decision", "allow")];
    assert!(browser.submit(&asked_page.form("post"), &chosen).has_code(), "the user's own click counts");
    victim.server.assert_healthy();
}

#[test]
fn ambiguous_consent_decision_is_not_consent() {
    let fixture = attack_fixture(1, &["--consent"]);
    let browser = fixture.browser();
    let asked_page = fixture.submit_credentials(
        &browser,
        &browser.follow_redirects(browser.get(&fixture.authorization_request().path())),
    );
    let (ticket, tenant) = (asked_page.value("ticket"), fixture.tenants[0].as_str());
    let doubled =
        [("ticket", ticket.as_str()), ("tenant", tenant), ("decision", "deny"), ("decision", "allow")];
    assert!(!browser.post(TENANT, &doubled).has_code(), "both allowed and denied");
    for decision in ["", "maybe", "DENY"] {
        let fields = [("ticket", ticket.as_str()), ("tenant", tenant), ("decision", decision)];
        let page = browser.post(TENANT, &fields);
        assert!(!page.has_code(), "{decision:?} is not consent: {page:?}");
    }
    fixture.server.assert_healthy();
}

#[test]
fn revocation_csrf_is_refused() {
    let (victim, attacker) = (attack_fixture(1, &[]), attack_fixture(1, &[]));
    let (tokens, attackers_tokens) = (victim.tokens(), attacker.tokens());
    let (browser, attackers) = (victim.signed_in_browser(), attacker.signed_in_browser());
    let [key, their_key] = [&browser, &attackers].map(|browser| browser.get(PERMISSIONS).value("access"));
    let foreign = permissions_ticket(&attackers);
    let others = [sign_in_ticket(&victim, &browser), sign_out_ticket(&browser)];
    for ticket in [foreign.as_str(), "", "x", &others[0], &others[1]] {
        let fields = [("ticket", ticket), ("access", key.as_str())];
        let page = browser.post(PERMISSIONS, &fields);
        assert!(!page.location().contains("revoked"), "{ticket}: {page:?}");
        browser.get(&format!("{PERMISSIONS}?{}", encode_form(&fields)));
    }
    browser.post(PERMISSIONS, &[("access", &key)]);
    // The attacker's own valid ticket with the victim's grant.
    attackers.post(PERMISSIONS, &[("ticket", &foreign), ("access", &key)]);
    victim.post_form("permissions", &[("ticket", &permissions_ticket(&browser)), ("access", &key)]);
    assert_eq!(victim.userinfo(tokens.access()).status, 200);
    assert_eq!(attacker.userinfo(attackers_tokens.access()).status, 200);
    attackers.post(PERMISSIONS, &[("ticket", &foreign), ("access", &their_key)]);
    assert_eq!(attacker.userinfo(attackers_tokens.access()).status, 401, "a user can revoke an own grant");
    victim.server.assert_healthy();
}

#[test]
fn client_cannot_evade_revocation_by_refreshing() {
    let fixture = attack_fixture(1, &[]);
    let browser = fixture.signed_in_browser();
    let [older, newer] = [(); 2].map(|()| {
        Tokens::from_response(
            &fixture.exchange(&fixture.code_in_browser(&browser, &fixture.authorization_request())),
        )
    });
    let page = browser.get(PERMISSIONS);
    // Between opening the page and the click, the client refreshes its oldest token.
    let busy = Tokens::from_response(&fixture.refresh(older.refresh()));
    browser.submit(&page.form("post"), &[]);
    for token in [older.access(), newer.access(), busy.access()] {
        assert_eq!(fixture.userinfo(token).status, 401, "the user revoked it");
    }
    fixture.server.assert_healthy();
}

#[test]
fn unused_code_is_refused_after_revocation() {
    let fixture = attack_fixture(1, &[]);
    let browser = fixture.signed_in_browser();
    fixture.exchange(&fixture.code_in_browser(&browser, &fixture.authorization_request()));
    let unused_code = fixture.code_in_browser(&browser, &fixture.authorization_request());
    let page = browser.get(PERMISSIONS);
    browser.submit(&page.form("post"), &[]);
    let late_response = fixture.exchange(&unused_code);
    assert_eq!(
        late_response.status, 400,
        "the code was issued before the user revoked all access: {late_response:?}"
    );
    fixture.server.assert_healthy();
}

#[test]
fn logout_csrf_asks_for_confirmation() {
    let (victim, attacker) = (attack_fixture(1, &[]), attack_fixture(1, &[]));
    let (browser, attackers) = (victim.signed_in_browser(), attacker.signed_in_browser());
    let their_id = attacker.tokens().id().to_owned();
    let foreign = sign_out_ticket(&attackers);
    let others = [sign_in_ticket(&victim, &browser), foreign.clone(), String::new(), "x".to_owned()];
    for ticket in &others {
        browser.get(&format!("{LOGOUT}?{}", encode_form(&[("ticket", ticket)])));
        browser.post(LOGOUT, &[("ticket", ticket)]);
        assert!(is_signed_in(&browser), "{ticket}");
    }
    browser.post(LOGOUT, &[]);
    let hint = [("id_token_hint", their_id.as_str())];
    let named = [("client_id", victim.app.id.as_str())];
    for fields in [&[][..], &hint[..], &named[..]] {
        let asked_page = browser
            .follow_redirects(browser.get(&format!("/auth/core/connect/endsession?{}", encode_form(fields))));
        assert!(asked_page.has_field("ticket"), "the user is asked: {asked_page:?}");
        browser.follow_redirects(browser.post("/auth/core/connect/endsession", fields));
        assert!(is_signed_in(&browser), "{fields:?}");
    }
    // The user's own click, and a client with the user's id_token.
    let own = victim.tokens();
    let hint = encode_form(&[("id_token_hint", own.id())]);
    browser.get(&format!("/auth/core/connect/endsession?{hint}"));
    assert!(!is_signed_in(&browser));
    victim.server.assert_healthy();
}

#[test]
fn cross_site_form_is_refused() {
    let fixture = attack_fixture(1, &[]);
    let ticket = sign_in_ticket(&fixture, &fixture.browser());
    let tokens = fixture.tokens();
    for path in ["login", "logout", "tenant", "permissions"] {
        let fields = [("ticket", ticket.as_str()), ("username", &fixture.email), ("password", PASSWORD)];
        let request = fixture.request(path).header("content-type", "application/x-www-form-urlencoded");
        let response = request.header("sec-fetch-site", "cross-site").body(encode_form(&fields)).send();
        assert_eq!((response.status, response.header("location")), (403, ""), "{path}: {response:?}");
        assert!(response.headers.get("set-cookie").is_none(), "and no cookie is cleared: {response:?}");
    }
    assert_eq!(fixture.userinfo(tokens.access()).status, 200);
    fixture.server.assert_healthy();
}
