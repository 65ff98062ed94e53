//! Password resets: from the sign-in page through the mail to the new password.

use super::{Fixture, NEW_PASSWORD, OTHER_PASSWORD, REALMS, reset};

#[test]
fn reset_sets_the_password_ends_every_session_and_tells_the_owner() {
    let fixture = Fixture::start();
    for (realm, base) in REALMS {
        let email = format!("lucia-{realm}@example.com");
        let signed_in = fixture.add_account(realm, &email, "es");
        assert_eq!(signed_in.get(&format!("{base}/account")).status, 200);
        let sign_in = fixture.browser(realm).get(&format!("{base}/login"));
        assert!(sign_in.text().contains(&format!("{base}/forgot")), "{}", sign_in.text());

        let asked = fixture.forget(realm, base, &email);
        assert!(asked.status == 200 && asked.text().contains("Mira tu correo"), "{asked:?}");
        let link = fixture.link_to(&email, 2);
        assert!(link.starts_with(&format!("{base}/reset?token=")), "{link}");
        let browser = fixture.browser(realm);
        let first = browser.get(&link);
        assert!(first.status == 302 && !first.location().contains("token="), "{first:?}");
        let refused = reset(&browser, &link, "corta");
        assert!(refused.status == 400 && refused.text().contains("demasiado corta"), "{refused:?}");
        let done = reset(&browser, &link, OTHER_PASSWORD);
        assert_eq!(done.status, 200, "{done:?}");

        assert_eq!(signed_in.get(&format!("{base}/account")).status, 302, "the session has ended");
        assert_eq!(fixture.sign_in(realm, base, &email, NEW_PASSWORD).status, 400);
        assert_eq!(fixture.sign_in(realm, base, &email, OTHER_PASSWORD).status, 302);
        let told = &fixture.mails_to(&email, 3)[2];
        assert!(
            told.body().contains("ayuda@contaplus.example") && !told.body().contains("http"),
            "{}",
            told.body()
        );
        assert_eq!(fixture.browser(realm).get(&link).status, 404, "the link works once");
    }
    let kinds = fixture.audit_kinds();
    for kind in ["password_reset_requested", "password_reset"] {
        assert_eq!(kinds.iter().filter(|one| *one == kind).count(), 3, "{kind} in {kinds:?}");
    }
}

#[test]
fn newer_link_replaces_the_older_one() {
    let fixture = Fixture::start();
    fixture.add_account("users", "eva@example.com", "en");
    fixture.forget("users", "/auth/core", "eva@example.com");
    let first = fixture.link_to("eva@example.com", 2);
    fixture.forget("users", "/auth/core", "eva@example.com");
    let second = fixture.link_to("eva@example.com", 3);
    let void = fixture.browser("users").get(&first);
    assert!(void.status == 404 && void.text().contains("/auth/core/forgot"), "{void:?}");
    assert_eq!(reset(&fixture.browser("users"), &second, OTHER_PASSWORD).status, 200);
}
