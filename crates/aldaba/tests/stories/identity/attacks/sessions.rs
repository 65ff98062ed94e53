//! Attacks on sessions and their cookies: fixed beforehand, kept afterwards, tossed in from beside.

use super::office;
use crate::harness::{Browser, Call, Office, SESSION, Serve, Site};

const MARK: &str = "aldaba-browser";

fn is_signed_in(browser: &Browser) -> bool {
    let page = browser.get("/auth/core/permissions");
    assert!(page.status == 200 || page.location() == "/auth/core/login", "{page:?}");
    page.status == 200
}

/// Another browser that got hold of this session.
fn thief(office: &Office<'_>, session: &str) -> Browser {
    let browser = office.browser();
    browser.set_cookie(SESSION, session);
    browser
}

#[test]
fn session_fixation_the_id_before_is_not_the_id_after() {
    let office = office(1, &[]);
    let browser = thief(&office, "chosen-by-the-attacker");
    office.arrive(&browser, &office.ask());
    let after = browser.cookie(SESSION).unwrap();
    assert_ne!(after, "chosen-by-the-attacker");
    assert!(after.len() >= 32, "{after}");
    assert!(is_signed_in(&browser));
    assert!(!is_signed_in(&thief(&office, "chosen-by-the-attacker")));
    office.serve.is_well();
}

#[test]
fn session_fixation_the_attackers_own_session_does_not_become_the_victims() {
    let (attacker, victim) = (office(1, &[]), office(1, &[]));
    let planted = attacker.signed_in().cookie(SESSION).unwrap();
    let browser = thief(&victim, &planted);
    victim.arrive(&browser, &victim.ask().with("prompt", "login"));
    let page = browser.get("/auth/core/permissions");
    assert!(page.text().contains(&victim.email), "{}", page.text());
    assert_ne!(browser.cookie(SESSION).unwrap(), planted);
    assert!(!is_signed_in(&thief(&attacker, &planted)), "what the browser had before is over");
    victim.serve.is_well();
}

#[test]
fn an_old_session_is_dead_after_a_new_sign_in_and_after_sign_out() {
    let office = office(1, &[]);
    let browser = office.signed_in();
    let first = browser.cookie(SESSION).unwrap();
    office.arrive(&browser, &office.ask().with("prompt", "login"));
    let second = browser.cookie(SESSION).unwrap();
    assert_ne!(first, second);
    assert!(!is_signed_in(&thief(&office, &first)));
    assert!(is_signed_in(&thief(&office, &second)));
    browser.submit(&browser.get("/auth/core/logout").form("post"), &[]);
    assert_eq!(browser.cookie(SESSION), None);
    assert!(!is_signed_in(&thief(&office, &second)), "the server has forgotten it, too");
    office.serve.is_well();
}

#[test]
fn a_new_password_and_a_disabled_user_end_every_session() {
    let office = office(1, &[]);
    let browser = office.signed_in();
    let password = office.serve.site.program(&["user", "password", &office.email]);
    password.input("otra contraseña larga\n").run().code(0);
    assert!(!is_signed_in(&browser));
    let other = self::office(1, &[]);
    let browser = other.signed_in();
    other.command(&["user", "disable", &other.email]);
    assert!(!is_signed_in(&browser));
    let page = browser.get(&other.ask().with("prompt", "none").path());
    assert_eq!(page.params()["error"], "login_required");
    office.serve.is_well();
}

#[test]
fn no_two_browsers_get_the_same_cookies_and_none_can_be_read_by_scripts() {
    let office = office(1, &[]);
    let mut seen = Vec::new();
    for _ in 0..3 {
        let browser = office.browser();
        let first = browser.get(&office.ask().path());
        let line = first.header("set-cookie");
        assert!(line.starts_with(MARK) && line.contains("HttpOnly") && line.contains("SameSite=Lax"), "{line}");
        seen.push(browser.cookie(MARK).unwrap());
        let form = browser.settle(first).form("post");
        let entered = browser.submit(&form, &[("username", &office.email), ("password", crate::harness::PASSWORD)]);
        let line = entered.header("set-cookie");
        assert!(line.starts_with(SESSION) && line.contains("HttpOnly") && line.contains("SameSite=Lax"), "{line}");
        seen.push(browser.cookie(SESSION).unwrap());
    }
    let count = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), count, "{seen:?}");
    office.serve.is_well();
}

#[test]
fn cookie_tossing_on_https_no_neighbour_can_set_ours() {
    let serve = Serve::start(Site::new(), &["--set", "server.auth_url=https://id.example"]);
    let office = Office::on(&serve, 1, &[]);
    let browser = office.browser();
    let page = browser.get(&office.ask().path());
    let line = page.header("set-cookie").to_owned();
    assert!(line.starts_with("__Host-aldaba-browser="), "{line}");
    for attribute in ["; Path=/", "; HttpOnly", "; SameSite=Lax", "; Secure"] {
        assert!(line.contains(attribute), "{line}");
    }
    assert!(!line.contains("Domain"), "{line}");
    assert!(page.header("strict-transport-security").contains("max-age=31536000"), "{page:?}");
    office.arrive(&browser, &office.ask());
    let session = browser.cookie("__Host-aldaba-session").unwrap();
    assert!(is_signed_in(&browser));
    assert!(!is_signed_in(&thief(&office, &session)), "the name that anybody could set is not read");
    serve.is_well();
}

#[test]
fn cookie_tossing_two_of_a_name_are_never_mixed() {
    let (attacker, victim) = (office(1, &[]), office(1, &[]));
    let [theirs, ours] = [&attacker, &victim].map(|office| office.signed_in().cookie(SESSION).unwrap());
    let url = format!("{}/auth/core/permissions", victim.serve.public_url);
    for cookies in [
        format!("{SESSION}={theirs}; {SESSION}={ours}"),
        format!("{SESSION}={ours}; {SESSION}={theirs}"),
        format!("{SESSION}={theirs},{SESSION}={ours}"),
        format!("{SESSION}=; {SESSION}={ours}"),
        format!("{SESSION}=\"{ours}\""),
        format!("x={SESSION}={ours}"),
        format!("{SESSION}{ours}"),
        format!("{SESSION} ={ours}"),
        ";;;=;=".to_owned(),
    ] {
        let reply = Call::get(&url).header("cookie", &cookies).send();
        assert!([200, 302].contains(&reply.status), "{cookies}: {reply:?}");
        let shows = |office: &Office<'_>| reply.text().contains(&office.email);
        assert!(!(shows(&attacker) && shows(&victim)), "{cookies}");
    }
    victim.serve.is_well();
}

#[test]
fn oversized_and_odd_cookies_are_nobodys() {
    let office = office(1, &[]);
    let session = office.signed_in().cookie(SESSION).unwrap();
    let long = format!("{session}{}", "x".repeat(8_000));
    for odd in [long.as_str(), &session[1..], &session.to_lowercase(), "' OR 1=1 --", "../../etc/passwd", "%00"] {
        assert!(!is_signed_in(&thief(&office, odd)), "{odd}");
    }
    let browser = office.browser();
    browser.set_cookie(MARK, &"m".repeat(8_000));
    let page = office.arrive(&browser, &office.ask());
    assert!(page.has_code(), "a mark that cannot be one is replaced: {page:?}");
    assert!(browser.cookie(MARK).unwrap().len() <= 128);
    office.serve.is_well();
}
