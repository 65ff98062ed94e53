//! What only the pages of `aldaba dev` show: the addresses of an application, and values that the pages of the APIs fill in.

use serde_json::Value;

use crate::harness::{Browser, Dev, HttpRequest};

fn settings(url: &str, host: &str) -> Value {
    HttpRequest::get(url).header("host", host).send().json()
}

#[test]
fn error_page_shows_the_address_that_was_sent_and_the_registered_ones() {
    let dev = Dev::start(&[]);
    let client = dev.ready["client"]["client_id"].as_str().unwrap();
    let ask = |uri: &str| {
        let path =
            format!("/auth/core/connect/authorize?client_id={client}&response_type=code&redirect_uri={uri}");
        Browser::new(dev.text("auth_url")).get(&path)
    };
    let page = ask("http%3A%2F%2Flocalhost%3A8765%2Fcallback%2F");
    assert_eq!(page.status, 400, "{page:?}");
    for shown in [
        ">http://localhost:8765/callback/<",
        ">http://localhost:8765/callback<",
        &format!("aldaba client redirect {client} 'http://localhost:8765/callback/'"),
    ] {
        assert!(page.text().contains(shown), "{shown}: {}", page.text());
    }
    let page = ask("https%3A%2F%2Fx.example%2F%27%3Breboot");
    assert!(page.status == 400 && !page.text().contains("aldaba client redirect"), "{}", page.text());
}

#[test]
fn pages_of_the_apis_fill_in_what_this_machine_may_know() {
    let dev = Dev::start(&[]);
    let (public, operator) = (
        format!("{}/docs/settings.json", dev.text("base_url")),
        format!("{}/operator/docs/settings.json", dev.text("operator_url")),
    );
    let filled = settings(&public, "localhost");
    let key = &dev.ready["subscription"]["primary_key"];
    assert_eq!(filled["authorize"]["subscriptionKey"], *key);
    assert_eq!(filled["signIn"]["clientId"], dev.ready["client"]["client_id"]);
    assert_eq!(filled["signIn"]["clientSecret"], dev.ready["client"]["client_secret"]);
    let token = filled["authorize"]["accessToken"].as_str().unwrap();
    let companies = HttpRequest::get(&format!("{}/accounting/api/companies", dev.text("base_url")))
        .header("ocp-apim-subscription-key", key.as_str().unwrap())
        .header("authorization", &format!("Bearer {token}"))
        .send();
    assert_eq!(companies.status, 200, "{companies:?}");
    assert_eq!(settings(&public, "localhost")["authorize"]["accessToken"], token, "one sign-in is enough");
    assert_eq!(settings(&operator, "localhost")["authorize"]["operatorToken"], dev.ready["operator_token"]);
    for url in [&public, &operator] {
        let rebound = settings(url, "rebound.example");
        assert_eq!(rebound["authorize"], serde_json::json!({}), "a name that leads here gets nothing");
        assert!(rebound["signIn"]["clientSecret"].is_null());
    }
}
