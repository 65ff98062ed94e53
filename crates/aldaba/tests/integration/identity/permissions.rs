//! The page on which users see which clients have access, and revoke it.

use crate::harness::{
    PASSWORD, SignInFixture, Tokens, members, new_user, oauth_error, register_app, shared_server,
};

const PAGE: &str = "/auth/core/permissions";

#[test]
fn page_lists_clients_and_revokes_their_access_immediately() {
    let fixture = SignInFixture::new();
    let browser = fixture.signed_in_browser();
    assert!(browser.get(PAGE).forms().is_empty(), "a code alone is not listed");
    let tokens: Vec<Tokens> = (0..2)
        .map(|_| {
            Tokens::from_response(
                &fixture.exchange(&fixture.code_in_browser(&browser, &fixture.authorization_request())),
            )
        })
        .collect();
    let other = fixture.with_app(register_app(shared_server(), &[]));
    let others = Tokens::from_response(
        &other.exchange(&other.code_in_browser(&browser, &other.authorization_request())),
    );
    let page = browser.get(PAGE);
    for words in ["Panel de ventas", "Asesoría", "Lucía", &fixture.email, "Ver la contabilidad"] {
        assert!(page.text().contains(words), "{words}: {}", page.text());
    }
    assert_eq!(page.forms().len(), 2, "one entry per client, however often it signed in");
    assert_eq!(fixture.userinfo(tokens[0].access()).status, 200);

    // The client that was used last is first.
    let after = browser.follow_redirects(browser.submit(&page.forms()[1], &[]));
    assert_eq!((after.status, after.forms().len()), (200, 1), "{after:?}");
    assert!(after.text().contains("ya no tiene acceso a los datos de <bdi>"), "{}", after.text());
    for tokens in &tokens {
        assert_eq!(fixture.userinfo(tokens.access()).status, 401);
        assert_eq!(oauth_error(&fixture.refresh(tokens.refresh()), 400), "invalid_grant");
    }
    assert_eq!(other.refresh(others.refresh()).status, 200, "other clients keep their access");
    assert_eq!(fixture.audit(&format!("kind=revoked&client={}", fixture.app.id)).len(), 2);
}

#[test]
fn page_requires_a_sign_in() {
    let fixture = SignInFixture::new();
    let browser = fixture.browser();
    let ingest = browser.follow_redirects(browser.get(PAGE));
    assert!(ingest.has_field("password"), "{ingest:?}");
    let page = browser.follow_redirects(fixture.try_password(&browser, &ingest.form("post"), PASSWORD));
    assert!(page.status == 200 && page.text().contains(&fixture.email), "{page:?}");
}

#[test]
fn user_cannot_revoke_another_users_grant() {
    let fixture = SignInFixture::new();
    let tokens = fixture.tokens();
    let owner = fixture.signed_in_browser();
    let owners_form = owner.get(PAGE).form("post");
    let key = &owners_form.fields.iter().find(|(name, _)| name == "access").unwrap().1;
    let other = SignInFixture {
        email: new_user(shared_server(), &[&fixture.tenants[0]]),
        ..fixture.with_app(fixture.app.clone())
    };
    let other_browser = other.signed_in_browser();
    other.exchange(&other.code_in_browser(&other_browser, &other.authorization_request()));
    let own = other_browser.get(PAGE).form("post");
    other_browser.follow_redirects(other_browser.submit(&own, &[("access", key)]));
    other_browser.follow_redirects(other_browser.submit(&owners_form, &[]));
    assert_eq!(fixture.userinfo(tokens.access()).status, 200);
    let without_ticket = owner.follow_redirects(owner.submit(&owners_form, &[("ticket", "")]));
    assert_eq!((without_ticket.status, fixture.userinfo(tokens.access()).status), (200, 200));
    assert_eq!(members(&tokens.0).len(), 5);
}
