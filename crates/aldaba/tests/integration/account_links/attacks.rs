//! Attacks on the links: enumeration of accounts, reuse, guessing, other realms, fixation, parallel acceptance, floods.

use std::sync::Mutex;
use std::time::Duration;

use domain::{Realm, Secret};
use testserver::wait_for;

use super::{
    Fixture, NEW_PASSWORD, OTHER_PASSWORD, REALMS, accept, ask, open_invitation, reset, submit_acceptance,
};
use crate::harness::{Page, run_concurrently};

/// What an outsider sees of a response, without ids that are random in every one.
fn outside(page: &Page) -> (u16, String, Vec<(String, String)>) {
    let random = ["x-request-id", "date", "set-cookie"];
    let headers = page.headers.iter().map(|(name, value)| {
        let value = value.to_str().unwrap();
        (name.to_string(), if random.contains(&name.as_str()) { String::new() } else { value.to_owned() })
    });
    (page.status, page.text().to_owned(), headers.collect())
}

/// Status, body, headers and the store's work before the response are the same whether the address has an account or not,
/// and also for a disabled account.
#[test]
fn forgotten_password_does_not_tell_who_has_an_account() {
    let fixture = Fixture::start();
    for (realm, base) in REALMS {
        let email = format!("known-{realm}@example.com");
        fixture.add_account(realm, &email, "es");
        let known = fixture.forget(realm, base, &email);
        fixture.mails_to(&email, 2);
        let unknown = fixture.forget(realm, base, &format!("unknown-{realm}@example.com"));
        assert_eq!(outside(&known), outside(&unknown), "{realm}");
        // The fourth mail within the limit's time is not sent, and nobody sees that.
        for number in 2..6 {
            let again = fixture.forget(realm, base, &email);
            assert_eq!(outside(&again), outside(&known), "{realm}, time {number}");
            fixture.pass(Duration::from_secs(60));
        }
        fixture.pass(Duration::from_secs(3600));
    }
    let store = fixture.server.store();
    let find = store.find_account_by_email(Realm::Users, "known-users@example.com");
    let account = fixture.server.block_on(find).unwrap().unwrap();
    let by = store::AuditContext::default();
    let disable = store.set_account_status(&account.id, store::Status::Disabled, &by);
    assert!(fixture.server.block_on(disable).unwrap());
    let before = fixture.mail_count();
    let disabled = fixture.forget("users", "/auth/core", "known-users@example.com");
    let unknown = fixture.forget("users", "/auth/core", "unknown-users@example.com");
    assert_eq!(outside(&disabled), outside(&unknown));
    fixture.invite("users", "last@example.com", "es");
    fixture.mails_to("last@example.com", 1);
    assert_eq!(fixture.mail_count(), before + 1, "a disabled account gets no mail");
}

#[test]
fn void_links_cannot_be_told_apart() {
    let fixture = Fixture::start();
    for (realm, base) in REALMS {
        let address = |state: &str| format!("{state}-{realm}@example.com");
        let mut links = Vec::new();
        for state in ["used", "expired"] {
            fixture.invite(realm, &address(state), "es");
            let link = fixture.link_to(&address(state), 1);
            if state == "used" {
                assert_eq!(accept(&fixture.browser(realm), &link, NEW_PASSWORD).status, 302);
            }
            links.push(link);
        }
        fixture.pass(Duration::from_secs(72 * 60 * 60));
        links.push(format!("{base}/invitation?token=hW0dJ9m3Zz5bT8rC1xQ7vN2kL4pS6yF0aE3gU5iO8jB"));
        links.push(format!("{base}/invitation?token="));
        links.push(format!("{base}/invitation?token={}", "x".repeat(5000)));
        links.push(format!("{base}/invitation?ticket=nonsense"));
        links.push(format!("{base}/invitation"));
        let pages: Vec<_> = links.iter().map(|link| outside(&fixture.browser(realm).get(link))).collect();
        for (page, link) in pages.iter().zip(&links) {
            assert_eq!(page.0, 404, "{link}");
            assert_eq!(page, &pages[0], "{link}");
        }
        let resets = ["?token=hW0dJ9m3Zz5bT8rC1xQ7vN2kL4pS6yF0aE3gU5iO8jB", "?ticket=x", ""];
        let pages = resets.map(|query| outside(&fixture.browser(realm).get(&format!("{base}/reset{query}"))));
        assert!(pages.iter().all(|page| page.0 == 404 && *page == pages[0]));
    }
}

