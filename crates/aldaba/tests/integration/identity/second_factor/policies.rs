//! `identity.second_factor`: off, optional, required.

use super::fixture::{FACTORS, Fixture, SESSION, TOTP, error_of};

fn with_policy(policy: &str) -> Fixture {
    Fixture::with(|builder| builder.set("identity.second_factor.users", policy))
}

#[test]
fn required_opens_only_the_enrolment() {
    let fixture = with_policy("required");
    let browser = fixture.signed_in();
    assert!(browser.cookie(SESSION).is_some());
    for page in ["/auth/core/permissions", "/auth/core/account"] {
        let page = browser.get(page);
        assert!(page.location().starts_with(FACTORS), "{page:?}");
    }
    let silent = browser.get(&fixture.request(&[("prompt", "none")]));
    assert_eq!(error_of(&silent), "interaction_required");
    let list = browser.follow_redirects(browser.get(&fixture.request(&[])));
    assert!(list.text().contains("second-factors/totp"), "{list:?}");
    fixture.enrol(&browser);
    assert_eq!(browser.get("/auth/core/permissions").status, 200);
    assert!(browser.get(&fixture.request(&[])).params().contains_key("code"));
}

#[test]
fn off_adds_none_and_refuses_clients_that_need_one() {
    let fixture = with_policy("off");
    let browser = fixture.signed_in();
    let list = browser.get(FACTORS);
    assert!(list.status == 200 && !list.text().contains("second-factors/totp"), "{list:?}");
    let add = browser.get(TOTP);
    assert!(add.location().starts_with(FACTORS), "{add:?}");
    for prompt in ["", "none"] {
        let refused = browser.get(&fixture.request(&[("acr_values", "2fa"), ("prompt", prompt)]));
        assert_eq!(error_of(&refused), "unmet_authentication_requirements", "{prompt}");
    }
}
