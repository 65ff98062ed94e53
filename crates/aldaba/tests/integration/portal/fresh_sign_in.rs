//! What reveals or replaces a secret needs a sign-in of a short time ago, and the way back to the page.

use std::sync::Arc;
use std::time::Duration;

use hyper::Method;
use serde_json::json;
use testserver::{Request, TestClock, TestServer};

use super::fixture::{Developer, PASSWORD};

/// Longer than a sign-in counts as fresh, and shorter than a session.
const LATER: Duration = Duration::from_secs(60 * 60);

#[test]
fn secrets_are_revealed_and_replaced_after_a_fresh_sign_in_alone() {
    let clock = Arc::new(TestClock::default());
    let server = TestServer::builder().clock(clock.clone()).start();
    let developer = Developer::sign_in(&server, "diego");
    let body = json!({"name": "Panel", "products": ["accounting"], "team": "diego"});
    let made = server.operator_post("subscriptions", &body);
    let (subscription, key) =
        (made["subscription"]["id"].as_str().unwrap(), made["primaryKey"].as_str().unwrap());
    let client = server.add_client("Panel").id;
    let url = format!("{}/operator/v1/clients/{client}", server.operator_url());
    let joins =
        Request::new(Method::PATCH, &url).bearer(server.operator_token()).json(&json!({"team": "diego"}));
    joins.send().expect_status(200);
    let keys = format!("subscriptions/{subscription}");
    let application = format!("applications/{client}");
    let home = String::new();
    for (page, action, shown) in [
        (&home, "fill", "Ocp-Apim-Subscription-Key: "),
        (&keys, "reveal", "id=\"shown-key\""),
        (&keys, "regenerate", "id=\"shown-key\""),
        (&application, "rotate", "id=\"new-secret\""),
    ] {
        clock.advance(LATER);
        let fields = [("do", action), ("overlap", "day")];
        let asked = developer.submit(page, &fields);
        assert!(asked.status == 302 || asked.status == 303, "{action}: {asked:?}");
        assert!(!asked.text().contains(key), "{action}: {asked:?}");
        let sign_in = developer.browser.follow_redirects(asked);
        let filled = [("username", "diego@developers.example"), ("password", PASSWORD)];
        let back = developer.browser.submit(&sign_in.form("post"), &filled);
        assert!(back.location().ends_with(page.as_str()), "{action}: {back:?}");
        let done = developer.submit(page, &fields);
        assert_eq!(done.status, 200, "{action}: {done:?}");
        assert!(done.text().contains(shown), "{action}: {}", done.text());
        assert_eq!(
            done.text().contains(key),
            ["fill", "reveal"].contains(&action),
            "{action}: {}",
            done.text()
        );
    }
}
