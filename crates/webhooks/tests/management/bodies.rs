//! Request bodies: what is valid, and how faults are reported.

use serde_json::json;
use webhooks::management::Operation;

use crate::fixture::{CUSTOMERS, Fixture, ZERO_ID, invoicing_body, subscription_body, subscription_with};

#[tokio::test]
async fn faults_of_a_subscription_name_their_member() {
    let fixture = Fixture::new().with_tenants().await;
    let of_accounts = "Svc.ACC.Accounts.AccountCreated";
    for (name, value, code) in [
        ("thirdPartyApplicationName", json!(null), "missing_member"),
        ("thirdPartyApplicationName", json!(7), "invalid_member"),
        ("thirdPartyApplicationName", json!(""), "invalid_member"),
        ("thirdPartyApplicationName", json!("a".repeat(201)), "invalid_member"),
        ("url", json!(null), "missing_member"),
        ("url", json!(true), "invalid_member"),
        ("url", json!("receiver.example"), "invalid_url"),
        ("url", json!("http://receiver.example/"), "invalid_url"),
        ("url", json!("https://receiver.example:8443/"), "invalid_url"),
        ("url", json!("https://user:pass@receiver.example/"), "invalid_url"),
        ("url", json!("https://receiver.example/#x"), "invalid_url"),
        ("url", json!(format!("https://receiver.example/{}", "a".repeat(2048))), "invalid_url"),
        ("url", json!("http://localhost:9000/"), "invalid_url"),
        ("url", json!("https://127.0.0.1/"), "refused_address"),
        ("url", json!("https://169.254.169.254/"), "refused_address"),
        ("url", json!("https://[::ffff:10.0.0.1]/"), "refused_address"),
        ("url", json!("https://inside.example/"), "refused_address"),
        ("url", json!("https://nowhere.example/"), "unresolved_host"),
        ("secret", json!(null), "missing_member"),
        ("secret", json!(5), "invalid_member"),
        ("secret", json!(""), "invalid_member"),
        ("secret", json!("ñ".repeat(129)), "invalid_member"),
        ("eventTypes", json!(null), "missing_member"),
        ("eventTypes", json!([]), "invalid_member"),
        ("eventTypes", json!("Svc.ACC.Customers.CustomerCreated"), "invalid_member"),
        ("eventTypes", json!([7]), "invalid_member"),
        ("eventTypes", json!([of_accounts]), "unknown_event_type"),
        ("eventTypes", json!([format!("{CUSTOMERS}CustomerCreated"), of_accounts]), "unknown_event_type"),
        ("eventTypes", json!([format!("{CUSTOMERS}Acknowledge")]), "unknown_event_type"),
        ("eventTypes", json!([format!("{CUSTOMERS}CustomerDeleted")]), "unknown_event_type"),
    ] {
        let reply = fixture
            .customers(Operation::Subscribe)
            .body(&subscription_with(name, value.clone()))
            .send()
            .await;
        reply.assert_failed(400, ZERO_ID, code, Some(name));
        assert!(reply.body["message"].as_str().unwrap().starts_with(name), "{value}: {reply:?}");
    }
    assert_eq!(fixture.customers(Operation::List).send().await.body, json!([]), "nothing was made");
}

#[tokio::test]
async fn secret_may_have_256_bytes() {
    let fixture = Fixture::new().with_tenants().await;
    let body = subscription_with("secret", json!("ñ".repeat(128)));
    fixture.customers(Operation::Subscribe).body(&body).send().await.assert_done(3);
}

#[tokio::test]
async fn unanswered_name_lookup_asks_to_try_again() {
    let fixture = Fixture::new().with_tenants().await;
    let body = subscription_with("url", json!("https://silent.example/"));
    let reply = fixture.customers(Operation::Subscribe).body(&body).send().await;
    reply.assert_failed(400, ZERO_ID, "unresolved_host", Some("url"));
    assert!(reply.body["message"].as_str().unwrap().ends_with("Try again."), "{reply:?}");
}

