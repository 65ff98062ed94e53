//! What a body may be: strict in what it says, kind in how.

use serde_json::json;
use webhooks::management::Operation;

use super::stage::{CUSTOMERS, NOBODY, Stage, entity_wish, wish, wish_with};

#[tokio::test]
async fn what_is_wrong_is_named() {
    let stage = Stage::new().ready().await;
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
        let asked = stage.customers(Operation::Subscribe).body(&wish_with(name, value.clone())).send().await;
        asked.refused(400, NOBODY, code, Some(name));
        assert!(asked.body["message"].as_str().unwrap().starts_with(name), "{value}: {asked:?}");
    }
    assert_eq!(stage.customers(Operation::List).send().await.body, json!([]), "nothing was made");
}

#[tokio::test]
async fn a_secret_may_have_256_bytes() {
    let stage = Stage::new().ready().await;
    let body = wish_with("secret", json!("ñ".repeat(128)));
    stage.customers(Operation::Subscribe).body(&body).send().await.done(3);
}

#[tokio::test]
async fn who_waits_for_a_name_is_told_to_try_again() {
    let stage = Stage::new().ready().await;
    let body = wish_with("url", json!("https://silent.example/"));
    let asked = stage.customers(Operation::Subscribe).body(&body).send().await;
    asked.refused(400, NOBODY, "unresolved_host", Some("url"));
    assert!(asked.body["message"].as_str().unwrap().ends_with("Try again."), "{asked:?}");
}

#[tokio::test]
async fn all_that_is_wrong_is_told_at_once() {
    let stage = Stage::new().ready().await;
    let asked = stage.customers(Operation::Subscribe).body(&json!({"Url": "x", "secret": 5})).send().await;
    let fields: Vec<&str> = asked.body["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fault| fault["field"].as_str().unwrap())
        .collect();
    assert_eq!(fields, ["thirdPartyApplicationName", "url", "secret", "eventTypes"]);
    assert_eq!(asked.body["errors"][1]["message"], "url is missing; there is \"Url\".");
}

#[tokio::test]
async fn unknown_members_and_a_byte_order_mark_do_no_harm() {
    let stage = Stage::new().ready().await;
    let body = wish_with("descripton", json!({"any": ["thing"]}));
    let marked = [b"\xef\xbb\xbf", body.to_string().as_bytes()].concat();
    stage.customers(Operation::Subscribe).bytes(&marked).send().await.done(3);
}

#[tokio::test]
async fn what_is_no_object_is_no_body() {
    let stage = Stage::new().ready().await;
    for body in ["", "[]", "null", "\"a\"", "nonsense", "{", "{\"url\":}", "{} {}", "{\"url\":\"\u{0}\"}"] {
        let asked = stage.customers(Operation::Subscribe).bytes(body.as_bytes()).send().await;
        asked.refused(400, NOBODY, "invalid_json", None);
    }
    let twice = wish().to_string().replacen('{', "{\"secret\":\"other\",", 1);
    let asked = stage.customers(Operation::Subscribe).bytes(twice.as_bytes()).send().await;
    asked.refused(400, NOBODY, "duplicate_member", Some("secret"));
}

#[tokio::test]
async fn a_body_has_64_kib_at_most() {
    let stage = Stage::new().ready().await;
    let long = |bytes: usize| {
        let body = wish_with("more", json!("")).to_string();
        body.replace("\"more\":\"\"", &format!("\"more\":\"{}\"", "a".repeat(bytes - body.len())))
    };
    let asked = stage.customers(Operation::Subscribe).bytes(long(64 * 1024 + 1).as_bytes()).send().await;
    asked.refused(413, NOBODY, "body_too_large", None);
    stage.customers(Operation::Subscribe).bytes(long(64 * 1024).as_bytes()).send().await.done(3);
    let asked = stage.invoicing(Operation::Subscribe).bytes(long(64 * 1024 + 1).as_bytes()).send().await;
    asked.problem(413, "body_too_large");
}

#[tokio::test]
async fn a_body_names_the_webhook_of_its_address_or_none() {
    let stage = Stage::new().ready().await;
    let id = stage.subscribed().await;
    for (body, code, field) in [
        (json!({"webhookId": NOBODY, "enable": true}), "invalid_member", "webhookId"),
        (json!({"webhookId": "x", "enable": true}), "invalid_member", "webhookId"),
        (json!({"webhookId": 7, "enable": true}), "invalid_member", "webhookId"),
        (json!({"webhookId": id}), "missing_member", "enable"),
        (json!({"webhookId": id, "enable": "true"}), "invalid_member", "enable"),
        (json!({"webhookId": id, "enable": 1}), "invalid_member", "enable"),
    ] {
        let asked = stage.customers(Operation::Status).of(&id).body(&body).send().await;
        asked.refused(400, &id, code, Some(field));
    }
    let body = json!({"webhookId": NOBODY, "url": "https://other.example/"});
    let asked = stage.customers(Operation::Change).of(&id).body(&body).send().await;
    asked.refused(400, &id, "invalid_member", Some("webhookId"));
    for (url, code) in
        [("http://other.example/", "invalid_url"), ("https://inside.example/", "refused_address")]
    {
        let asked = stage.customers(Operation::Change).of(&id).body(&json!({"url": url})).send().await;
        asked.refused(400, &id, code, Some("url"));
    }
    stage.customers(Operation::Status).of(&id).body(&json!({"enable": false})).send().await.done(7);
}

#[tokio::test]
async fn what_is_wrong_with_an_invoicing_subscription_is_named() {
    let stage = Stage::new().ready().await;
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
        let mut body = entity_wish();
        body[name] = value.clone();
        let asked = stage.invoicing(Operation::Subscribe).body(&body).send().await;
        asked.problem(400, code);
        assert_eq!(asked.body["field"], name, "{value}: {asked:?}");
    }
}

#[tokio::test]
async fn this_machine_is_for_development() {
    let stage = Stage::with(|settings| settings.is_local = true).ready().await;
    for url in ["http://localhost:9000/hook", "http://127.0.0.1:9000/", "https://receiver.example/hook"] {
        stage.customers(Operation::Subscribe).body(&wish_with("url", json!(url))).send().await.done(3);
    }
    let asked =
        stage.customers(Operation::Subscribe).body(&wish_with("url", json!("http://10.0.0.1/"))).send().await;
    asked.refused(400, NOBODY, "invalid_url", Some("url"));
}
