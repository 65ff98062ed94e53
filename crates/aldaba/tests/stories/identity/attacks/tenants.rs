//! Attacks on the choice of a tenant: others', closed ones, and names that are almost one's own.

use super::office;
use crate::harness::{Tokens, claims, oauth_error};

#[test]
fn a_tenant_that_is_not_ones_own_cannot_be_chosen() {
    let office = office(3, &[]);
    let foreign = self::office(1, &[]).tenants[0].clone();
    let browser = office.browser();
    let page = office.tenant_page(&browser, &office.ask());
    let closed = office.tenants[2].clone();
    office.command(&["tenant", "disable", &closed]);
    let own = office.tenants[0].as_str();
    let almost =
        [own.to_uppercase(), format!("{own} "), format!("{own}\0"), format!("{own}' OR '1'='1"), "%".into()];
    let mut wrong = vec![foreign.as_str(), closed.as_str(), "nobody", "", " ", "*"];
    wrong.extend(almost.iter().map(String::as_str));
    for tenant in wrong {
        let refused = browser.submit(&page.form("post"), &[("tenant", tenant), ("decision", "allow")]);
        refused.is_refusal();
        assert!(!refused.has_code(), "{tenant:?}: {refused:?}");
        assert!(!refused.choices("tenant").contains(&foreign), "and it is not shown either");
    }
    let doubled = [("ticket", page.value("ticket")), ("tenant", own.into()), ("tenant", foreign.clone())];
    let doubled: Vec<(&str, &str)> = doubled.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert!(!browser.post("/auth/core/tenant", &doubled).has_code());
    let given = browser.submit(&page.form("post"), &[("tenant", own), ("decision", "allow")]);
    let tokens = Tokens::of(&office.exchange(&given.params()["code"]));
    assert_eq!(claims(tokens.access())["svc.es.clientid"], own);
    office.serve.is_well();
}

#[test]
fn an_application_cannot_name_a_tenant_into_being_chosen() {
    let office = office(2, &[]);
    let foreign = self::office(1, &[]).tenants[0].clone();
    let browser = office.browser();
    office.tenant_page(&browser, &office.ask());
    for tenant in [foreign.as_str(), &office.tenants[1]] {
        let ask = office.ask().with("acr_values", &format!("tenant:{tenant}"));
        let page = browser.settle(browser.get(&ask.path()));
        assert!(page.has_field("tenant") && !page.has_code(), "the person chooses: {page:?}");
        let silent = browser.get(&ask.with("prompt", "none").path());
        assert_eq!(silent.params()["error"], "interaction_required", "{tenant}");
    }
    office.serve.is_well();
}

#[test]
fn a_tenant_that_was_closed_on_the_way_is_closed() {
    let office = office(2, &[]);
    let browser = office.browser();
    let code = office.code_in(&browser, &office.ask());
    office.command(&["user", "leave", &office.email, &office.tenants[0]]);
    assert_eq!(oauth_error(&office.exchange(&code), 400), "invalid_grant");
    office.serve.is_well();
}
