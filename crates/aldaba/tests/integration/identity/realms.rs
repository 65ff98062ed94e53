//! Users, developers and operators: one account system whose realms never mix, and the account page of each.

use domain::Realm;
use testserver::TestServer;

use super::realm_pages::{PASSWORD, RealmPages};
use crate::harness::Browser;

const NEW_PASSWORD: &str = "otras palabras muy distintas";

#[test]
fn each_realm_signs_in_and_out_at_its_own_pages() {
    let server = TestServer::start();
    for pages in RealmPages::all(&server) {
        let (browser, page) = pages.try_sign_in(&pages.email, PASSWORD);
        let home = match pages.realm {
            Realm::Users => "permissions",
            Realm::Developers | Realm::Operators => "",
        };
        assert_eq!((page.status, page.location()), (302, format!("{}?lang=es", pages.path(home)).as_str()));
        assert!(browser.cookie(pages.session_cookie()).is_some());
        let account = pages.account(&browser);
        let text = account.text();
        assert!(text.contains(&pages.email) && text.contains("María"), "{text}");
        browser.submit(&browser.get(&pages.path("logout")).form("post"), &[]);
        assert!(!pages.is_signed_in(&browser));
        assert_eq!(pages.account(&browser).location(), pages.path("login"));
        for realm in Realm::ALL {
            let other = format!("maria@{}.example", realm.as_str());
            let (_, page) = pages.try_sign_in(&other, PASSWORD);
            assert_eq!(page.status == 302, realm == pages.realm, "{other} at {}", pages.path("login"));
        }
    }
}

/// The session's cookie under the name that another realm's has, and under its own.
#[test]
fn session_of_one_realm_is_nothing_in_another() {
    let server = TestServer::start();
    let all = RealmPages::all(&server);
    for pages in &all {
        let session = pages.signed_in().cookie(pages.session_cookie()).unwrap();
        for other in all.iter().filter(|other| other.realm != pages.realm) {
            let browser = Browser::new(other.origin());
            for cookie in [pages.session_cookie(), other.session_cookie()] {
                browser.set_cookie(cookie, &session);
            }
            assert!(!other.is_signed_in(&browser), "{:?} in {:?}", pages.realm, other.realm);
            if other.realm == Realm::Users {
                let page = browser.get(&other.path("permissions"));
                assert_eq!((page.status, page.location()), (302, other.path("login").as_str()));
            }
        }
        // No session opens an API.
        let operator = Browser::new(server.operator_url());
        operator.set_cookie(pages.session_cookie(), &session);
        assert_eq!(operator.get("/operator/v1/users").status, 401);
    }
}

#[test]
fn ticket_of_one_realm_is_nothing_in_another() {
    let server = TestServer::start();
    let [users, developers, _] = RealmPages::all(&server);
    let browser = developers.signed_in();
    let form = developers.form_with(&browser, "given_name");
    let user = users.signed_in();
    // Both realms are on one host; the ticket is bound to a browser id, which is planted here.
    let id = browser.cookie("aldaba-developer-browser").unwrap();
    user.set_cookie("aldaba-browser", &id);
    let ticket = form.fields.iter().find(|(name, _)| name == "ticket").unwrap().1.clone();
    let fields = [("ticket", ticket.as_str()), ("given_name", "Eva"), ("lang", "en"), ("do", "profile")];
    let page = user.post(&users.path("account"), &fields);
    assert_eq!(page.status, 400, "{page:?}");
    assert!(users.account(&user).text().contains("María"));
}

#[test]
fn account_page_changes_name_and_language() {
    let server = TestServer::start();
    for pages in RealmPages::all(&server) {
        let browser = pages.signed_in();
        let done = pages.submit(
            &browser,
            "given_name",
            &[("given_name", " Eva "), ("lang", "en"), ("do", "profile")],
        );
        let page = browser.follow_redirects(done);
        let text = page.text();
        assert!(text.contains("Your details are saved.") && text.contains("value=\"Eva\""), "{text}");
        let too_long = "x".repeat(201);
        for refused in ["", "  ", "a\u{7}b", too_long.as_str()] {
            let page = pages.submit(
                &browser,
                "given_name",
                &[("given_name", refused), ("lang", "en"), ("do", "profile")],
            );
            assert_eq!(page.status, 400, "{refused:?}");
            assert!(page.text().contains("A name has 1 to 200 characters."));
        }
        let without_ticket = [("given_name", "Ana"), ("do", "profile")];
        assert_eq!(browser.post(&pages.path("account"), &without_ticket).status, 400);
        assert!(pages.account(&browser).text().contains("value=\"Eva\""));
    }
}

