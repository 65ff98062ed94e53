//! Attacks on the choice of a tenant: others', closed ones, and names that are almost one's own.

use super::fixture;
use crate::harness::{Tokens, claims, oauth_error};

#[test]
fn a_tenant_that_is_not_ones_own_cannot_be_chosen() {
    let fixture = fixture(3, &[]);
    let foreign = self::fixture(1, &[]).tenants[0].clone();
    let browser = fixture.browser();
    let page = fixture.tenant_page(&browser, &fixture.authorization_request());
    let closed = fixture.tenants[2].clone();
    fixture.command(&["tenant", "disable", &closed]);
    let own = fixture.tenants[0].as_str();
    let almost =
        [own.to_uppercase(), format!("{own} "), format!("{own}\0"), format!("{own}' OR '1'='1"), "%".into()];
    let mut wrong = vec![foreign.as_str(), closed.as_str(), "nobody", "", " ", "*"];
    wrong.extend(almost.iter().map(String::as_str));
    for tenant in wrong {
        let refused = browser.submit(&page.form("post"), &[("tenant", tenant), ("decision", "allow")]);
        refused.assert_error_page();
        assert!(!refused.has_code(), "{tenant:?}: {refused:?}");
        assert!(!refused.choices("tenant").contains(&foreign), "and it is not shown either");
    }
    let doubled = [("ticket", page.value("ticket")), ("tenant", own.into()), ("tenant", foreign.clone())];
    let doubled: Vec<(&str, &str)> = doubled.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert!(!browser.post("/auth/core/tenant", &doubled).has_code());
    let given = browser.submit(&page.form("post"), &[("tenant", own), ("decision", "allow")]);
    let tokens = Tokens::from_response(&fixture.exchange(&given.params()["code"]));
    assert_eq!(claims(tokens.access())["svc.es.clientid"], own);
    fixture.server.assert_healthy();
}

#[test]
fn an_application_cannot_name_a_tenant_into_being_chosen() {
    let fixture = fixture(2, &[]);
    let foreign = self::fixture(1, &[]).tenants[0].clone();
    let browser = fixture.browser();
    fixture.tenant_page(&browser, &fixture.authorization_request());
    for tenant in [foreign.as_str(), &fixture.tenants[1]] {
        let request = fixture.authorization_request().with("acr_values", &format!("tenant:{tenant}"));
        let page = browser.follow_redirects(browser.get(&request.path()));
        assert!(page.has_field("tenant") && !page.has_code(), "the person chooses: {page:?}");
        let silent = browser.get(&request.with("prompt", "none").path());
        assert_eq!(silent.params()["error"], "interaction_required", "{tenant}");
    }
    fixture.server.assert_healthy();
}

#[test]
fn a_tenant_that_was_closed_on_the_way_is_closed() {
    let fixture = fixture(2, &[]);
    let browser = fixture.browser();
    let code = fixture.code_in_browser(&browser, &fixture.authorization_request());
    fixture.command(&["user", "leave", &fixture.email, &fixture.tenants[0]]);
    assert_eq!(oauth_error(&fixture.exchange(&code), 400), "invalid_grant");
    fixture.server.assert_healthy();
}
