//! Attacks on sessions and cookies: fixation, reuse after the end, and cookie tossing.

use super::attack_fixture;
use crate::harness::{
    BEHIND_PROXY, Browser, EmbeddedServer, HttpRequest, Installation, PASSWORD, SESSION, SignInFixture,
};

const MARK: &str = "aldaba-browser";

fn is_signed_in(browser: &Browser) -> bool {
    let page = browser.get("/auth/core/permissions");
    assert!(page.status == 200 || page.location() == "/auth/core/login", "{page:?}");
    page.status == 200
}

/// Another browser with a stolen session id.
fn thief(fixture: &SignInFixture<'_>, session: &str) -> Browser {
    let browser = fixture.browser();
    browser.set_cookie(SESSION, session);
    browser
}

#[test]
fn session_fixation_sign_in_changes_the_session_id() {
    let fixture = attack_fixture(1, &[]);
    let browser = thief(&fixture, "chosen-by-the-attacker");
    fixture.authorize(&browser, &fixture.authorization_request());
    let after = browser.cookie(SESSION).unwrap();
    assert_ne!(after, "chosen-by-the-attacker");
    assert!(after.len() >= 32, "{after}");
    assert!(is_signed_in(&browser));
    assert!(!is_signed_in(&thief(&fixture, "chosen-by-the-attacker")));
    fixture.server.assert_healthy();
}

#[test]
fn session_fixation_with_the_attackers_session_is_ineffective() {
    let (attacker, victim) = (attack_fixture(1, &[]), attack_fixture(1, &[]));
    let planted = attacker.signed_in_browser().cookie(SESSION).unwrap();
    let browser = thief(&victim, &planted);
    victim.authorize(&browser, &victim.authorization_request().with("prompt", "login"));
    let page = browser.get("/auth/core/permissions");
    assert!(page.text().contains(&victim.email), "{}", page.text());
    assert_ne!(browser.cookie(SESSION).unwrap(), planted);
    assert!(!is_signed_in(&thief(&attacker, &planted)), "the browser's previous session has ended");
    victim.server.assert_healthy();
}

#[test]
fn old_session_is_refused_after_a_new_sign_in_and_after_sign_out() {
    let fixture = attack_fixture(1, &[]);
    let browser = fixture.signed_in_browser();
    let first = browser.cookie(SESSION).unwrap();
    fixture.authorize(&browser, &fixture.authorization_request().with("prompt", "login"));
    let second = browser.cookie(SESSION).unwrap();
    assert_ne!(first, second);
    assert!(!is_signed_in(&thief(&fixture, &first)));
    assert!(is_signed_in(&thief(&fixture, &second)));
    browser.submit(&browser.get("/auth/core/logout").form("post"), &[]);
    assert_eq!(browser.cookie(SESSION), None);
    assert!(!is_signed_in(&thief(&fixture, &second)), "the server has deleted the session, too");
    fixture.server.assert_healthy();
}

#[test]
fn new_password_and_disabling_end_every_session() {
    let fixture = attack_fixture(1, &[]);
    let browser = fixture.signed_in_browser();
    let password = fixture.server.installation.program(&["user", "password", &fixture.email]);
    password.input("otra contraseña larga\n").run().code(0);
    assert!(!is_signed_in(&browser));
    let other = attack_fixture(1, &[]);
    let browser = other.signed_in_browser();
    other.command(&["user", "disable", &other.email]);
    assert!(!is_signed_in(&browser));
    let page = browser.get(&other.authorization_request().with("prompt", "none").path());
    assert_eq!(page.params()["error"], "login_required");
    fixture.server.assert_healthy();
}

#[test]
fn cookies_are_unique_and_http_only() {
    let fixture = attack_fixture(1, &[]);
    let mut cookies_so_far = Vec::new();
    for _ in 0..3 {
        let browser = fixture.browser();
        let first = browser.get(&fixture.authorization_request().path());
        let form = browser.follow_redirects(browser.get(first.location())).form("post");
        let entered = browser.submit(&form, &[("username", fixture.email.as_str()), ("password", PASSWORD)]);
        for line in first.headers.get_all("set-cookie").iter().chain(entered.headers.get_all("set-cookie")) {
            let line = line.to_str().unwrap();
            let (cookie, attributes) = line.split_once(';').unwrap();
            assert!(attributes.contains("HttpOnly") && attributes.contains("SameSite=Lax"), "{line}");
            assert!(!attributes.contains("Domain"), "{line}");
            cookies_so_far.push(cookie.to_owned());
        }
        assert!(browser.cookie(SESSION).is_some() && browser.cookie(MARK).is_some());
    }
    let count = cookies_so_far.len();
    cookies_so_far.sort_unstable();
    cookies_so_far.dedup();
    assert_eq!(cookies_so_far.len(), count, "{cookies_so_far:?}");
    fixture.server.assert_healthy();
}

