//! Applications that must ask: the question stands on the tenant page, and the answer as long as its grant.

use crate::harness::{Page, SignInFixture, Tokens, claims, shared_fixture};

fn asking() -> SignInFixture<'static> {
    SignInFixture::with_client(&["--consent"])
}

#[track_caller]
fn asks_consent(page: &Page) {
    let is_asked = page.text().contains("value=\"allow\"") && page.text().contains("value=\"deny\"");
    assert!(page.status == 200 && is_asked, "{page:?}");
}

fn allow(fixture: &SignInFixture<'_>, page: &Page, browser: &crate::harness::Browser) -> Page {
    browser.submit(&page.form("post"), &[("tenant", &fixture.tenants[0]), ("decision", "allow")])
}

#[test]
fn nobody_is_asked_by_default() {
    let fixture = shared_fixture();
    let browser = fixture.browser();
    let page =
        fixture.submit_credentials(&browser, &browser.start_authorization(&fixture.authorization_request()));
    assert!(page.params().contains_key("code"), "{page:?}");
}

#[test]
fn the_question_names_what_is_asked_for_and_stands_as_long_as_the_grant() {
    let fixture = asking();
    let browser = fixture.browser();
    let page = fixture.tenant_page(&browser, &fixture.authorization_request());
    asks_consent(&page);
    for words in ["Panel de ventas", "Ver la contabilidad", "Recibir avisos de cambios", "Mantener el acceso"]
    {
        assert!(page.text().contains(words), "{words}: {}", page.text());
    }
    let allowed = allow(&fixture, &page, &browser);
    let tokens = Tokens::from_response(&fixture.exchange(&allowed.params()["code"]));
    assert!(
        browser.get(&fixture.authorization_request().path()).params().contains_key("code"),
        "asked and answered"
    );
    let less = fixture.authorization_request().with("scope", "openid SVC.ES.Webhooks");
    assert!(browser.get(&less.path()).params().contains_key("code"), "less was allowed, too");
    let more = fixture.authorization_request().with("scope", "openid SVC.ES.Webhooks SVC.ES.EquipoContex");
    asks_consent(&browser.start_authorization(&more));
    asks_consent(&browser.start_authorization(&fixture.authorization_request().with("prompt", "consent")));
    let silent = browser.get(&more.with("prompt", "none").path());
    assert_eq!(silent.params()["error"], "consent_required");
    assert_eq!(fixture.revoke(tokens.refresh()).status, 200);
    asks_consent(&browser.start_authorization(&fixture.authorization_request()));
}

#[test]
fn who_says_no_sends_the_application_away() {
    let fixture = asking();
    let browser = fixture.browser();
    let page = fixture.tenant_page(&browser, &fixture.authorization_request());
    let denied = browser.submit(&page.form("post"), &[("decision", "deny")]);
    let params = denied.params();
    assert_eq!((params["error"].as_str(), params["state"].as_str()), ("access_denied", "af0ifjsldkj"));
    assert_eq!(params.get("code"), None);
    let records = fixture.audit(&format!("kind=consent_denied&client={}", fixture.app.id));
    assert_eq!((records.len(), records[0]["email"].as_str()), (1, Some(fixture.email.as_str())));
    asks_consent(&browser.start_authorization(&fixture.authorization_request()));
}

#[test]
fn a_consent_is_for_one_tenant() {
    let fixture = SignInFixture::on(crate::harness::shared_server(), 2, &["--consent"]);
    let browser = fixture.browser();
    let page = fixture.tenant_page(&browser, &fixture.authorization_request());
    asks_consent(&page);
    let allowed = allow(&fixture, &page, &browser);
    let tokens = Tokens::from_response(&fixture.exchange(&allowed.params()["code"]));
    assert_eq!(claims(tokens.access())["svc.es.clientid"], fixture.tenants[0]);
    asks_consent(&browser.start_authorization(&fixture.authorization_request()));
}

#[test]
fn prompt_consent_asks_for_any_client() {
    let fixture = SignInFixture::new();
    let browser = fixture.signed_in_browser();
    let page = browser.start_authorization(&fixture.authorization_request().with("prompt", "consent"));
    asks_consent(&page);
    assert!(allow(&fixture, &page, &browser).params().contains_key("code"));
}

#[test]
fn whether_it_asks_can_be_changed() {
    let fixture = SignInFixture::new();
    let browser = fixture.signed_in_browser();
    fixture.command(&["client", "set", &fixture.app.id, "--consent", "true"]);
    asks_consent(&browser.start_authorization(&fixture.authorization_request()));
    fixture.command(&["client", "set", &fixture.app.id, "--consent", "false"]);
    assert!(browser.get(&fixture.authorization_request().path()).params().contains_key("code"));
}