#[test]
fn password_change_needs_the_present_one_and_ends_other_sessions() {
    let server = TestServer::start();
    for pages in RealmPages::all(&server) {
        let (browser, other) = (pages.signed_in(), pages.signed_in());
        let refusals = [
            ("wrong", NEW_PASSWORD, NEW_PASSWORD, "La contraseña actual no es correcta."),
            (PASSWORD, NEW_PASSWORD, "something else", "Las dos contraseñas nuevas son distintas."),
            (PASSWORD, "corta", "corta", "al menos 10"),
            (PASSWORD, "", "", "al menos 10"),
        ];
        for (current, new, repeated, why) in refusals {
            let page = pages.change_password(&browser, current, new, repeated);
            assert_eq!(page.status, 400);
            assert!(page.text().contains(why), "{why}: {}", page.text());
        }
        let before = browser.cookie(pages.session_cookie());
        let done = pages.change_password(&browser, PASSWORD, NEW_PASSWORD, NEW_PASSWORD);
        assert_eq!(done.status, 302, "{done:?}");
        assert_ne!(browser.cookie(pages.session_cookie()), before, "a new session");
        assert!(pages.is_signed_in(&browser) && !pages.is_signed_in(&other));
        assert_eq!(pages.try_sign_in(&pages.email, PASSWORD).1.status, 400);
        assert_eq!(pages.try_sign_in(&pages.email, NEW_PASSWORD).1.status, 302);
    }
}

#[test]
fn sessions_are_shown_and_ended() {
    let server = TestServer::start();
    for pages in RealmPages::all(&server) {
        let [here, there, elsewhere] = [pages.signed_in(), pages.signed_in(), pages.signed_in()];
        let page = pages.account(&here);
        let page = page.text();
        assert_eq!(page.matches("127.0.0.1").count(), 3, "{page}");
        assert_eq!(page.matches("Este navegador").count(), 1);
        pages.submit(&here, "session", &[("do", "end")]);
        let ended = [&there, &elsewhere].map(|browser| !pages.is_signed_in(browser));
        assert_eq!(ended.into_iter().filter(|ended| *ended).count(), 1);
        pages.submit(&here, "session", &[("session", "others"), ("do", "end")]);
        assert!(!pages.is_signed_in(&there) && !pages.is_signed_in(&elsewhere));
        assert!(pages.is_signed_in(&here));
    }
}

/// The value of a counter of the operator's metrics.
fn counter(server: &TestServer, name: &str) -> u64 {
    let metrics = server.operator_get("/metrics");
    let text = String::from_utf8(metrics.body.to_vec()).unwrap();
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok());
    value.unwrap_or_else(|| panic!("no {name} in {text}"))
}

#[test]
fn sign_in_costs_one_hash_and_three_transactions() {
    const HASHES: &str = "aldaba_password_hashes_total";
    const TRANSACTIONS: &str = "aldaba_store_operation_duration_seconds_count{class=\"transaction\"}";
    let server = TestServer::start();
    for pages in RealmPages::all(&server) {
        // The service's own tasks write too, now and then: the cheapest sign-in counts.
        let costs = (0..10).map(|_| {
            let before = [HASHES, TRANSACTIONS].map(|name| counter(&server, name));
            pages.signed_in();
            let after = [HASHES, TRANSACTIONS].map(|name| counter(&server, name));
            (after[0] - before[0], after[1] - before[1])
        });
        assert_eq!(costs.min(), Some((1, 3)), "{:?}", pages.realm);
    }
}

#[test]
fn password_change_is_mailed_to_its_owner() {
    // Nobody listens there, so the mail waits.
    let server = TestServer::builder()
        .set("mail.server", "127.0.0.1:1")
        .set("mail.tls", "none")
        .set("mail.from", "aldaba@example.com")
        .start();
    let pages = RealmPages::new(&server, Realm::Users);
    let browser = pages.signed_in();
    let waiting = || {
        let store = server.store().clone();
        let now = domain::Ticks::parse_iso("2026-11-15T08:30:00Z").unwrap();
        server.block_on(async move { store.waiting_mails(now).await }).unwrap()
    };
    pages.change_password(&browser, "wrong", NEW_PASSWORD, NEW_PASSWORD);
    assert_eq!(waiting(), 0);
    pages.change_password(&browser, PASSWORD, NEW_PASSWORD, NEW_PASSWORD);
    assert_eq!(waiting(), 1);
}