#[test]
fn planted_browser_cookie_is_replaced_at_sign_in() {
    let fixture = attack_fixture(2, &[]);
    let attackers = fixture.browser();
    let planted = attackers.follow_redirects(attackers.get(&fixture.authorization_request().path()));
    let mark = attackers.cookie(MARK).unwrap();
    let victims = fixture.browser();
    victims.set_cookie(MARK, &mark);
    fixture.tenant_page(&victims, &fixture.authorization_request());
    assert_ne!(victims.cookie(MARK).unwrap(), mark);
    let fields = [("ticket", planted.value("ticket")), ("tenant", fixture.tenants[0].clone())];
    let mut fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    fields.push(("decision", "allow"));
    let page = victims.follow_redirects(victims.post("/auth/core/tenant", &fields));
    assert!(!page.has_code(), "a ticket bound to the cookie that the attacker planted: {page:?}");
    fixture.server.assert_healthy();
}

#[test]
fn cookie_tossing_is_prevented_by_the_host_prefix_on_https() {
    let server =
        EmbeddedServer::start(Installation::new(), &["server.auth_url=https://id.example", BEHIND_PROXY]);
    let fixture = SignInFixture::on(&server, 1, &[]);
    let browser = fixture.browser();
    let page = browser.get(&fixture.authorization_request().path());
    let line = page.header("set-cookie").to_owned();
    assert!(line.starts_with("__Host-aldaba-browser="), "{line}");
    for attribute in ["; Path=/", "; HttpOnly", "; SameSite=Lax", "; Secure"] {
        assert!(line.contains(attribute), "{line}");
    }
    assert!(!line.contains("Domain"), "{line}");
    assert!(page.header("strict-transport-security").contains("max-age=31536000"), "{page:?}");
    fixture.authorize(&browser, &fixture.authorization_request());
    let session = browser.cookie("__Host-aldaba-session").unwrap();
    assert!(is_signed_in(&browser));
    assert!(!is_signed_in(&thief(&fixture, &session)), "the cookie without the prefix is ignored");
    server.assert_healthy();
}

#[test]
fn cookie_tossing_of_two_different_values_ignores_both() {
    let (attacker, victim) = (attack_fixture(1, &[]), attack_fixture(1, &[]));
    let [attackers_id, victims_id] =
        [&attacker, &victim].map(|fixture| fixture.signed_in_browser().cookie(SESSION).unwrap());
    let url = format!("{}/auth/core/permissions", victim.server.public_url);
    let with = |cookies: &str| HttpRequest::get(&url).header("cookie", cookies).send();
    for cookies in [
        format!("{SESSION}={attackers_id}; {SESSION}={victims_id}"),
        format!("{SESSION}={victims_id}; {SESSION}={attackers_id}"),
        format!("{SESSION}={victims_id}; x=y; {SESSION}={attackers_id}"),
        format!("{SESSION}={attackers_id},{SESSION}={victims_id}"),
        format!("{SESSION}=; {SESSION}={victims_id}"),
        format!("{SESSION}=\"{victims_id}\""),
        format!("x={SESSION}={victims_id}"),
        format!("{SESSION}{victims_id}"),
        ";;;=;=".to_owned(),
    ] {
        let response = with(&cookies);
        assert_eq!((response.status, response.header("location")), (302, "/auth/core/login"), "{cookies}");
    }
    let twice = with(&format!("{SESSION}={victims_id}; {SESSION}={victims_id}"));
    assert!(twice.text().contains(&victim.email), "the same value twice is accepted");
    victim.server.assert_healthy();
}

#[test]
fn oversized_and_invalid_cookies_are_ignored() {
    let fixture = attack_fixture(1, &[]);
    let session = fixture.signed_in_browser().cookie(SESSION).unwrap();
    let long = format!("{session}{}", "x".repeat(8_000));
    for invalid in
        [long.as_str(), &session[1..], &session.to_lowercase(), "' OR 1=1 --", "../../etc/passwd", "%00"]
    {
        assert!(!is_signed_in(&thief(&fixture, invalid)), "{invalid}");
    }
    let browser = fixture.browser();
    browser.set_cookie(MARK, &"m".repeat(8_000));
    let page = fixture.authorize(&browser, &fixture.authorization_request());
    assert!(page.has_code(), "an invalid browser cookie is replaced: {page:?}");
    assert!(browser.cookie(MARK).unwrap().len() <= 128);
    fixture.server.assert_healthy();
}
