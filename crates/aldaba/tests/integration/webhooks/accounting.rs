//! The accounting family's webhook management, under every prefix.

use hyper::Method;
use serde_json::{Value, json};

use super::{
    CUSTOMERS, NIL_ID, PREFIXES, URL, app, expect_refusal, expect_state, get, send, subscription_body,
};
use crate::harness::{is_guid, shared_api};

#[test]
fn every_prefix_has_all_management_operations() {
    let api = app();
    for (prefix, event) in PREFIXES {
        let at = |tail: &str| format!("{prefix}/webhooks{tail}");
        let events = get(&api, &at("/events")).json();
        assert!(events.as_array().unwrap().contains(&json!(event)), "{events}");
        assert_eq!(events.as_array().unwrap().len(), 4, "{events}");
        let body = subscription_body(event);
        let id = expect_state(&send(&api, Method::POST, &at("/subscribe"), Some(&body)), 3);
        assert!(is_guid(&id));
        assert_eq!(
            expect_state(&send(&api, Method::POST, &at("/subscribe"), Some(&body)), 3),
            id,
            "subscribing again returns the same webhook"
        );
        let one = format!("/{id}");
        let record = get(&api, &at(&one)).json();
        let parts: Vec<&str> = event.split('.').collect();
        let descriptor = json!({
            "appName": parts[0], "domain": parts[1], "resource": parts[2], "eventType": parts[3],
            "semanticName": event,
        });
        let expected = json!({
            "id": id, "thirdPartyApplicationName": "Panel", "url": URL, "tenantId": api.sign_in.tenants[0],
            "secret": "s3cret", "isActive": false, "isDeleted": false, "events": [descriptor],
            "userIdentifier": record["userIdentifier"],
        });
        assert_eq!(record, expected);
        assert_eq!(get(&api, &at("")).json(), json!([record]), "{prefix}");
        let status = |enable: bool| json!({"webhookId": id, "enable": enable});
        for enable in [false, true] {
            let path = at(&format!("/status/{id}"));
            assert_eq!(expect_state(&send(&api, Method::PUT, &path, Some(&status(enable))), 7), id);
        }
        let moved = json!({"webhookId": id, "url": "http://127.0.0.1:9/other"});
        expect_state(&send(&api, Method::PUT, &at(&format!("/change/{id}")), Some(&moved)), 6);
        assert_eq!(get(&api, &at(&one)).json()["url"], "http://127.0.0.1:9/other");
        let delete = at(&format!("/delete/{id}"));
        expect_state(&send(&api, Method::DELETE, &delete, None), 5);
        let record = get(&api, &at(&one)).json();
        assert_eq!((&record["isActive"], &record["isDeleted"]), (&json!(false), &json!(true)));
        assert!(record["deletedAt"].as_str().unwrap().ends_with('Z'), "{record}");
        expect_refusal(&send(&api, Method::DELETE, &delete, None), 409, &id, "deleted");
        let id = expect_state(&send(&api, Method::POST, &at("/subscribe"), Some(&body)), 3);
        assert_eq!(expect_state(&send(&api, Method::POST, &at("/unsubscribe"), Some(&body)), 4), id);
        expect_refusal(&send(&api, Method::POST, &at("/unsubscribe"), Some(&body)), 404, NIL_ID, "not_found");
        assert_eq!(get(&api, &at("")).json(), json!([]));
    }
}

#[test]
fn every_prefix_has_deliveries_health_replay_and_secret_rotation() {
    let api = app();
    for (prefix, event) in PREFIXES {
        let id = expect_state(
            &send(
                &api,
                Method::POST,
                &format!("{prefix}/webhooks/subscribe"),
                Some(&subscription_body(event)),
            ),
            3,
        );
        let at = |tail: &str| format!("{prefix}/webhooks/{id}{tail}");
        assert_eq!(get(&api, &at("/deliveries")).json(), json!([]));
        let health = get(&api, &at("/health")).json();
        assert_eq!((&health["webhookId"], &health["isActive"]), (&json!(id), &json!(false)), "{health}");
        get(&api, &at(&format!("/deliveries/{NIL_ID}"))).problem(404);
        let post = |tail: &str, body: Option<&Value>| send(&api, Method::POST, &at(tail), body);
        post("/test", None).problem(409);
        post("/replay", Some(&json!({"from": "2026-01-01"}))).problem(409);
        post(&format!("/deliveries/{NIL_ID}/replay"), None).problem(409);
        let secret = json!({"secret": "another", "overlapHours": 1});
        let path = format!("{prefix}/webhooks/secret/{id}");
        let rotated = send(&api, Method::PUT, &path, Some(&secret)).json();
        assert!(rotated["oldSecretUntil"].is_string(), "{rotated}");
        assert_eq!(get(&api, &at("")).json()["secret"], "another");
    }
}

