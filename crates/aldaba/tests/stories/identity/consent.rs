//! Applications that must ask: the question stands on the tenant page, and the answer as long as its grant.

use crate::harness::{Office, Page, Tokens, claims, lobby};

fn asking() -> Office<'static> {
    Office::with_client(&["--consent"])
}

#[track_caller]
fn asks_consent(page: &Page) {
    let is_asked = page.text().contains("value=\"allow\"") && page.text().contains("value=\"deny\"");
    assert!(page.status == 200 && is_asked, "{page:?}");
}

fn allow(office: &Office<'_>, page: &Page, browser: &crate::harness::Browser) -> Page {
    browser.submit(&page.form("post"), &[("tenant", &office.tenants[0]), ("decision", "allow")])
}

#[test]
fn nobody_is_asked_by_default() {
    let office = lobby();
    let browser = office.browser();
    let page = office.enter(&browser, &browser.ask(&office.ask()));
    assert!(page.params().contains_key("code"), "{page:?}");
}

#[test]
fn the_question_names_what_is_asked_for_and_stands_as_long_as_the_grant() {
    let office = asking();
    let browser = office.browser();
    let page = office.tenant_page(&browser, &office.ask());
    asks_consent(&page);
    for words in ["Panel de ventas", "Ver la contabilidad", "Recibir avisos de cambios", "Mantener el acceso"]
    {
        assert!(page.text().contains(words), "{words}: {}", page.text());
    }
    let allowed = allow(&office, &page, &browser);
    let tokens = Tokens::of(&office.exchange(&allowed.params()["code"]));
    assert!(browser.get(&office.ask().path()).params().contains_key("code"), "asked and answered");
    let less = office.ask().with("scope", "openid SVC.ES.Webhooks");
    assert!(browser.get(&less.path()).params().contains_key("code"), "less was allowed, too");
    let more = office.ask().with("scope", "openid SVC.ES.Webhooks SVC.ES.EquipoContex");
    asks_consent(&browser.ask(&more));
    asks_consent(&browser.ask(&office.ask().with("prompt", "consent")));
    let silent = browser.get(&more.with("prompt", "none").path());
    assert_eq!(silent.params()["error"], "consent_required");
    assert_eq!(office.revoke(tokens.refresh()).status, 200);
    asks_consent(&browser.ask(&office.ask()));
}

#[test]
fn who_says_no_sends_the_application_away() {
    let office = asking();
    let browser = office.browser();
    let page = office.tenant_page(&browser, &office.ask());
    let denied = browser.submit(&page.form("post"), &[("decision", "deny")]);
    let params = denied.params();
    assert_eq!((params["error"].as_str(), params["state"].as_str()), ("access_denied", "af0ifjsldkj"));
    assert_eq!(params.get("code"), None);
    let records = office.audit(&format!("kind=consent_denied&client={}", office.app.id));
    assert_eq!((records.len(), records[0]["email"].as_str()), (1, Some(office.email.as_str())));
    asks_consent(&browser.ask(&office.ask()));
}

#[test]
fn a_consent_is_for_one_tenant() {
    let office = Office::on(crate::harness::shared(), 2, &["--consent"]);
    let browser = office.browser();
    let page = office.tenant_page(&browser, &office.ask());
    asks_consent(&page);
    let allowed = allow(&office, &page, &browser);
    let tokens = Tokens::of(&office.exchange(&allowed.params()["code"]));
    assert_eq!(claims(tokens.access())["svc.es.clientid"], office.tenants[0]);
    asks_consent(&browser.ask(&office.ask()));
}

#[test]
fn prompt_consent_asks_for_any_client() {
    let office = Office::new();
    let browser = office.signed_in();
    let page = browser.ask(&office.ask().with("prompt", "consent"));
    asks_consent(&page);
    assert!(allow(&office, &page, &browser).params().contains_key("code"));
}

#[test]
fn whether_it_asks_can_be_changed() {
    let office = Office::new();
    let browser = office.signed_in();
    office.command(&["client", "set", &office.app.id, "--consent", "true"]);
    asks_consent(&browser.ask(&office.ask()));
    office.command(&["client", "set", &office.app.id, "--consent", "false"]);
    assert!(browser.get(&office.ask().path()).params().contains_key("code"));
}
