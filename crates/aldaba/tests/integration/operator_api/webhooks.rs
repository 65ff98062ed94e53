//! `/operator/v1/webhooks` and `/operator/v1/stats`: everybody's webhooks are seen and mended.

use hyper::Method;
use serde_json::{Value, json};

use super::openapi::{document, holds};
use super::webhook_fixture::{SECRET, Subscriber, operator};
use crate::harness::{HttpResponse, wait_for};

#[track_caller]
fn post(path: &str) -> HttpResponse {
    operator().request(Method::POST, path).send()
}

#[test]
fn a_webhook_is_shown_with_its_health_and_its_deliveries() {
    let subscriber = Subscriber::new();
    let sequence = subscriber.customer("1");
    let delivered = subscriber.delivery(sequence, "delivered");
    let bodies_with = subscriber.bodies_with("CustomerCreated");
    assert_eq!(delivered["body"], bodies_with[0], "what is shown is what was sent");
    let outgoing = delivered["outgoingId"].as_str().unwrap();
    assert!(bodies_with[0].contains(outgoing));
    assert_eq!(subscriber.get(&format!("/deliveries/{outgoing}")), delivered);
    let (event, record) = (&delivered["event"], &delivered["correlationId"]);
    assert_eq!((event, record), (&json!("Svc.ACC.Customers.CustomerCreated"), &json!("1")));

    let status_view = subscriber.status_view();
    assert_eq!((&status_view["status"], &status_view["resource"]), (&json!("active"), &json!("customers")));
    assert_eq!(
        (&status_view["client"], &status_view["family"]),
        (&json!(subscriber.api.sign_in.app.id), &json!("accounting"))
    );
    let health = &status_view["health"];
    assert_eq!((&health["delivered"], &health["successRate"]), (&json!(1), &json!(1.0)));
    assert_eq!((&health["eventsBehind"], &health["lanes"]), (&json!(0), &json!(0)));
    assert!(health["lastDeliveredAt"].is_string() && health["p95Milliseconds"].is_u64());
    assert!(!status_view.to_string().contains(SECRET));
}

#[test]
fn what_fails_is_seen_and_goes_out_once_the_receiver_is_mended() {
    let subscriber = Subscriber::new();
    subscriber.respond_with(500);
    let sequence = subscriber.customer("1");
    let waiting = subscriber.delivery(sequence, "waiting");
    let attempt = &waiting["attempts"][0];
    assert_eq!((&attempt["status"], &attempt["excerpt"]), (&json!(500), &json!("Done")), "{waiting}");
    assert!(attempt["reason"].as_str().unwrap().contains("500"), "{waiting}");
    assert!(waiting["nextAttemptAt"].is_string() && waiting["deliveredAt"].is_null());
    let listed = subscriber.get("/deliveries?status=waiting");
    assert_eq!(listed["deliveries"][0]["sequenceVersion"], sequence.to_string());
    assert_eq!(subscriber.get("/deliveries?status=failed")["deliveries"], json!([]));
    let health = &subscriber.status_view()["health"];
    assert!(health["failingSince"].is_string() && health["lanes"] == 1, "{health}");
    assert!(operator().get("/stats").json()["failing"].as_u64().unwrap() >= 1);
    subscriber.respond_with(204);
    subscriber.delivery(sequence, "delivered");
    assert_eq!(subscriber.get("/deliveries?status=waiting")["deliveries"], json!([]));
}

