//! The accounting family: the response of every operation, and every error.

use domain::Resource;
use domain::event::semantic_name;
use serde_json::{Value, json};
use webhooks::management::Operation;

use crate::fixture::{CUSTOMERS, Fixture, ZERO_ID, subscription_body, subscription_with};

#[tokio::test]
async fn every_resource_lists_its_events_and_accepts_a_subscription() {
    let fixture = Fixture::with(|settings| settings.webhooks_max = 100).with_tenants().await;
    for resource in Resource::accounting_family() {
        let events =
            fixture.resource_request(resource, Operation::Events).header("context", "none").send().await;
        let names: Value =
            resource.event_kinds().into_iter().map(|kind| semantic_name(resource, kind)).collect();
        assert_eq!((events.status, &events.body), (200, &names), "{resource:?}");
        let body = json!({
            "thirdPartyApplicationName": "App", "url": "https://receiver.example/hook", "secret": "s",
            "eventTypes": names,
        });
        let id = fixture
            .resource_request(resource, Operation::Subscribe)
            .body(&body)
            .send()
            .await
            .assert_done(3)
            .to_owned();
        let record = fixture.resource_request(resource, Operation::Record).webhook(&id).send().await;
        assert_eq!(record.body["events"].as_array().unwrap().len(), resource.event_kinds().len());
        for descriptor in record.body["events"].as_array().unwrap() {
            let parts =
                ["appName", "domain", "resource", "eventType"].map(|part| descriptor[part].as_str().unwrap());
            assert_eq!(descriptor["semanticName"], parts.join("."));
        }
        let listed = fixture.resource_request(resource, Operation::List).send().await;
        assert_eq!(listed.body, json!([record.body]), "its own alone");
        fixture.resource_request(resource, Operation::Delete).webhook(&id).send().await.assert_done(5);
    }
}

#[tokio::test]
async fn record_has_the_form_of_the_contract() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.subscribe_to_customers().await;
    let record = fixture.customers(Operation::Record).webhook(&id).send().await;
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
    fixture.accept_handshake(&id).await;
    assert_eq!(fixture.customers(Operation::Record).webhook(&id).send().await.body["isActive"], true);
}

#[tokio::test]
async fn webhook_is_disabled_enabled_moved_and_deleted() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.subscribe_to_customers().await;
    fixture.accept_handshake(&id).await;
    let is_active =
        async || fixture.customers(Operation::Record).webhook(&id).send().await.body["isActive"].clone();
    assert_eq!(is_active().await, true);
    let set = async |enable: bool| {
        let body = json!({"webhookId": id, "enable": enable});
        fixture.customers(Operation::Status).webhook(&id).body(&body).send().await.assert_done(7).to_owned()
    };
    set(false).await;
    assert_eq!(is_active().await, false);
    set(true).await;
    assert_eq!(is_active().await, true);
    let moved = json!({"webhookId": id.to_uppercase(), "url": "https://other.example/hook"});
    fixture.customers(Operation::Change).webhook(&id).body(&moved).send().await.assert_done(6);
    assert_eq!(is_active().await, false, "the new receiver has not accepted");
    fixture.accept_handshake(&id).await;
    assert_eq!(is_active().await, true);
    fixture.customers(Operation::Delete).webhook(&id).send().await.assert_done(5);
    let record = fixture.customers(Operation::Record).webhook(&id).send().await.body;
    assert_eq!((&record["isActive"], &record["isDeleted"]), (&json!(false), &json!(true)));
    assert_eq!(record["deletedAt"], fixture.now().iso());
    assert_eq!(fixture.customers(Operation::List).send().await.body, json!([]), "read by its id alone");
    let notified = fixture.notified.0.lock().clone();
    assert_eq!(notified.len(), 5, "subscribe, disable, enable, change, delete: {notified:?}");
}

#[tokio::test]
async fn ended_webhook_cannot_be_changed() {
    let fixture = Fixture::new().with_tenants().await;
    for (end, code) in [(Operation::Delete, "deleted"), (Operation::Unsubscribe, "unsubscribed")] {
        let id = fixture.subscribe_to_customers().await;
        fixture.customers(end).webhook(&id).body(&subscription_body()).send().await;
        let enable = json!({"enable": true});
        fixture.customers(Operation::Status).webhook(&id).body(&enable).send().await.assert_failed(
            409,
            &id,
            code,
            Some("webhookId"),
        );
        let moved = json!({"url": "https://other.example/hook"});
        fixture.customers(Operation::Change).webhook(&id).body(&moved).send().await.assert_failed(
            409,
            &id,
            code,
            Some("webhookId"),
        );
        let secret = json!({"secret": "new"});
        fixture.customers(Operation::Secret).webhook(&id).body(&secret).send().await.assert_error(409, code);
        let deleted = fixture.customers(Operation::Delete).webhook(&id).send().await;
        if end == Operation::Delete {
            deleted.assert_failed(409, &id, "deleted", Some("webhookId"));
        } else {
            deleted.assert_done(5);
        }
        assert_ne!(fixture.subscribe_to_customers().await, id, "a later subscribe makes a new one");
        fixture.customers(Operation::Unsubscribe).body(&subscription_body()).send().await.assert_done(4);
    }
}

