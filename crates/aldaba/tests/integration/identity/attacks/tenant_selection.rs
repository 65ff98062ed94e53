//! Attacks on tenant selection: tenants of others, disabled tenants, and similar names.

use super::attack_fixture;
use crate::harness::{Tokens, claims, oauth_error};

#[test]
fn tenant_without_a_membership_cannot_be_chosen() {
    let fixture = attack_fixture(3, &[]);
    let foreign = attack_fixture(1, &[]).tenants[0].clone();
    let browser = fixture.browser();
    let page = fixture.tenant_page(&browser, &fixture.authorization_request());
    let disabled = fixture.tenants[2].clone();
    fixture.command(&["tenant", "disable", &disabled]);
    let own = fixture.tenants[0].as_str();
    let almost =
        [own.to_uppercase(), format!("{own} "), format!("{own}\0"), format!("{own}' OR '1'='1"), "%".into()];
    let mut wrong = vec![foreign.as_str(), disabled.as_str(), "nobody", "", " ", "*"];
    wrong.extend(almost.iter().map(String::as_str));
    for tenant in wrong {
        let refused = browser.submit(&page.form("post"), &[("tenant", tenant), ("decision", "allow")]);
        refused.assert_error_page();
        assert!(!refused.has_code(), "{tenant:?}: {refused:?}");
        assert!(!refused.choices("tenant").contains(&foreign), "and it is not listed either");
    }
    let doubled = [("ticket", page.value("ticket")), ("tenant", own.into()), ("tenant", foreign.clone())];
    let doubled: Vec<(&str, &str)> = doubled.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert!(!browser.post("/auth/core/tenant", &doubled).has_code());
    let granted = browser.submit(&page.form("post"), &[("tenant", own), ("decision", "allow")]);
    let tokens = Tokens::from_response(&fixture.exchange(&granted.params()["code"]));
    assert_eq!(claims(tokens.access())["svc.es.clientid"], own);
    fixture.server.assert_healthy();
}

#[test]
fn client_cannot_choose_a_tenant_for_the_user() {
    let fixture = attack_fixture(2, &[]);
    let foreign = attack_fixture(1, &[]).tenants[0].clone();
    let browser = fixture.browser();
    fixture.tenant_page(&browser, &fixture.authorization_request());
    for tenant in [foreign.as_str(), &fixture.tenants[1]] {
        let request = fixture.authorization_request().with("acr_values", &format!("tenant:{tenant}"));
        let page = browser.follow_redirects(browser.get(&request.path()));
        assert!(page.has_field("tenant") && !page.has_code(), "the user chooses: {page:?}");
        let silent = browser.get(&request.with("prompt", "none").path());
        assert_eq!(silent.params()["error"], "interaction_required", "{tenant}");
    }
    fixture.server.assert_healthy();
}

#[test]
fn tenant_disabled_during_the_sign_in_is_refused() {
    let fixture = attack_fixture(2, &[]);
    let browser = fixture.browser();
    let code = fixture.code_in_browser(&browser, &fixture.authorization_request());
    fixture.command(&["user", "leave", &fixture.email, &fixture.tenants[0]]);
    assert_eq!(oauth_error(&fixture.exchange(&code), 400), "invalid_grant");
    fixture.server.assert_healthy();
}