#[test]
fn a_webhook_is_404_through_another_prefix_and_for_another_owner() {
    let (api, stranger) = (app(), app());
    let (_, event) = PREFIXES[3];
    let id = expect_state(
        &send(
            &api,
            Method::POST,
            &format!("{CUSTOMERS}/webhooks/subscribe"),
            Some(&subscription_body(event)),
        ),
        3,
    );
    for (prefix, _) in PREFIXES {
        let callers = if prefix == CUSTOMERS { vec![&stranger] } else { vec![&api, &stranger] };
        for caller in callers {
            get(caller, &format!("{prefix}/webhooks/{id}")).problem(404);
            let delete = send(caller, Method::DELETE, &format!("{prefix}/webhooks/delete/{id}"), None);
            expect_refusal(&delete, 404, &id, "not_found");
            let status = json!({"webhookId": id, "enable": false});
            let set = send(caller, Method::PUT, &format!("{prefix}/webhooks/status/{id}"), Some(&status));
            expect_refusal(&set, 404, &id, "not_found");
        }
    }
    get(&api, &format!("/invoicing/api/webhooks/{id}")).problem(404);
    assert_eq!(get(&stranger, &format!("{CUSTOMERS}/webhooks")).json(), json!([]));
    let record = get(&api, &format!("{CUSTOMERS}/webhooks/{id}")).json();
    assert_eq!(record["isDeleted"], false);
}

#[test]
fn webhooks_is_never_a_record_id_and_a_trailing_slash_is_accepted() {
    let api = app();
    assert_eq!(get(&api, &format!("{CUSTOMERS}/webhooks/")).json(), json!([]));
    assert_eq!(get(&api, &format!("{CUSTOMERS}/webhooks/events/")).status, 200);
    get(&api, &format!("{CUSTOMERS}/webhooks/nobody")).problem(404);
    get(&api, &format!("{CUSTOMERS}/webhooks/%ff")).problem(404);
}

#[test]
fn too_large_and_invalid_bodies_are_refused_by_code() {
    let api = app();
    let path = format!("{CUSTOMERS}/webhooks/subscribe");
    let mut body = subscription_body("Svc.ACC.Customers.CustomerCreated");
    body["more"] = "x".repeat(70_000).into();
    expect_refusal(&send(&api, Method::POST, &path, Some(&body)), 413, NIL_ID, "body_too_large");
    expect_refusal(&send(&api, Method::POST, &path, Some(&json!([]))), 400, NIL_ID, "invalid_json");
    expect_refusal(&send(&api, Method::POST, &path, None), 400, NIL_ID, "invalid_json");
    let refusal =
        send(&api, Method::POST, &path, Some(&subscription_body("Svc.ACC.Accounts.AccountCreated")));
    expect_refusal(&refusal, 400, NIL_ID, "unknown_event_type");
    assert_eq!(refusal.json()["errors"][0]["field"], "eventTypes");
}

#[test]
fn serve_refuses_receivers_that_are_not_public() {
    let path = format!("{CUSTOMERS}/webhooks/subscribe");
    for (url, code) in [
        ("http://127.0.0.1:9/hook", "invalid_url"),
        ("https://127.0.0.1:8443/", "invalid_url"),
        ("https://127.0.0.1/", "refused_address"),
        ("https://localhost/", "refused_address"),
        ("https://10.1.2.3/", "refused_address"),
        ("https://[::1]/", "refused_address"),
        ("https://169.254.169.254/latest", "refused_address"),
        ("https://0x7f.1/", "invalid_url"),
    ] {
        let mut body = subscription_body("Svc.ACC.Customers.CustomerCreated");
        body["url"] = url.into();
        let refusal = send(shared_api(), Method::POST, &path, Some(&body));
        expect_refusal(&refusal, 400, NIL_ID, code);
        assert_eq!(refusal.json()["errors"][0]["field"], "url", "{url}");
    }
}