#[tokio::test]
async fn same_body_again_returns_the_same_webhook() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.subscribe_to_customers().await;
    let reordered = subscription_with(
        "eventTypes",
        json!([
            format!("{CUSTOMERS}CustomerUpdated"),
            format!("{CUSTOMERS}CustomerCreated"),
            format!("{CUSTOMERS}CustomerUpdated")
        ]),
    );
    let again = fixture.customers(Operation::Subscribe).body(&reordered).send().await;
    assert_eq!(again.assert_done(3), id, "the set of event types counts");
    fixture
        .customers(Operation::Status)
        .webhook(&id)
        .body(&json!({"enable": false}))
        .send()
        .await
        .assert_done(7);
    assert_eq!(fixture.subscribe_to_customers().await, id);
    assert!(fixture.stored_webhook(&id).await.enabled, "it was enabled");
    for (name, value) in [
        ("thirdPartyApplicationName", json!("Other")),
        ("url", json!("https://receiver.example/other")),
        ("secret", json!("other")),
        ("eventTypes", json!([format!("{CUSTOMERS}ErrorOccurred")])),
    ] {
        let other = fixture
            .customers(Operation::Subscribe)
            .body(&subscription_with(name, value.clone()))
            .send()
            .await;
        assert_ne!(other.assert_done(3), id, "{name}");
        let unsubscribed =
            fixture.customers(Operation::Unsubscribe).body(&subscription_with(name, value)).send().await;
        assert_eq!(unsubscribed.assert_done(4), other.id());
    }
    assert_eq!(
        fixture.customers(Operation::Unsubscribe).body(&subscription_body()).send().await.assert_done(4),
        id
    );
    fixture.customers(Operation::Unsubscribe).body(&subscription_body()).send().await.assert_failed(
        404,
        ZERO_ID,
        "not_found",
        None,
    );
}

#[tokio::test]
async fn subscribing_again_makes_the_handshake_due_and_a_disabled_webhook_gets_a_new_one() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.subscribe_to_customers().await;
    let handshake = async || fixture.stored_webhook(&id).await.handshake;
    fixture.advance(60);
    let with_port = subscription_with("url", json!("https://receiver.example:443/hook"));
    let again = fixture.customers(Operation::Subscribe).body(&with_port).send().await;
    assert_eq!(again.assert_done(3), id);
    assert_eq!((handshake().await.number, handshake().await.asked_at), (1, Some(fixture.now())));
    assert_eq!(fixture.notified.0.lock().len(), 2, "the engine learns of it before the response");

    fixture.accept_handshake(&id).await;
    let disable = json!({"enable": false});
    fixture.customers(Operation::Status).webhook(&id).body(&disable).send().await.assert_done(7);
    assert_eq!(fixture.subscribe_to_customers().await, id);
    let is_active =
        async || fixture.customers(Operation::Record).webhook(&id).send().await.body["isActive"].clone();
    assert_eq!((is_active().await, handshake().await.number), (json!(false), 2));
    fixture.accept_handshake(&id).await;
    assert_eq!(is_active().await, true);
}

#[tokio::test]
async fn unsubscribe_matches_the_present_url_and_then_the_first_one() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.subscribe_to_customers().await;
    let moved = json!({"url": "https://other.example/hook"});
    fixture.customers(Operation::Change).webhook(&id).body(&moved).send().await.assert_done(6);
    let second = fixture.subscribe_to_customers().await;
    assert_ne!(second, id);
    for expected in [&second, &id] {
        let reply = fixture.customers(Operation::Unsubscribe).body(&subscription_body()).send().await;
        assert_eq!(reply.assert_done(4), expected);
        assert_eq!(fixture.stored_webhook(expected).await.unsubscribed_at, Some(fixture.now()));
    }
    let reply = fixture.customers(Operation::Unsubscribe).body(&subscription_body()).send().await;
    reply.assert_failed(404, ZERO_ID, "not_found", None);
}

#[tokio::test]
async fn webhook_is_visible_only_to_its_owner_and_through_its_own_routes() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.subscribe_to_customers().await;
    for (tenant, client) in [("tenant-a", "app-2"), ("tenant-b", "app-1")] {
        let ask = |operation| fixture.customers(operation).owner(tenant, client).webhook(&id);
        ask(Operation::Record).send().await.assert_error(404, "not_found");
        assert_eq!(ask(Operation::List).send().await.body, json!([]));
        let enable = json!({"enable": true});
        ask(Operation::Status).body(&enable).send().await.assert_failed(
            404,
            &id,
            "not_found",
            Some("webhookId"),
        );
        let moved = json!({"url": "https://other.example/hook"});
        ask(Operation::Change).body(&moved).send().await.assert_failed(
            404,
            &id,
            "not_found",
            Some("webhookId"),
        );
        ask(Operation::Delete).send().await.assert_failed(404, &id, "not_found", Some("webhookId"));
        ask(Operation::Unsubscribe).body(&subscription_body()).send().await.assert_failed(
            404,
            &id,
            "not_found",
            None,
        );
        ask(Operation::Secret).body(&json!({"secret": "x"})).send().await.assert_error(404, "not_found");
        for operation in [Operation::Deliveries, Operation::Health, Operation::Test] {
            ask(operation).send().await.assert_error(404, "not_found");
        }
    }
    let accounts = Resource::accounts();
    fixture
        .resource_request(accounts, Operation::Record)
        .webhook(&id)
        .send()
        .await
        .assert_error(404, "not_found");
    fixture.resource_request(accounts, Operation::Delete).webhook(&id).send().await.assert_failed(
        404,
        &id,
        "not_found",
        Some("webhookId"),
    );
    fixture.invoicing(Operation::Record).webhook(&id).send().await.assert_error(404, "not_found");
    assert_eq!(fixture.notified.0.lock().len(), 1, "nothing was touched but by its owner");
}

