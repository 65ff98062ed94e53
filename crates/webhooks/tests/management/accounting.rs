//! The accounting family: every transition's answer, and every refusal.

use domain::Resource;
use domain::event::semantic_name;
use serde_json::{Value, json};
use webhooks::management::Operation;

use super::stage::{CUSTOMERS, NOBODY, Stage, wish, wish_with};

#[tokio::test]
async fn every_prefix_tells_its_events_and_takes_a_subscription() {
    let stage = Stage::with(|settings| settings.webhooks_max = 100).ready().await;
    for resource in Resource::accounting_family() {
        let events = stage.family(resource, Operation::Events).header("context", "none").send().await;
        let names: Value =
            resource.event_kinds().into_iter().map(|kind| semantic_name(resource, kind)).collect();
        assert_eq!((events.status, &events.body), (200, &names), "{resource:?}");
        let body = json!({
            "thirdPartyApplicationName": "App", "url": "https://receiver.example/hook", "secret": "s",
            "eventTypes": names,
        });
        let id = stage.family(resource, Operation::Subscribe).body(&body).send().await.done(3).to_owned();
        let record = stage.family(resource, Operation::Record).of(&id).send().await;
        assert_eq!(record.body["events"].as_array().unwrap().len(), resource.event_kinds().len());
        for descriptor in record.body["events"].as_array().unwrap() {
            let parts =
                ["appName", "domain", "resource", "eventType"].map(|part| descriptor[part].as_str().unwrap());
            assert_eq!(descriptor["semanticName"], parts.join("."));
        }
        let listed = stage.family(resource, Operation::List).send().await;
        assert_eq!(listed.body, json!([record.body]), "its own alone");
        stage.family(resource, Operation::Delete).of(&id).send().await.done(5);
    }
}

#[tokio::test]
async fn a_record_is_as_the_contract_has_it() {
    let stage = Stage::new().ready().await;
    let id = stage.subscribed().await;
    let record = stage.customers(Operation::Record).of(&id).send().await;
    assert_eq!(record.status, 200);
    assert_eq!(record.headers["cache-control"], "no-store", "it holds the secret");
    assert_eq!(
        record.body,
        json!({
            "id": id, "thirdPartyApplicationName": "App", "url": "https://receiver.example/hook",
            "tenantId": "tenant-a", "secret": "s3cret", "isActive": false, "isDeleted": false,
            "events": [
                {
                    "appName": "Svc", "domain": "ACC", "resource": "Customers", "eventType": "CustomerCreated",
                    "semanticName": "Svc.ACC.Customers.CustomerCreated",
                },
                {
                    "appName": "Svc", "domain": "ACC", "resource": "Customers", "eventType": "CustomerUpdated",
                    "semanticName": "Svc.ACC.Customers.CustomerUpdated",
                },
            ],
            "userIdentifier": "user-1",
        })
    );
    stage.accept(&id).await;
    assert_eq!(stage.customers(Operation::Record).of(&id).send().await.body["isActive"], true);
}

#[tokio::test]
async fn the_life_of_a_webhook() {
    let stage = Stage::new().ready().await;
    let id = stage.subscribed().await;
    stage.accept(&id).await;
    let is_active = async || stage.customers(Operation::Record).of(&id).send().await.body["isActive"].clone();
    assert_eq!(is_active().await, true);
    let set = async |enable: bool| {
        let body = json!({"webhookId": id, "enable": enable});
        stage.customers(Operation::Status).of(&id).body(&body).send().await.done(7).to_owned()
    };
    set(false).await;
    assert_eq!(is_active().await, false);
    set(true).await;
    assert_eq!(is_active().await, true);
    let moved = json!({"webhookId": id.to_uppercase(), "url": "https://other.example/hook"});
    stage.customers(Operation::Change).of(&id).body(&moved).send().await.done(6);
    assert_eq!(is_active().await, false, "the new receiver has not accepted");
    stage.accept(&id).await;
    assert_eq!(is_active().await, true);
    stage.customers(Operation::Delete).of(&id).send().await.done(5);
    let record = stage.customers(Operation::Record).of(&id).send().await.body;
    assert_eq!((&record["isActive"], &record["isDeleted"]), (&json!(false), &json!(true)));
    assert_eq!(record["deletedAt"], stage.now().iso());
    assert_eq!(stage.customers(Operation::List).send().await.body, json!([]), "read by its id alone");
    let heard = stage.heard.0.lock().clone();
    assert_eq!(heard.len(), 5, "subscribe, disable, enable, change, delete: {heard:?}");
}

