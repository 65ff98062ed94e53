//! The reference page.

use hyper::Method;
use serde_json::json;
use testserver::{Request, TestServer};

use super::fixture::Developer;

#[test]
fn reference_names_the_apis_the_documents_and_the_tools() {
    let server = TestServer::start();
    let developer = Developer::sign_in(&server, "diego");
    let base = server.base_url();
    for (lang, words) in [
        ("es", ["Referencia", "Nóminas", "Línea de comandos"]),
        ("en", ["Reference", "Payroll", "Command line"]),
    ] {
        let page = developer.get_in(lang, "reference");
        for word in words {
            assert!(page.contains(word), "{lang}: {word}: {page}");
        }
        for place in [
            "/accounting/api",
            "/accounting-core/api",
            "/accounting-import/api",
            "/payroll/api",
            "/invoicing/api",
        ] {
            assert!(page.contains(&format!("<code>{base}{place}</code>")), "{lang}: {place}: {page}");
        }
        for link in ["openapi.json", "asyncapi.json"] {
            assert!(page.contains(&format!("href=\"{base}/{link}\"")), "{lang}: {link}: {page}");
        }
        assert!(page.contains("href=\"/docs/\""), "{page}");
        for tool in ["/customers/changes?after=0", "aldaba listen", "aldaba verify", "aldaba_client"] {
            assert!(page.contains(tool), "{lang}: {tool}: {page}");
        }
    }
    let apis = developer.get("reference?format=json").json();
    assert_eq!(apis["apis"].as_array().unwrap().len(), 5);
    assert_eq!(developer.get("reference?format=csv").text().lines().count(), 6);
}

#[test]
fn reference_does_not_link_to_a_page_that_is_switched_off() {
    let server = TestServer::builder().set("server.docs", "false").start();
    let developer = Developer::sign_in(&server, "diego");
    let page = developer.get_in("en", "reference");
    assert!(
        !page.contains("/docs/\"") && !page.contains("/docs/#") && page.contains("switched off"),
        "{page}"
    );
}

/// A subscription of a team: its id and its primary key.
fn add_subscription(server: &TestServer, team: &str, is_sandbox: bool) -> (String, String) {
    let body = json!({"name": "Pruebas", "products": ["accounting"], "team": team});
    let made = server.operator_post("subscriptions", &body);
    let text = |pointer: &str| made.pointer(pointer).unwrap().as_str().unwrap().to_owned();
    let (id, key) = (text("/subscription/id"), text("/primaryKey"));
    let url = format!("{}/operator/v1/subscriptions/{id}", server.operator_url());
    let change = Request::new(Method::PATCH, &url).bearer(server.operator_token());
    change.json(&json!({"sandbox": is_sandbox})).send().expect_status(200);
    (id, key)
}

/// An application of a team.
fn add_application(server: &TestServer, team: &str) -> String {
    let client = server.add_client("Panel de ventas").id;
    let url = format!("{}/operator/v1/clients/{client}", server.operator_url());
    let change = Request::new(Method::PATCH, &url).bearer(server.operator_token());
    change.json(&json!({"team": team})).send().expect_status(200);
    client
}

#[test]
fn key_and_sandbox_token_are_ready_for_the_page_that_tries_calls() {
    let server = TestServer::start();
    let (developer, other) = (Developer::sign_in(&server, "diego"), Developer::sign_in(&server, "elisa"));
    assert!(developer.get_in("en", "reference").contains("your team has no active subscription yet"));
    let (real, _) = add_subscription(&server, "diego", false);
    let (id, key) = add_subscription(&server, "diego", true);
    let (theirs, _) = add_subscription(&server, "elisa", true);
    let page = developer.get_in("en", "reference");
    assert!(page.contains("Your team has no active application"), "{page}");
    assert!(page.contains(&real) && !page.contains(&theirs) && !page.contains(&key), "{page}");
    // The key alone, without an application.
    let revealed = developer.submit("reference", &[("subscription", &id), ("do", "prefill")]);
    let handed_over = "href=\"/docs/\" data-hand-over=\"subscriptionKey=docs-key\"";
    assert!(revealed.text().contains(&key) && revealed.text().contains(handed_over), "{}", revealed.text());
    let (client, their_client) = (add_application(&server, "diego"), add_application(&server, "elisa"));
    let page = developer.get_in("en", "reference");
    assert!(page.contains(&client) && !page.contains(&their_client), "{page}");
    let fields = [("subscription", id.as_str()), ("application", &client), ("do", "prefill")];
    let revealed = developer.submit("reference", &fields);
    assert_eq!(revealed.status, 200, "{revealed:?}");
    let handed_over = "href=\"/docs/\" data-hand-over=\"subscriptionKey=docs-key accessToken=docs-token\"";
    assert!(revealed.text().contains(&key) && revealed.text().contains(handed_over), "{}", revealed.text());
    let (_, rest) = revealed.text().split_once("id=\"docs-token\">").unwrap();
    let token = rest.split('<').next().unwrap();
    for secret in [key.as_str(), token] {
        assert!(!revealed.text().contains(&format!("={secret}")), "never in a URL");
    }
    let call = Request::get(&format!("{}/accounting/api/companies", server.base_url())).bearer(token);
    call.header("ocp-apim-subscription-key", &key).send().expect_status(200);
    let not_found = |developer: &Developer, subscription: &str, application: &str| {
        let fields = [("subscription", subscription), ("application", application), ("do", "prefill")];
        assert_eq!(developer.submit("reference", &fields).status, 404, "{subscription} {application}");
    };
    not_found(&developer, &theirs, &client);
    not_found(&developer, &id, &their_client);
    not_found(&other, &id, &their_client);
}

#[test]
fn reference_says_that_sandboxes_are_switched_off() {
    let server = TestServer::builder().set("portal.sandbox", "false").start();
    let developer = Developer::sign_in(&server, "diego");
    add_subscription(&server, "diego", true);
    let page = developer.get_in("en", "reference");
    assert!(page.contains("has switched the sandboxes off") && !page.contains("value=\"prefill\""), "{page}");
}

#[test]
fn key_is_revealed_only_soon_after_a_sign_in() {
    let clock = std::sync::Arc::new(testserver::TestClock::default());
    let server = TestServer::builder().clock(clock.clone()).start();
    let developer = Developer::sign_in(&server, "diego");
    let (id, key) = add_subscription(&server, "diego", true);
    clock.advance(std::time::Duration::from_secs(60 * 60));
    let asked = developer.submit("reference", &[("subscription", &id), ("do", "prefill")]);
    assert!(asked.status == 302 || asked.status == 303, "{asked:?}");
    assert!(!asked.text().contains(&key), "{asked:?}");
}
