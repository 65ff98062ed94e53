//! Clients that require consent: the tenant page asks for it, and it lasts as long as its grant.

use crate::harness::{Page, SignInFixture, Tokens, claims, shared_fixture};

fn fixture_with_consent() -> SignInFixture<'static> {
    SignInFixture::with_client(&["--consent"])
}

#[track_caller]
fn expect_consent_question(page: &Page) {
    let is_asked = page.text().contains("value=\"allow\"") && page.text().contains("value=\"deny\"");
    assert!(page.status == 200 && is_asked, "{page:?}");
}

fn allow(fixture: &SignInFixture<'_>, page: &Page, browser: &crate::harness::Browser) -> Page {
    browser.submit(&page.form("post"), &[("tenant", &fixture.tenants[0]), ("decision", "allow")])
}

#[test]
fn consent_is_not_asked_by_default() {
    let fixture = shared_fixture();
    let browser = fixture.browser();
    let page =
        fixture.submit_credentials(&browser, &browser.start_authorization(&fixture.authorization_request()));
    assert!(page.params().contains_key("code"), "{page:?}");
}

#[test]
fn consent_page_lists_the_scopes_and_consent_lasts_as_long_as_the_grant() {
    let fixture = fixture_with_consent();
    let browser = fixture.browser();
    let page = fixture.tenant_page(&browser, &fixture.authorization_request());
    expect_consent_question(&page);
    for words in ["Panel de ventas", "Ver la contabilidad", "Recibir avisos de cambios", "Mantener el acceso"]
    {
        assert!(page.text().contains(words), "{words}: {}", page.text());
    }
    let allowed = allow(&fixture, &page, &browser);
    let tokens = Tokens::from_response(&fixture.exchange(&allowed.params()["code"]));
    assert!(
        browser.get(&fixture.authorization_request().path()).params().contains_key("code"),
        "consent was given before"
    );
    let less = fixture.authorization_request().with("scope", "openid SVC.ES.Webhooks");
    assert!(
        browser.get(&less.path()).params().contains_key("code"),
        "fewer scopes are covered by the consent"
    );
    let more = fixture.authorization_request().with("scope", "openid SVC.ES.Webhooks SVC.ES.EquipoContex");
    expect_consent_question(&browser.start_authorization(&more));
    expect_consent_question(
        &browser.start_authorization(&fixture.authorization_request().with("prompt", "consent")),
    );
    let silent = browser.get(&more.with("prompt", "none").path());
    assert_eq!(silent.params()["error"], "consent_required");
    assert_eq!(fixture.revoke(tokens.refresh()).status, 200);
    expect_consent_question(&browser.start_authorization(&fixture.authorization_request()));
}

#[test]
fn denied_consent_returns_access_denied() {
    let fixture = fixture_with_consent();
    let browser = fixture.browser();
    let page = fixture.tenant_page(&browser, &fixture.authorization_request());
    let denied = browser.submit(&page.form("post"), &[("decision", "deny")]);
    let params = denied.params();
    assert_eq!((params["error"].as_str(), params["state"].as_str()), ("access_denied", "af0ifjsldkj"));
    assert_eq!(params.get("code"), None);
    let records = fixture.audit(&format!("kind=consent_denied&client={}", fixture.app.id));
    assert_eq!((records.len(), records[0]["email"].as_str()), (1, Some(fixture.email.as_str())));
    expect_consent_question(&browser.start_authorization(&fixture.authorization_request()));
}

#[test]
fn consent_is_per_tenant() {
    let fixture = SignInFixture::on(crate::harness::shared_server(), 2, &["--consent"]);
    let browser = fixture.browser();
    let page = fixture.tenant_page(&browser, &fixture.authorization_request());
    expect_consent_question(&page);
    let allowed = allow(&fixture, &page, &browser);
    let tokens = Tokens::from_response(&fixture.exchange(&allowed.params()["code"]));
    assert_eq!(claims(tokens.access())["svc.es.clientid"], fixture.tenants[0]);
    expect_consent_question(&browser.start_authorization(&fixture.authorization_request()));
}

#[test]
fn prompt_consent_asks_every_client() {
    let fixture = SignInFixture::new();
    let browser = fixture.signed_in_browser();
    let page = browser.start_authorization(&fixture.authorization_request().with("prompt", "consent"));
    expect_consent_question(&page);
    assert!(allow(&fixture, &page, &browser).params().contains_key("code"));
}

#[test]
fn consent_requirement_can_be_changed() {
    let fixture = SignInFixture::new();
    let browser = fixture.signed_in_browser();
    fixture.command(&["client", "set", &fixture.app.id, "--consent", "true"]);
    expect_consent_question(&browser.start_authorization(&fixture.authorization_request()));
    fixture.command(&["client", "set", &fixture.app.id, "--consent", "false"]);
    assert!(browser.get(&fixture.authorization_request().path()).params().contains_key("code"));
}