#[tokio::test]
async fn all_faults_are_reported_at_once() {
    let fixture = Fixture::new().with_tenants().await;
    let reply = fixture.customers(Operation::Subscribe).body(&json!({"Url": "x", "secret": 5})).send().await;
    let fields: Vec<&str> = reply.body["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fault| fault["field"].as_str().unwrap())
        .collect();
    assert_eq!(fields, ["thirdPartyApplicationName", "url", "secret", "eventTypes"]);
    assert_eq!(reply.body["errors"][1]["message"], "url is missing; there is \"Url\".");
}

#[tokio::test]
async fn unknown_members_and_a_byte_order_mark_are_ignored() {
    let fixture = Fixture::new().with_tenants().await;
    let body = subscription_with("descripton", json!({"any": ["thing"]}));
    let marked = [b"\xef\xbb\xbf", body.to_string().as_bytes()].concat();
    fixture.customers(Operation::Subscribe).bytes(&marked).send().await.assert_done(3);
}

#[tokio::test]
async fn body_must_be_one_object_without_duplicate_members() {
    let fixture = Fixture::new().with_tenants().await;
    for body in ["", "[]", "null", "\"a\"", "nonsense", "{", "{\"url\":}", "{} {}", "{\"url\":\"\u{0}\"}"] {
        let reply = fixture.customers(Operation::Subscribe).bytes(body.as_bytes()).send().await;
        reply.assert_failed(400, ZERO_ID, "invalid_json", None);
    }
    let twice = subscription_body().to_string().replacen('{', "{\"secret\":\"other\",", 1);
    let reply = fixture.customers(Operation::Subscribe).bytes(twice.as_bytes()).send().await;
    reply.assert_failed(400, ZERO_ID, "duplicate_member", Some("secret"));
}

#[tokio::test]
async fn body_over_64_kib_is_refused() {
    let fixture = Fixture::new().with_tenants().await;
    let long = |bytes: usize| {
        let body = subscription_with("more", json!("")).to_string();
        body.replace("\"more\":\"\"", &format!("\"more\":\"{}\"", "a".repeat(bytes - body.len())))
    };
    let reply = fixture.customers(Operation::Subscribe).bytes(long(64 * 1024 + 1).as_bytes()).send().await;
    reply.assert_failed(413, ZERO_ID, "body_too_large", None);
    fixture.customers(Operation::Subscribe).bytes(long(64 * 1024).as_bytes()).send().await.assert_done(3);
    let reply = fixture.invoicing(Operation::Subscribe).bytes(long(64 * 1024 + 1).as_bytes()).send().await;
    reply.assert_error(413, "body_too_large");
}

#[tokio::test]
async fn webhook_id_in_a_body_must_equal_the_path() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.subscribe_to_customers().await;
    for (body, code, field) in [
        (json!({"webhookId": ZERO_ID, "enable": true}), "invalid_member", "webhookId"),
        (json!({"webhookId": "x", "enable": true}), "invalid_member", "webhookId"),
        (json!({"webhookId": 7, "enable": true}), "invalid_member", "webhookId"),
        (json!({"webhookId": id}), "missing_member", "enable"),
        (json!({"webhookId": id, "enable": "true"}), "invalid_member", "enable"),
        (json!({"webhookId": id, "enable": 1}), "invalid_member", "enable"),
    ] {
        let reply = fixture.customers(Operation::Status).webhook(&id).body(&body).send().await;
        reply.assert_failed(400, &id, code, Some(field));
    }
    let body = json!({"webhookId": ZERO_ID, "url": "https://other.example/"});
    let reply = fixture.customers(Operation::Change).webhook(&id).body(&body).send().await;
    reply.assert_failed(400, &id, "invalid_member", Some("webhookId"));
    for (url, code) in
        [("http://other.example/", "invalid_url"), ("https://inside.example/", "refused_address")]
    {
        let reply = fixture.customers(Operation::Change).webhook(&id).body(&json!({"url": url})).send().await;
        reply.assert_failed(400, &id, code, Some("url"));
    }
    fixture
        .customers(Operation::Status)
        .webhook(&id)
        .body(&json!({"enable": false}))
        .send()
        .await
        .assert_done(7);
}

#[tokio::test]
async fn faults_of_an_invoicing_subscription_name_their_member() {
    let fixture = Fixture::new().with_tenants().await;
    let path = "/api/webhooks/incoming/Invoicing";
    for (name, value, code) in [
        ("uri", json!(null), "missing_member"),
        ("uri", json!("https://receiver.example/hook"), "invalid_url"),
        ("uri", json!(format!("https://receiver.example{path}/")), "invalid_url"),
        ("uri", json!(format!("https://receiver.example{path}?a=b")), "invalid_url"),
        ("uri", json!(format!("http://receiver.example{path}")), "invalid_url"),
        ("uri", json!(format!("https://inside.example{path}")), "refused_address"),
        ("uri", json!(format!("https://nowhere.example{path}")), "unresolved_host"),
        ("entity", json!(null), "missing_member"),
        ("entity", json!("saleInvoice"), "unknown_entity"),
        ("entity", json!("customers"), "unknown_entity"),
        ("action", json!(null), "missing_member"),
        ("action", json!("created"), "unknown_action"),
        ("action", json!("Disabled"), "unknown_action"),
        ("secret", json!(""), "invalid_member"),
        ("secret", json!("s".repeat(257)), "invalid_member"),
        ("isPaused", json!("no"), "invalid_member"),
        ("applicationName", json!(1), "invalid_member"),
        ("description", json!("a".repeat(1001)), "invalid_member"),
    ] {
        let mut body = invoicing_body();
        body[name] = value.clone();
        let reply = fixture.invoicing(Operation::Subscribe).body(&body).send().await;
        reply.assert_error(400, code);
        assert_eq!(reply.body["field"], name, "{value}: {reply:?}");
    }
}

#[tokio::test]
async fn loopback_receivers_are_accepted_in_development_only() {
    let fixture = Fixture::with(|settings| settings.is_local = true).with_tenants().await;
    for url in ["http://localhost:9000/hook", "http://127.0.0.1:9000/", "https://receiver.example/hook"] {
        fixture
            .customers(Operation::Subscribe)
            .body(&subscription_with("url", json!(url)))
            .send()
            .await
            .assert_done(3);
    }
    let reply = fixture
        .customers(Operation::Subscribe)
        .body(&subscription_with("url", json!("http://10.0.0.1/")))
        .send()
        .await;
    reply.assert_failed(400, ZERO_ID, "invalid_url", Some("url"));
}