#[tokio::test]
async fn what_is_over_is_over() {
    let stage = Stage::new().ready().await;
    for (end, code) in [(Operation::Delete, "deleted"), (Operation::Unsubscribe, "unsubscribed")] {
        let id = stage.subscribed().await;
        stage.customers(end).of(&id).body(&wish()).send().await;
        let enable = json!({"enable": true});
        stage.customers(Operation::Status).of(&id).body(&enable).send().await.refused(
            409,
            &id,
            code,
            Some("webhookId"),
        );
        let moved = json!({"url": "https://other.example/hook"});
        stage.customers(Operation::Change).of(&id).body(&moved).send().await.refused(
            409,
            &id,
            code,
            Some("webhookId"),
        );
        let secret = json!({"secret": "new"});
        stage.customers(Operation::Secret).of(&id).body(&secret).send().await.problem(409, code);
        let deleted = stage.customers(Operation::Delete).of(&id).send().await;
        if end == Operation::Delete {
            deleted.refused(409, &id, "deleted", Some("webhookId"));
        } else {
            deleted.done(5);
        }
        assert_ne!(stage.subscribed().await, id, "a later subscribe makes a new one");
        stage.customers(Operation::Unsubscribe).body(&wish()).send().await.done(4);
    }
}

#[tokio::test]
async fn subscribing_again_is_the_same_webhook() {
    let stage = Stage::new().ready().await;
    let id = stage.subscribed().await;
    let reordered = wish_with(
        "eventTypes",
        json!([
            format!("{CUSTOMERS}CustomerUpdated"),
            format!("{CUSTOMERS}CustomerCreated"),
            format!("{CUSTOMERS}CustomerUpdated")
        ]),
    );
    let again = stage.customers(Operation::Subscribe).body(&reordered).send().await;
    assert_eq!(again.done(3), id, "the set of event types counts");
    stage.customers(Operation::Status).of(&id).body(&json!({"enable": false})).send().await.done(7);
    assert_eq!(stage.subscribed().await, id);
    assert!(stage.kept(&id).await.enabled, "it was enabled");
    for (name, value) in [
        ("thirdPartyApplicationName", json!("Other")),
        ("url", json!("https://receiver.example/other")),
        ("secret", json!("other")),
        ("eventTypes", json!([format!("{CUSTOMERS}ErrorOccurred")])),
    ] {
        let other = stage.customers(Operation::Subscribe).body(&wish_with(name, value.clone())).send().await;
        assert_ne!(other.done(3), id, "{name}");
        let unsubscribed = stage.customers(Operation::Unsubscribe).body(&wish_with(name, value)).send().await;
        assert_eq!(unsubscribed.done(4), other.id());
    }
    assert_eq!(stage.customers(Operation::Unsubscribe).body(&wish()).send().await.done(4), id);
    stage.customers(Operation::Unsubscribe).body(&wish()).send().await.refused(
        404,
        NOBODY,
        "not_found",
        None,
    );
}

#[tokio::test]
async fn nobody_else_sees_it() {
    let stage = Stage::new().ready().await;
    let id = stage.subscribed().await;
    for (tenant, client) in [("tenant-a", "app-2"), ("tenant-b", "app-1")] {
        let ask = |operation| stage.customers(operation).by(tenant, client).of(&id);
        ask(Operation::Record).send().await.problem(404, "not_found");
        assert_eq!(ask(Operation::List).send().await.body, json!([]));
        let enable = json!({"enable": true});
        ask(Operation::Status).body(&enable).send().await.refused(404, &id, "not_found", Some("webhookId"));
        let moved = json!({"url": "https://other.example/hook"});
        ask(Operation::Change).body(&moved).send().await.refused(404, &id, "not_found", Some("webhookId"));
        ask(Operation::Delete).send().await.refused(404, &id, "not_found", Some("webhookId"));
        ask(Operation::Unsubscribe).body(&wish()).send().await.refused(404, &id, "not_found", None);
        ask(Operation::Secret).body(&json!({"secret": "x"})).send().await.problem(404, "not_found");
        for operation in [Operation::Deliveries, Operation::Health, Operation::Test] {
            ask(operation).send().await.problem(404, "not_found");
        }
    }
    let accounts = Resource::accounts();
    stage.family(accounts, Operation::Record).of(&id).send().await.problem(404, "not_found");
    stage.family(accounts, Operation::Delete).of(&id).send().await.refused(
        404,
        &id,
        "not_found",
        Some("webhookId"),
    );
    stage.invoicing(Operation::Record).of(&id).send().await.problem(404, "not_found");
    assert_eq!(stage.heard.0.lock().len(), 1, "nothing was touched but by its owner");
}

