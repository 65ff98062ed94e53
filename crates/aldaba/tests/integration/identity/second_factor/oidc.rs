//! `acr_values=2fa`, `max_age` and `prompt` with a second factor.

use std::time::Duration;

use super::fixture::{Fixture, error_of, shown_recovery_codes, shown_secret};

#[test]
fn second_factor_is_added_where_a_client_asks_for_it() {
    let fixture = Fixture::new();
    let browser = fixture.signed_in();
    let plain = browser.get(&fixture.request(&[]));
    assert!(plain.params().contains_key("code"), "{plain:?}");
    let silent = browser.get(&fixture.request(&[("acr_values", "2fa"), ("prompt", "none")]));
    assert_eq!(error_of(&silent), "interaction_required");

    let asked = [("acr_values", format!("2fa tenant:{}", fixture.tenant.id))];
    let asked: Vec<(&str, &str)> = asked.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let list = browser.follow_redirects(browser.get(&fixture.request(&asked)));
    assert_eq!(list.status, 200, "{list:?}");
    let link = list.text().split("href=\"").find_map(|piece| {
        let href = piece.split('"').next().unwrap();
        href.contains("second-factors/totp").then(|| href.replace("&amp;", "&"))
    });
    let page = browser.get(&link.unwrap());
    let app = shown_secret(&page);
    let done = browser.submit(&page.form("post"), &[("code", &fixture.code(&app)), ("name", "Móvil")]);
    assert_eq!(shown_recovery_codes(&done).len(), 10);
    let go_on = done.text().split("href=\"").find_map(|piece| {
        let href = piece.split('"').next().unwrap();
        href.contains("/second-factor?ticket=").then(|| href.replace("&amp;", "&"))
    });
    let callback = browser.follow_redirects(browser.get(&go_on.unwrap()));
    let (access, id, _) = fixture.tokens(&callback);
    assert_eq!((&access["amr"], &id["acr"]), (&serde_json::json!(["password", "2fa"]), &"2fa".into()));

    // From now on the session has it.
    let silent = browser.get(&fixture.request(&[("acr_values", "2fa"), ("prompt", "none")]));
    assert!(silent.params().contains_key("code"), "{silent:?}");
}

#[test]
fn fresh_second_factor_can_be_asked_for() {
    let (fixture, app, _) = Fixture::enrolled();
    let (browser, page) = fixture.at_second_step(&[("acr_values", "2fa")]);
    let callback = fixture.give_code(&browser, &page, &app);
    assert!(callback.params().contains_key("code"));
    fixture.clock.advance(Duration::from_secs(120));
    let young = browser.get(&fixture.request(&[("acr_values", "2fa"), ("max_age", "300")]));
    assert!(young.params().contains_key("code"), "{young:?}");
    let silent =
        browser.get(&fixture.request(&[("acr_values", "2fa"), ("max_age", "60"), ("prompt", "none")]));
    assert_eq!(error_of(&silent), "login_required");
    let login =
        browser.follow_redirects(browser.get(&fixture.request(&[("acr_values", "2fa"), ("max_age", "60")])));
    assert!(login.has_field("password"), "{login:?}");
    let page = browser.follow_redirects(fixture.enter_password(&browser, &login));
    let callback = fixture.give_code(&browser, &page, &app);
    let (_, id, _) = fixture.tokens(&callback);
    let now = domain::Clock::now(&*fixture.clock).unix_seconds();
    assert_eq!((&id["acr"], id["auth_time"].as_i64()), (&"2fa".into(), Some(now)));
}

#[test]
fn discovery_names_the_second_factor() {
    let fixture = Fixture::new();
    let document = fixture.server.get("/auth/core/.well-known/openid-configuration").json();
    assert_eq!(document["acr_values_supported"], serde_json::json!(["2fa"]));
    let claims = document["claims_supported"].as_array().unwrap();
    assert!(claims.iter().any(|claim| claim == "acr"));
}
