//! `identity.second_factor`: off, optional, required.

use super::fixture::{FACTORS, Fixture, SESSION, TOTP, error_of};
use crate::harness::{Authenticator, Browser};

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

/// A passkey that was added while the policy allowed it: alone it signs nobody in any more, not even with a page that was
/// open before. After the password it is still asked for.
#[test]
fn off_refuses_a_passkey_alone_and_asks_for_it_after_the_password() {
    let folder = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", folder.path().join("aldaba.db").display());
    let fixture = Fixture::with(|builder| builder.set("store.url", &store));
    let (authenticator, origin) = (Authenticator::new(1), fixture.named_origin());
    let browser = Browser::new(&origin);
    fixture.enter_password(&browser, &browser.get("/auth/core/login"));
    let (form, options) = browser.get(&format!("{FACTORS}/passkey")).passkey_form().unwrap();
    let made =
        browser.submit(&form, &[("passkey", &authenticator.create(&options, &origin)), ("name", "Portátil")]);
    assert_eq!(made.status, 200, "{made:?}");
    let open_pages = [(); 2].map(|()| {
        let browser = Browser::new(&origin);
        let page = browser.get("/auth/core/login").passkey_form().unwrap();
        (browser.cookie("aldaba-browser").unwrap(), page)
    });

    let mut fixture = fixture;
    for (policy, (id, (form, options))) in ["optional", "off"].into_iter().zip(open_pages) {
        fixture = fixture.restarted(|builder| {
            builder.set("store.url", &store).set("identity.second_factor.users", policy)
        });
        let origin = fixture.named_origin();
        let browser = Browser::new(&origin);
        browser.set_cookie("aldaba-browser", &id);
        let done = browser.submit(&form, &[("passkey", &authenticator.get(&options, &origin))]);
        let leads_to = if policy == "off" { "/auth/core/login?" } else { "/auth/core/permissions?" };
        assert!(done.location().starts_with(leads_to), "{policy}: {done:?}");
        assert_eq!(browser.cookie(SESSION).is_none(), policy == "off", "{policy}");
    }

    let origin = fixture.named_origin();
    let browser = Browser::new(&origin);
    let login = browser.get("/auth/core/login");
    assert!(login.passkey_form().is_none(), "not offered: {}", login.text());
    let step = browser.follow_redirects(fixture.enter_password(&browser, &login));
    assert_eq!(browser.cookie(SESSION), None, "the password alone is not enough: {step:?}");
    let (form, options) = step.passkey_form().unwrap();
    browser.submit(&form, &[("passkey", &authenticator.get(&options, &origin))]);
    assert_eq!(browser.get("/auth/core/permissions").status, 200);
}