#[tokio::test]
async fn path_without_a_guid_names_no_webhook() {
    let fixture = Fixture::new().with_tenants().await;
    for id in ["7", "nobody", "..", "deadbeef-dead-beef-dead-beefdeadbee", "☂"] {
        fixture.customers(Operation::Record).webhook(id).send().await.assert_error(404, "not_found");
        fixture.customers(Operation::Delete).webhook(id).send().await.assert_failed(
            404,
            ZERO_ID,
            "not_found",
            Some("webhookId"),
        );
        let enable = json!({"enable": true});
        fixture.customers(Operation::Status).webhook(id).body(&enable).send().await.assert_failed(
            404,
            ZERO_ID,
            "not_found",
            Some("webhookId"),
        );
    }
}

#[tokio::test]
async fn context_header_must_be_none_or_absent() {
    let fixture = Fixture::new().with_tenants().await;
    for good in ["none", "None", " NONE ", ""] {
        let reply = fixture.customers(Operation::Events).header("context", good).send().await;
        assert_eq!(reply.status, 200, "{good:?}");
    }
    for wrong in ["{\"clientId\":\"c\"}", "c", "null", "{}"] {
        let reply = fixture.customers(Operation::Events).header("context", wrong).send().await;
        reply.assert_error(400, "invalid_parameter");
        assert_eq!(reply.body["field"], "context");
        let reply = fixture
            .customers(Operation::Subscribe)
            .header("context", wrong)
            .body(&subscription_body())
            .send()
            .await;
        reply.assert_failed(400, ZERO_ID, "invalid_parameter", Some("context"));
    }
    let twice =
        fixture.customers(Operation::Events).header("context", "none").header("context", "{}").send().await;
    twice.assert_error(400, "invalid_parameter");
}

#[tokio::test]
async fn subscriptions_beyond_the_limit_are_refused() {
    let fixture = Fixture::with(|settings| settings.webhooks_max = 2).with_tenants().await;
    let id = fixture.subscribe_to_customers().await;
    let second = subscription_with("secret", json!("2"));
    fixture.customers(Operation::Subscribe).body(&second).send().await.assert_done(3);
    let third = subscription_with("secret", json!("3"));
    let reply = fixture.customers(Operation::Subscribe).body(&third).send().await;
    reply.assert_failed(409, ZERO_ID, "too_many_webhooks", None);
    assert_eq!(fixture.subscribe_to_customers().await, id, "the same again is none more");
    fixture
        .customers(Operation::Subscribe)
        .owner("tenant-a", "app-2")
        .body(&third)
        .send()
        .await
        .assert_done(3);
    fixture.customers(Operation::Delete).webhook(&id).send().await.assert_done(5);
    fixture.customers(Operation::Subscribe).body(&third).send().await.assert_done(3);
}

#[tokio::test]
async fn url_change_that_would_duplicate_a_webhook_is_refused() {
    let fixture = Fixture::new().with_tenants().await;
    let first = fixture.subscribe_to_customers().await;
    let other = subscription_with("url", json!("https://other.example/hook"));
    let second = fixture.customers(Operation::Subscribe).body(&other).send().await.assert_done(3).to_owned();
    let moved = json!({"url": "https://receiver.example/hook"});
    fixture
        .customers(Operation::Change)
        .webhook(&second)
        .body(&moved)
        .send()
        .await
        .assert_failed(409, &second, "exists", None);
    assert_ne!(first, second);
}

#[tokio::test]
async fn matching_etag_gets_304() {
    let fixture = Fixture::new().with_tenants().await;
    let events = fixture.customers(Operation::Events).send().await;
    assert_eq!(events.headers["cache-control"], "private, no-cache");
    let etag: &'static str = Box::leak(events.headers["etag"].to_str().unwrap().to_owned().into_boxed_str());
    let same = fixture.customers(Operation::Events).header("if-none-match", etag).send().await;
    assert_eq!((same.status, &same.body), (304, &Value::Null));
    let done = fixture
        .customers(Operation::Subscribe)
        .body(&subscription_body())
        .header("if-none-match", "*")
        .send()
        .await;
    assert!(done.headers.get("etag").is_none(), "an operation is no representation");
    done.assert_done(3);
}