#[test]
fn an_event_is_sent_again_and_so_is_a_span_of_them() {
    let subscriber = Subscriber::new();
    let (first, second) = (subscriber.customer("1"), subscriber.customer("2"));
    subscriber.delivery(first, "delivered");
    subscriber.delivery(second, "delivered");
    let path = subscriber.at(&format!("/deliveries/{first}/replay"));
    let asked = post(&path);
    assert_eq!((asked.status, &asked.json()["number"]), (202, &json!(1)), "{asked:?}");
    assert_eq!(subscriber.wait_for_replay(1)["delivered"], 1);
    let bodies_with = subscriber.bodies_with(&format!("\\\"SequenceVersion\\\":\\\"{first}\\\""));
    assert_eq!(bodies_with.len(), 2);
    assert_eq!(bodies_with[0], bodies_with[1], "to the letter");
    let asked = operator().post(&subscriber.at("/replay"), &json!({"from": "2020-01-01"}));
    assert_eq!(asked.status, 202, "{asked:?}");
    assert_eq!(subscriber.wait_for_replay(2)["delivered"], 2);
    assert_eq!(post(&subscriber.at("/test")).status, 202);
    assert_eq!(
        (&subscriber.wait_for_replay(3)["kind"], &subscriber.wait_for_replay(3)["delivered"]),
        (&json!("test"), &json!(1))
    );
    let none = json!({"from": "2020-01-01", "to": "2020-01-02"});
    operator().post(&subscriber.at("/replay"), &none).problem(404);
    let backwards = json!({"from": "2020-01-02", "to": "2020-01-01"});
    operator().post(&subscriber.at("/replay"), &backwards).problem(400);
    post(&subscriber.at("/deliveries/1/replay")).problem(404);
}

#[test]
fn a_webhook_is_disabled_enabled_and_deleted_and_the_audit_knows() {
    let subscriber = Subscriber::new();
    let status = |response: &HttpResponse| {
        assert_eq!(response.status, 200, "{response:?}");
        response.json()["status"].as_str().unwrap().to_owned()
    };
    assert_eq!(status(&post(&subscriber.at("/disable"))), "disabled");
    let refused = post(&subscriber.at("/test"));
    assert_eq!(refused.problem_code(), "inactive");
    refused.problem(409);
    let missed = subscriber.customer("1");
    assert_eq!(status(&post(&subscriber.at("/enable"))), "active");
    let next = subscriber.customer("2");
    subscriber.delivery(next, "delivered");
    assert_eq!(subscriber.get(&format!("/deliveries/{missed}"))["status"], "unknown");
    assert_eq!(status(&operator().delete(&subscriber.at(""))), "deleted");
    assert_eq!(post(&subscriber.at("/enable")).problem_code(), "over");
    assert_eq!(operator().delete(&subscriber.at("")).status, 409);
    assert_eq!(subscriber.get(&format!("/deliveries/{next}"))["status"], "delivered", "it can still be seen");
    let client = &subscriber.api.sign_in.app.id;
    let audit = operator().get(&format!("/audit?client={client}&kind=webhook_changed")).json();
    let notes: Vec<&str> =
        audit["records"].as_array().unwrap().iter().map(|one| one["note"].as_str().unwrap()).collect();
    let note = |what: &str| format!("webhook {}: {what} by the operator", subscriber.webhook);
    assert_eq!(notes, [note("deleted"), note("enabled"), note("disabled")]);
    let record = &audit["records"][0];
    assert!(record["address"] == "127.0.0.1" && record["requestId"] != "", "{record}");
}

#[test]
fn lists_are_narrowed_and_come_in_pages() {
    let subscriber = Subscriber::new();
    let client = &subscriber.api.sign_in.app.id;
    let tenant = &subscriber.api.sign_in.tenants[0];
    let ids = |query: &str| -> Vec<Value> {
        let page = operator().get(&format!("/webhooks?{query}")).json();
        page["webhooks"].as_array().unwrap().iter().map(|one| one["id"].clone()).collect()
    };
    let own = [json!(subscriber.webhook)];
    for query in [
        format!("client={client}"),
        format!("tenant={tenant}&status=active&resource=customers&family=accounting"),
    ] {
        assert_eq!(ids(&query), own, "{query}");
    }
    for query in ["family=invoicing", "resource=charges", "status=deleted"] {
        assert_eq!(ids(&format!("client={client}&{query}")), [] as [Value; 0], "{query}");
    }
    let second = Subscriber::new();
    let seen: Vec<Value> = operator()
        .read_all_pages("/webhooks", "webhooks", 1)
        .into_iter()
        .map(|one| one["id"].clone())
        .collect();
    assert!(seen.contains(&own[0]) && seen.contains(&json!(second.webhook)));
    for number in 0..3 {
        let sequence = second.customer(&number.to_string());
        second.delivery(sequence, "delivered");
    }
    let page = second.get("/deliveries?pageSize=2");
    assert_eq!(page["deliveries"].as_array().unwrap().len(), 2);
    let rest = second.get(&format!("/deliveries?pageSize=2&before={}", page["next"].as_str().unwrap()));
    assert_eq!((rest["deliveries"].as_array().unwrap().len(), &rest["next"]), (1, &Value::Null));
    assert_eq!(second.get("/deliveries?since=2999-01-01")["deliveries"], json!([]));
}