#[test]
fn link_of_one_realm_is_nothing_in_another() {
    let fixture = Fixture::start();
    for (realm, base) in REALMS {
        let email = format!("eva-{realm}@example.com");
        fixture.add_account(realm, &email, "es");
        fixture.forget(realm, base, &email);
        fixture.invite(realm, &format!("new-{email}"), "es");
        let links = [fixture.link_to(&email, 2), fixture.link_to(&format!("new-{email}"), 1)];
        for (other, other_base) in REALMS.into_iter().filter(|(other, _)| *other != realm) {
            for link in &links {
                let moved = link.replacen(base, other_base, 1);
                assert_eq!(fixture.browser(other).get(&moved).status, 404, "{moved}");
            }
            // Neither does a ticket.
            let ticket = fixture.browser(realm).get(&links[1]).location().replacen(base, other_base, 1);
            assert_eq!(fixture.browser(other).get(&ticket).status, 404);
        }
        assert_eq!(reset(&fixture.browser(realm), &links[0], OTHER_PASSWORD).status, 200);
        assert_eq!(accept(&fixture.browser(realm), &links[1], NEW_PASSWORD).status, 302);
    }
}

/// Mail scanners open links, and people do it twice.
#[test]
fn opening_a_link_does_not_use_it_up_and_using_it_does() {
    let fixture = Fixture::start();
    fixture.invite("users", "eva@example.com", "es");
    let link = fixture.link_to("eva@example.com", 1);
    for _ in 0..3 {
        let browser = fixture.browser("users");
        assert_eq!(browser.follow_redirects(browser.get(&link)).status, 200);
    }
    let (browser, other) = (fixture.browser("users"), fixture.browser("users"));
    let form = other.follow_redirects(other.get(&link)).form("post");
    assert_eq!(accept(&browser, &link, NEW_PASSWORD).status, 302);
    let filled =
        [("given_name", "X"), ("new_password", OTHER_PASSWORD), ("repeated_password", OTHER_PASSWORD)];
    assert_eq!(other.submit(&form, &filled).status, 404, "the form was open when the link was used");
    assert_eq!(fixture.sign_in("users", "/auth/core", "eva@example.com", OTHER_PASSWORD).status, 400);
}

#[test]
fn parallel_acceptances_make_one_account() {
    let fixture = Fixture::start();
    fixture.invite("developers", "eva@example.com", "es");
    let link = fixture.link_to("eva@example.com", 1);
    let opened: Vec<_> = (0..8)
        .map(|_| {
            let browser = fixture.browser("developers");
            let form = open_invitation(&browser, &link);
            Mutex::new((browser, form))
        })
        .collect();
    let statuses = run_concurrently(opened.len(), |number| {
        let (browser, form) = &*opened[number].lock().unwrap();
        submit_acceptance(browser, form, NEW_PASSWORD).status
    });
    assert_eq!(statuses.iter().filter(|status| **status == 302).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| [302, 404, 503].contains(status)), "{statuses:?}");
    let query = store::ListQuery::default();
    let accounts = fixture.server.store().list_accounts(Realm::Developers, &query);
    assert_eq!(fixture.server.block_on(accounts).unwrap().rows.len(), 1);
}

