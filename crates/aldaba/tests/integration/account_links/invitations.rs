//! Invitations: from the operator's request through the mail to the account.

use std::time::Duration;

use serde_json::{Value, json};
use testserver::{Request, TestServer};

use super::{Fixture, NEW_PASSWORD, OTHER_PASSWORD, REALMS, accept};
use crate::harness::Browser;

#[test]
fn invited_person_of_each_realm_makes_an_account_and_is_signed_in() {
    let fixture = Fixture::start();
    for (realm, base) in REALMS {
        let email = format!("lucia-{realm}@example.com");
        let made = fixture.invite(realm, &email, "es");
        assert_eq!(made["link"], Value::Null, "it is mailed");
        let link = fixture.link_to(&email, 1);
        assert!(link.starts_with(&format!("{base}/invitation?token=")), "{link}");

        let browser = fixture.browser(realm);
        let first = browser.get(&link);
        assert_eq!(first.status, 302);
        assert!(!first.location().contains("token="), "the secret leaves the URL: {}", first.location());
        let page = browser.follow_redirects(first);
        assert_eq!((page.status, page.header("cache-control")), (200, "no-store"));
        assert_eq!(page.header("referrer-policy"), "no-referrer");
        assert!(page.text().contains(&email) && page.text().contains("Crea tu cuenta"));
        assert!(!page.has_field("email"), "the address is fixed");

        let done = accept(&browser, &link, NEW_PASSWORD);
        assert_eq!(done.status, 302, "{done:?}");
        let home = browser.follow_redirects(done);
        assert_eq!(home.status, 200, "{home:?}");
        assert!(home.text().contains(&email), "signed in as {email}: {}", home.text());
        let id = made["id"].as_str().unwrap();
        let shown = fixture.server.operator_get(&format!("/operator/v1/invitations/{id}")).json();
        assert_eq!(shown["state"], "accepted");
        assert_eq!(fixture.sign_in(realm, base, &email, NEW_PASSWORD).status, 302);
        assert_eq!(fixture.sign_in(realm, base, &email, OTHER_PASSWORD).status, 400);
    }
    let kinds = fixture.audit_kinds();
    for kind in ["invitation_made", "invitation_accepted", "user_added", "developer_added", "operator_added"]
    {
        assert!(kinds.iter().any(|one| one == kind), "{kind} in {kinds:?}");
    }
}

#[test]
fn user_becomes_a_member_of_the_invited_tenants() {
    let fixture = Fixture::start();
    let tenant = fixture.server.add_tenant("Norte");
    let body = json!({"realm": "users", "email": "eva@example.com", "tenants": [tenant.id]});
    fixture.server.operator_post("invitations", &body);
    let done = accept(&fixture.browser("users"), &fixture.link_to("eva@example.com", 1), NEW_PASSWORD);
    assert_eq!(done.status, 302);
    let memberships = fixture.server.operator_get("/operator/v1/users/eva@example.com/tenants").json();
    assert!(memberships.to_string().contains(&tenant.id), "{memberships}");
}

#[test]
fn refused_form_says_why_and_keeps_the_link() {
    let fixture = Fixture::start();
    fixture.invite("users", "begona@zorita.example", "en");
    let link = fixture.link_to("begona@zorita.example", 1);
    let browser = fixture.browser("users");
    let page = browser.follow_redirects(browser.get(&link));
    assert!(page.text().contains("Create your account"), "in the language of the invitation");
    let form = page.form("post");
    let good =
        [("given_name", "Begoña"), ("new_password", NEW_PASSWORD), ("repeated_password", NEW_PASSWORD)];
    for (wrong, title) in [
        (("given_name", " "), "name"),
        (("new_password", "short"), "The password is too short"),
        (("new_password", "Zorita siempre gana"), "a part of your email address"),
        (("repeated_password", OTHER_PASSWORD), "The two new passwords"),
    ] {
        let mut fields = good.to_vec();
        fields.retain(|(name, _)| *name != wrong.0);
        fields.push(wrong);
        let refused = browser.submit(&form, &fields);
        assert_eq!(refused.status, 400, "{wrong:?}");
        assert!(refused.text().contains(title), "{wrong:?}: {}", refused.text());
        assert!(!refused.text().contains(NEW_PASSWORD) && !refused.text().contains("token="));
    }
    let spanish = browser.get(&format!("/auth/core/invitation?ticket={}&lang=es", form.fields[0].1));
    assert!(spanish.text().contains("Crea tu cuenta"), "{}", spanish.text());
    assert_eq!(browser.submit(&form, &good).status, 302);
}

/// Without SMTP who invites gets the link, and the sign-in page says whom to ask.
#[test]
fn link_is_shown_to_the_operator_without_a_mail_server() {
    let server = TestServer::builder().set("mail.contact", "ayuda@contaplus.example").start();
    let made = server.operator_post("invitations", &json!({"realm": "users", "email": "ana@example.com"}));
    let link = made["link"].as_str().unwrap();
    let path = &link[link.find("/auth/core").unwrap()..];
    let browser = Browser::new(server.base_url());
    assert_eq!(accept(&browser, path, NEW_PASSWORD).status, 302);
    let sign_in = Browser::new(server.base_url()).get("/auth/core/login");
    assert!(sign_in.text().contains("ayuda@contaplus.example"), "{}", sign_in.text());
    assert!(!sign_in.text().contains("/forgot"));
    assert_eq!(browser.get("/auth/core/forgot").status, 404);
    assert_eq!(browser.get("/portal/register").status, 404);
}

