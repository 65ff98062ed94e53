//! Invoicing subscriptions: every entity and action, pausing, deleting, and the check of the receiver's host.

use hyper::Method;
use serde_json::{Value, json};

use super::{app, get, send};
use crate::harness::{ApiFixture, EmbeddedServer, Installation, OperatorApi, SubscriptionKeys, is_guid};

const PATH: &str = "/invoicing/api/webhooks";
const URI: &str = "http://127.0.0.1:9/api/webhooks/incoming/Invoicing";
const ENTITIES: [&str; 18] = [
    "Customer",
    "Product",
    "Supplier",
    "Representative",
    "Contact",
    "Due",
    "SaleInvoice",
    "PurchaseInvoice",
    "SaleOffer",
    "SaleOrder",
    "PurchaseOrder",
    "SaleDeliveryNote",
    "PurchaseDeliveryNote",
    "Bank",
    "IncomeType",
    "ExpenseType",
    "CompanyData",
    "CompanySettings",
];

fn subscription_body(entity: &str, action: &str) -> Value {
    json!({
        "uri": URI, "entity": entity, "action": action, "secret": "s3cret", "isPaused": false,
        "applicationName": "Panel", "description": "Todo", "descripton": "as the sample spells it",
    })
}

#[test]
fn every_entity_accepts_its_actions() {
    let api = app();
    let mut created = Vec::new();
    for entity in ENTITIES {
        for action in ["Created", "Updated", "Deleted"] {
            let response = send(&api, Method::POST, PATH, Some(&subscription_body(entity, action)));
            if entity.starts_with("Company") && action != "Updated" {
                response.problem(400);
                assert_eq!(response.json()["errors"][0]["field"], "action", "{entity}.{action}");
                continue;
            }
            assert_eq!(response.status, 200, "{entity}.{action}: {response:?}");
            let record = response.json();
            assert!(is_guid(record["id"].as_str().unwrap()));
            let expected = json!({
                "id": record["id"], "uri": URI, "entity": entity, "action": action, "isPaused": false,
                "applicationName": "Panel", "description": "Todo", "status": "Pending",
            });
            assert_eq!(record, expected);
            created.push(record);
        }
    }
    assert_eq!(created.len(), 50);
    assert_eq!(get(&api, PATH).json(), json!(created), "in order of creation");
    for record in &created {
        let path = format!("{PATH}/{}", record["id"].as_str().unwrap());
        let deleted = send(&api, Method::DELETE, &path, None);
        assert_eq!((deleted.status, &deleted.json()["id"]), (200, &record["id"]));
        send(&api, Method::DELETE, &path, None).problem(404);
    }
    assert_eq!(get(&api, PATH).json(), json!([]));
}

#[test]
fn only_the_owner_can_pause_and_resume_a_subscription() {
    let (api, stranger) = (app(), app());
    let id = send(&api, Method::POST, PATH, Some(&subscription_body("Bank", "Updated"))).json()["id"].clone();
    let path = format!("{PATH}/{}", id.as_str().unwrap());
    for (is_paused, status) in [(true, "Paused"), (false, "Pending")] {
        let response = send(&api, Method::PUT, &path, Some(&json!({"isPaused": is_paused})));
        assert_eq!((response.status, &response.json()["status"]), (200, &json!(status)));
        assert_eq!(get(&api, &path).json(), response.json());
    }
    for method in [Method::GET, Method::DELETE] {
        send(&stranger, method, &path, None).problem(404);
    }
    send(&stranger, Method::PUT, &path, Some(&json!({"isPaused": true}))).problem(404);
    assert_eq!(get(&stranger, PATH).json(), json!([]));
    assert_eq!(get(&api, &format!("{path}/deliveries")).json(), json!([]));
    assert_eq!(get(&api, &format!("{path}/health")).json()["isActive"], false);
    send(&api, Method::POST, &format!("{path}/test"), None).problem(409);
    let rotated = send(&api, Method::PUT, &format!("{path}/secret"), Some(&json!({"secret": "new"})));
    assert!(rotated.json()["oldSecretUntil"].is_string());
}

#[test]
fn the_uri_must_have_the_contracts_form() {
    let api = app();
    for uri in [
        "http://127.0.0.1:9/api/webhooks/incoming/Invoicing/",
        "http://127.0.0.1:9/api/webhooks/incoming/invoicing",
        "http://127.0.0.1:9/api/webhooks/incoming/Invoicing?a=b",
        "http://127.0.0.1:9/hook",
        "http://192.0.2.1/api/webhooks/incoming/Invoicing",
        "ftp://127.0.0.1/api/webhooks/incoming/Invoicing",
    ] {
        let mut body = subscription_body("Bank", "Updated");
        body["uri"] = uri.into();
        let response = send(&api, Method::POST, PATH, Some(&body));
        response.problem(400);
        assert_eq!(response.json()["errors"][0]["field"], "uri", "{uri}");
    }
}

#[test]
fn a_host_other_than_the_callers_is_flagged_or_refused() {
    for check in ["warn", "enforce"] {
        let setting = format!("delivery.host_check={check}");
        let proxies = "server.trusted_proxies=127.0.0.1";
        let set = ["egress.loopback=true", &setting, proxies];
        let server = EmbeddedServer::start(Installation::new(), &set);
        let api = ApiFixture::on(&server, &SubscriptionKeys::new(&server, &[]));
        let same_host = send(&api, Method::POST, PATH, Some(&subscription_body("Bank", "Updated")));
        assert_eq!((same_host.status, same_host.json().get("doubt")), (200, None));
        let body = subscription_body("Due", "Updated").to_string();
        let request =
            api.request(Method::POST, PATH).header("x-forwarded-for", "198.51.100.9").body(body).send();
        let audit = OperatorApi(&server).get("/audit?kind=webhook_doubted").json();
        let audit_text = audit.to_string();
        if check == "enforce" {
            request.problem(400);
            assert_eq!(request.json()["errors"][0]["code"], "foreign_host");
            assert!(!audit_text.contains("198.51.100.9"), "{audit_text}");
        } else {
            let doubt = request.json()["doubt"].as_str().unwrap().to_owned();
            assert!(doubt.contains("198.51.100.9"), "{doubt}");
            assert!(audit_text.contains(&doubt), "{audit_text}");
        }
    }
}