/// A session that was planted before the acceptance is not kept, and neither is one of another account.
#[test]
fn acceptance_begins_a_new_session() {
    let fixture = Fixture::start();
    let ana = fixture.add_account("users", "ana@example.com", "es");
    let planted = ana.cookie("aldaba-session").unwrap();
    fixture.invite("users", "eva@example.com", "es");
    let victim = fixture.browser("users");
    victim.set_cookie("aldaba-session", &planted);
    victim.set_cookie("aldaba-browser", "chosen-by-the-attacker");
    assert_eq!(accept(&victim, &fixture.link_to("eva@example.com", 1), NEW_PASSWORD).status, 302);
    assert_ne!(victim.cookie("aldaba-session").unwrap(), planted);
    assert_ne!(victim.cookie("aldaba-browser").unwrap(), "chosen-by-the-attacker");
    let (planted, now) = (Secret::new(planted), domain::Clock::now(&*fixture.clock));
    let find = fixture.server.store().find_session(Realm::Users, &planted, now);
    assert_eq!(fixture.server.block_on(find), Ok(None), "the planted session has ended");
}

#[test]
fn invitation_for_an_address_with_an_account_is_refused() {
    let fixture = Fixture::start();
    fixture.invite("users", "eva@example.com", "es");
    let link = fixture.link_to("eva@example.com", 1);
    let user =
        serde_json::json!({"email": "eva@example.com", "givenName": "Eva", "password": OTHER_PASSWORD});
    fixture.server.operator_post("users", &user);
    let refused = accept(&fixture.browser("users"), &link, NEW_PASSWORD);
    assert!(refused.status == 409 && refused.text().contains("ya tiene una cuenta"), "{refused:?}");
    assert_eq!(fixture.sign_in("users", "/auth/core", "eva@example.com", OTHER_PASSWORD).status, 302);
    assert_eq!(fixture.sign_in("users", "/auth/core", "eva@example.com", NEW_PASSWORD).status, 400);
}

/// The form of another site, or of another browser, does nothing.
#[test]
fn forms_are_bound_to_their_browser_and_site() {
    let fixture = Fixture::start();
    fixture.invite("users", "eva@example.com", "es");
    let link = fixture.link_to("eva@example.com", 1);
    let attacker = fixture.browser("users");
    let form = attacker.follow_redirects(attacker.get(&link)).form("post");
    let filled = [("given_name", "X"), ("new_password", NEW_PASSWORD), ("repeated_password", NEW_PASSWORD)];
    assert_eq!(fixture.browser("users").submit(&form, &filled).status, 404, "another browser");
    let cross_site = fixture.browser("users").with_header("sec-fetch-site", "cross-site");
    assert_eq!(cross_site.submit(&form, &filled).status, 403);
    let before = fixture.mail_count();
    for path in ["/auth/core/forgot", "/auth/core/reset", "/auth/core/invitation"] {
        let posted = fixture.browser("users").post(path, &[("email", "eva@example.com"), ("token", "x")]);
        assert!([400, 404].contains(&posted.status), "{posted:?}");
    }
    assert_eq!(fixture.mail_count(), before);
}

/// One address can neither flood a mailbox nor fill the queue.
#[test]
fn mails_that_strangers_ask_for_are_limited() {
    let fixture = Fixture::start();
    fixture.add_account("users", "eva@example.com", "es");
    let browser = fixture.browser("users");
    let mut statuses = Vec::new();
    for number in 0..15 {
        let email = if number < 5 { "eva@example.com".to_owned() } else { format!("x{number}@example.com") };
        statuses.push(ask(&browser, "/auth/core/forgot", &email).status);
    }
    assert_eq!(statuses[..10], [200; 10]);
    assert!(statuses[10..].iter().all(|status| *status == 429), "{statuses:?}");
    // One for the invitation and three for resets.
    fixture.mails_to("eva@example.com", 4);
    fixture.pass(Duration::from_secs(60));
    wait_for("a minute later one more is admitted", || {
        (ask(&browser, "/auth/core/forgot", "eva@example.com").status == 200).then_some(())
    });
}
