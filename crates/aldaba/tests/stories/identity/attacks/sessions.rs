//! Attacks on sessions and their cookies: fixed beforehand, kept afterwards, tossed in from beside.

use super::office;
use crate::harness::{Browser, Call, Office, PASSWORD, SESSION, Serve, Site};

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
        let form = browser.settle(browser.get(first.location())).form("post");
        let entered = browser.submit(&form, &[("username", office.email.as_str()), ("password", PASSWORD)]);
        for line in first.headers.get_all("set-cookie").iter().chain(entered.headers.get_all("set-cookie")) {
            let line = line.to_str().unwrap();
            let (cookie, attributes) = line.split_once(';').unwrap();
            assert!(attributes.contains("HttpOnly") && attributes.contains("SameSite=Lax"), "{line}");
            assert!(!attributes.contains("Domain"), "{line}");
            seen.push(cookie.to_owned());
        }
        assert!(browser.cookie(SESSION).is_some() && browser.cookie(MARK).is_some());
    }
    let count = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), count, "{seen:?}");
    office.serve.is_well();
}

#[test]
fn a_mark_that_was_planted_before_is_worth_nothing_after_the_sign_in() {
    let office = office(2, &[]);
    let attackers = office.browser();
    let planted = attackers.settle(attackers.get(&office.ask().path()));
    let mark = attackers.cookie(MARK).unwrap();
    let victims = office.browser();
    victims.set_cookie(MARK, &mark);
    office.tenant_page(&victims, &office.ask());
    assert_ne!(victims.cookie(MARK).unwrap(), mark);
    let fields = [("ticket", planted.value("ticket")), ("tenant", office.tenants[0].clone())];
    let mut fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    fields.push(("decision", "allow"));
    let page = victims.settle(victims.post("/auth/core/tenant", &fields));
    assert!(!page.has_code(), "a ticket for the mark that the attacker knows: {page:?}");
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
fn cookie_tossing_of_two_that_differ_neither_is_believed() {
    let (attacker, victim) = (office(1, &[]), office(1, &[]));
    let [theirs, ours] = [&attacker, &victim].map(|office| office.signed_in().cookie(SESSION).unwrap());
    let url = format!("{}/auth/core/permissions", victim.serve.public_url);
    let with = |cookies: &str| Call::get(&url).header("cookie", cookies).send();
    for cookies in [
        format!("{SESSION}={theirs}; {SESSION}={ours}"),
        format!("{SESSION}={ours}; {SESSION}={theirs}"),
        format!("{SESSION}={ours}; x=y; {SESSION}={theirs}"),
        format!("{SESSION}={theirs},{SESSION}={ours}"),
        format!("{SESSION}=; {SESSION}={ours}"),
        format!("{SESSION}=\"{ours}\""),
        format!("x={SESSION}={ours}"),
        format!("{SESSION}{ours}"),
        ";;;=;=".to_owned(),
    ] {
        let reply = with(&cookies);
        assert_eq!((reply.status, reply.header("location")), (302, "/auth/core/login"), "{cookies}");
    }
    let twice = with(&format!("{SESSION}={ours}; {SESSION}={ours}"));
    assert!(twice.text().contains(&victim.email), "the same one twice is the same one");
    victim.serve.is_well();
}

#[test]
fn oversized_and_odd_cookies_are_nobodys() {
    let office = office(1, &[]);
    let session = office.signed_in().cookie(SESSION).unwrap();
    let long = format!("{session}{}", "x".repeat(8_000));
    for odd in
        [long.as_str(), &session[1..], &session.to_lowercase(), "' OR 1=1 --", "../../etc/passwd", "%00"]
    {
        assert!(!is_signed_in(&thief(&office, odd)), "{odd}");
    }
    let browser = office.browser();
    browser.set_cookie(MARK, &"m".repeat(8_000));
    let page = office.arrive(&browser, &office.ask());
    assert!(page.has_code(), "a mark that cannot be one is replaced: {page:?}");
    assert!(browser.cookie(MARK).unwrap().len() <= 128);
    office.serve.is_well();
}