#[test]
fn registration_is_for_developers_where_it_is_open() {
    let closed = Fixture::start();
    assert_eq!(closed.browser("developers").get("/portal/register").status, 404);
    drop(closed);
    let fixture = Fixture::with(&[], |builder| builder.set("portal.registration", "open"));
    for (realm, base) in [("users", "/auth/core"), ("operators", "/console")] {
        assert_eq!(fixture.browser(realm).get(&format!("{base}/register")).status, 404);
    }
    assert!(fixture.browser("developers").get("/portal/login").text().contains("/portal/register"));
    let sent = super::ask(&fixture.browser("developers"), "/portal/register?lang=en", "dev@example.com");
    assert!(sent.status == 200 && sent.text().contains("Check your mail"), "{sent:?}");
    // Asked again, the same invitation gets a new link.
    super::ask(&fixture.browser("developers"), "/portal/register?lang=en", "dev@example.com");
    let mails = fixture.mails_to("dev@example.com", 2);
    let first = fixture.browser("developers").get(&super::link_in(&mails[0]));
    let second = fixture.browser("developers");
    let is_first_void = first.status == 404;
    let good = if is_first_void { &mails[1] } else { &mails[0] };
    assert_eq!(accept(&second, &super::link_in(good), NEW_PASSWORD).status, 302);
    let all = fixture.server.operator_get("/operator/v1/invitations?realm=developers").json();
    assert_eq!(all["invitations"].as_array().unwrap().len(), 1, "{all}");
    let kinds = fixture.audit_kinds();
    for kind in ["invitation_made", "invitation_resent", "invitation_accepted", "developer_added"] {
        assert!(kinds.iter().any(|one| one == kind), "{kind} in {kinds:?}");
    }

    // Who has an account gets the same page, and no mail.
    let before = fixture.mail_count();
    let again = super::ask(&fixture.browser("developers"), "/portal/register?lang=en", "dev@example.com");
    assert_eq!((again.status, again.text()), (sent.status, sent.text()));
    fixture.pass(Duration::from_secs(1));
    super::ask(&fixture.browser("developers"), "/portal/register?lang=en", "other@example.com");
    fixture.mails_to("other@example.com", 1);
    assert_eq!(fixture.mail_count(), before + 1);
}

/// Registration makes an account of its own kind: it neither revives what an expired invitation promised nor lengthens one
/// that is pending.
#[test]
fn registration_neither_revives_nor_lengthens_an_invitation() {
    const HOUR: Duration = Duration::from_secs(60 * 60);
    let fixture = Fixture::with(&[], |builder| builder.set("portal.registration", "open"));
    fixture.server.operator_post("teams", &json!({"name": "Panel", "id": "panel"}));
    let invite = |email: &str| {
        let body = json!({"realm": "developers", "email": email, "team": "panel", "teamOwner": true});
        fixture.server.operator_post("invitations", &body)["id"].as_str().unwrap().to_owned()
    };
    let register = |email: &str| {
        let sent = super::ask(&fixture.browser("developers"), "/portal/register", email);
        assert_eq!(sent.status, 200, "{sent:?}");
    };
    let state = |id: &str| {
        let path = format!("/operator/v1/invitations/{id}");
        fixture.server.operator_get(&path).json()["state"].as_str().unwrap().to_owned()
    };
    let teams = |email: &str| {
        let developer = fixture.server.operator_get(&format!("/operator/v1/developers/{email}")).json();
        developer["teams"].as_array().unwrap().len()
    };

    let (late, early) = (invite("late@example.com"), invite("early@example.com"));
    let void = fixture.link_to("late@example.com", 1);
    fixture.mails_to("early@example.com", 1);
    fixture.pass(71 * HOUR);
    register("early@example.com");
    let resent = fixture.link_to("early@example.com", 2);
    fixture.pass(HOUR);
    assert_eq!((state(&late), state(&early)), ("expired".to_owned(), "expired".to_owned()));
    assert_eq!(fixture.browser("developers").get(&resent).status, 404, "72 hours from the invitation");

    register("late@example.com");
    let link = fixture.link_to("late@example.com", 2);
    assert_ne!(state(&late), "pending");
    assert_eq!(fixture.browser("developers").get(&void).status, 404);
    assert_eq!(accept(&fixture.browser("developers"), &link, NEW_PASSWORD).status, 302);
    assert_eq!(teams("late@example.com"), 0, "the team's place went with the invitation");
    assert_ne!(state(&late), "accepted");

    // Who asks in time gets what was promised.
    invite("in-time@example.com");
    fixture.mails_to("in-time@example.com", 1);
    register("in-time@example.com");
    let link = fixture.link_to("in-time@example.com", 2);
    assert_eq!(accept(&fixture.browser("developers"), &link, NEW_PASSWORD).status, 302);
    assert_eq!(teams("in-time@example.com"), 1);
}

#[test]
fn revoked_invitation_shows_whom_to_ask() {
    let fixture = Fixture::start();
    let made = fixture.invite("users", "ana@example.com", "es");
    let link = fixture.link_to("ana@example.com", 1);
    let url =
        format!("{}/operator/v1/invitations/{}", fixture.server.operator_url(), made["id"].as_str().unwrap());
    let revoked =
        Request::new("DELETE".parse().unwrap(), &url).bearer(fixture.server.operator_token()).send();
    assert_eq!(revoked.status, 200);
    let page = fixture.browser("users").get(&link);
    assert_eq!(page.status, 404);
    assert!(page.text().contains("Este enlace no sirve") && page.text().contains("ayuda@contaplus.example"));
}