#[tokio::test]
async fn what_is_no_guid_is_nobodys() {
    let stage = Stage::new().ready().await;
    for id in ["7", "nobody", "..", "deadbeef-dead-beef-dead-beefdeadbee", "☂"] {
        stage.customers(Operation::Record).of(id).send().await.problem(404, "not_found");
        stage.customers(Operation::Delete).of(id).send().await.refused(
            404,
            NOBODY,
            "not_found",
            Some("webhookId"),
        );
        let enable = json!({"enable": true});
        stage.customers(Operation::Status).of(id).body(&enable).send().await.refused(
            404,
            NOBODY,
            "not_found",
            Some("webhookId"),
        );
    }
}

#[tokio::test]
async fn webhooks_have_no_context() {
    let stage = Stage::new().ready().await;
    for good in ["none", "None", " NONE ", ""] {
        let asked = stage.customers(Operation::Events).header("context", good).send().await;
        assert_eq!(asked.status, 200, "{good:?}");
    }
    for wrong in ["{\"clientId\":\"c\"}", "c", "null", "{}"] {
        let asked = stage.customers(Operation::Events).header("context", wrong).send().await;
        asked.problem(400, "invalid_parameter");
        assert_eq!(asked.body["field"], "context");
        let asked = stage.customers(Operation::Subscribe).header("context", wrong).body(&wish()).send().await;
        asked.refused(400, NOBODY, "invalid_parameter", Some("context"));
    }
    let twice =
        stage.customers(Operation::Events).header("context", "none").header("context", "{}").send().await;
    twice.problem(400, "invalid_parameter");
}

#[tokio::test]
async fn there_is_a_limit() {
    let stage = Stage::with(|settings| settings.webhooks_max = 2).ready().await;
    let id = stage.subscribed().await;
    let second = wish_with("secret", json!("2"));
    stage.customers(Operation::Subscribe).body(&second).send().await.done(3);
    let third = wish_with("secret", json!("3"));
    let refused = stage.customers(Operation::Subscribe).body(&third).send().await;
    refused.refused(409, NOBODY, "too_many_webhooks", None);
    assert_eq!(stage.subscribed().await, id, "the same again is none more");
    stage.customers(Operation::Subscribe).by("tenant-a", "app-2").body(&third).send().await.done(3);
    stage.customers(Operation::Delete).of(&id).send().await.done(5);
    stage.customers(Operation::Subscribe).body(&third).send().await.done(3);
}

#[tokio::test]
async fn two_cannot_become_the_same() {
    let stage = Stage::new().ready().await;
    let first = stage.subscribed().await;
    let other = wish_with("url", json!("https://other.example/hook"));
    let second = stage.customers(Operation::Subscribe).body(&other).send().await.done(3).to_owned();
    let moved = json!({"url": "https://receiver.example/hook"});
    stage
        .customers(Operation::Change)
        .of(&second)
        .body(&moved)
        .send()
        .await
        .refused(409, &second, "exists", None);
    assert_ne!(first, second);
}

#[tokio::test]
async fn a_reader_that_has_it_is_told_so() {
    let stage = Stage::new().ready().await;
    let events = stage.customers(Operation::Events).send().await;
    assert_eq!(events.headers["cache-control"], "private, no-cache");
    let etag: &'static str = Box::leak(events.headers["etag"].to_str().unwrap().to_owned().into_boxed_str());
    let same = stage.customers(Operation::Events).header("if-none-match", etag).send().await;
    assert_eq!((same.status, &same.body), (304, &Value::Null));
    let done = stage.customers(Operation::Subscribe).body(&wish()).header("if-none-match", "*").send().await;
    assert!(done.headers.get("etag").is_none(), "an operation is no representation");
    done.done(3);
}