#[test]
fn what_is_asked_wrong_is_told_by_its_name() {
    for (query, field) in [
        ("status=sleeping", "status"),
        ("family=both", "family"),
        ("resource=Customers", "resource"),
        ("after=1", "after"),
        ("pageSize=0", "pageSize"),
        ("colour=red", "colour"),
    ] {
        let response = operator().get(&format!("/webhooks?{query}"));
        assert_eq!((response.status, response.problem_field().as_str()), (400, field), "{query}");
    }
    operator().get("/webhooks?tenant=nobody").problem(404);
    operator().get("/webhooks?client=nobody").problem(404);
    operator().get("/webhooks/nobody").problem(404);
    let subscriber = Subscriber::new();
    for (query, field) in [
        ("status=unknown", "status"),
        ("since=yesterday", "since"),
        ("before=1", "before"),
        ("pageSize=101", "pageSize"),
    ] {
        let response = operator().get(&subscriber.at(&format!("/deliveries?{query}")));
        assert_eq!((response.status, response.problem_field().as_str()), (400, field), "{query}");
    }
    for (body, field) in
        [(json!({}), "from"), (json!({"from": "soon"}), "from"), (json!({"form": 1}), "form")]
    {
        let response = operator().post(&subscriber.at("/replay"), &body);
        assert_eq!((response.status, response.problem_field().as_str()), (400, field), "{body}");
    }
}

#[test]
fn what_is_answered_about_webhooks_is_what_is_documented() {
    let (document, subscriber, api) = (document(), Subscriber::new(), operator());
    subscriber.respond_with(500);
    let sequence = subscriber.customer("1");
    subscriber.delivery(sequence, "waiting");
    subscriber.respond_with(200);
    let at = |tail: &str| subscriber.at(tail);
    let holds = |verb: &str, tail: &str, response: &HttpResponse| {
        holds(&document, verb, &format!("/webhooks/{{webhook}}{tail}"), response);
    };
    holds("get", "", &api.get(&at("")));
    holds("get", "/deliveries", &api.get(&at("/deliveries")));
    holds("get", "/deliveries/{delivery}", &api.get(&at(&format!("/deliveries/{sequence}"))));
    holds("post", "/deliveries/{delivery}/replay", &post(&at(&format!("/deliveries/{sequence}/replay"))));
    holds("post", "/replay", &api.post(&at("/replay"), &json!({"from": "2020-01-01"})));
    holds("post", "/test", &post(&at("/test")));
    holds("get", "/replays", &api.get(&at("/replays")));
    holds("post", "/disable", &post(&at("/disable")));
    holds("post", "/test", &post(&at("/test")));
    holds("post", "/enable", &post(&at("/enable")));
    holds("delete", "", &api.delete(&at("")));
    holds("delete", "", &api.delete(&at("")));
    super::openapi::holds(&document, "get", "/webhooks", &api.get("/webhooks"));
    let stats = wait_for("the numbers", || {
        let stats = api.get("/stats");
        (stats.json()["webhooks"]["active"].is_u64()).then_some(stats)
    });
    assert_eq!(stats.json()["nodes"], 1);
    super::openapi::holds(&document, "get", "/stats", &stats);
}
