//! `/operator/v1/webhooks` and `/operator/v1/stats`: the operator inspects and manages the webhooks of all tenants.

use hyper::Method;
use serde_json::{Value, json};

use super::openapi::{assert_documented, document};
use super::webhook_fixture::{SECRET, Subscriber, operator};
use crate::harness::{HttpResponse, wait_for};

#[track_caller]
fn post(path: &str) -> HttpResponse {
    operator().request(Method::POST, path).send()
}

#[test]
fn a_webhook_is_returned_with_health_and_deliveries() {
    let subscriber = Subscriber::new();
    let sequence = subscriber.customer("1");
    let delivered = subscriber.delivery(sequence, "delivered");
    let bodies = subscriber.bodies_with("CustomerCreated");
    assert_eq!(delivered["body"], bodies[0], "the returned body is the sent body");
    let outgoing = delivered["outgoingId"].as_str().unwrap();
    assert!(bodies[0].contains(outgoing));
    assert_eq!(subscriber.get(&format!("/deliveries/{outgoing}")), delivered);
    let (event, record) = (&delivered["event"], &delivered["correlationId"]);
    assert_eq!((event, record), (&json!("Svc.ACC.Customers.CustomerCreated"), &json!("1")));

    let view = subscriber.view();
    assert_eq!((&view["status"], &view["resource"]), (&json!("active"), &json!("customers")));
    assert_eq!(
        (&view["client"], &view["family"]),
        (&json!(subscriber.api.sign_in.app.id), &json!("accounting"))
    );
    let health = &view["health"];
    assert_eq!((&health["delivered"], &health["successRate"]), (&json!(1), &json!(1.0)));
    assert_eq!((&health["eventsBehind"], &health["lanes"]), (&json!(0), &json!(0)));
    assert!(health["lastDeliveredAt"].is_string() && health["p95Milliseconds"].is_u64());
    assert!(!view.to_string().contains(SECRET));
}

#[test]
fn a_failed_delivery_is_listed_and_retried_until_it_succeeds() {
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
    let health = &subscriber.view()["health"];
    assert!(health["failingSince"].is_string() && health["lanes"] == 1, "{health}");
    assert!(operator().get("/stats").json()["failing"].as_u64().unwrap() >= 1);
    subscriber.respond_with(204);
    subscriber.delivery(sequence, "delivered");
    assert_eq!(subscriber.get("/deliveries?status=waiting")["deliveries"], json!([]));
}

#[test]
fn one_event_and_a_time_range_can_be_replayed() {
    let subscriber = Subscriber::new();
    let (first, second) = (subscriber.customer("1"), subscriber.customer("2"));
    subscriber.delivery(first, "delivered");
    subscriber.delivery(second, "delivered");
    let path = subscriber.at(&format!("/deliveries/{first}/replay"));
    let replay_response = post(&path);
    assert_eq!(
        (replay_response.status, &replay_response.json()["number"]),
        (202, &json!(1)),
        "{replay_response:?}"
    );
    assert_eq!(subscriber.wait_for_replay(1)["delivered"], 1);
    let bodies = subscriber.bodies_with(&format!("\\\"SequenceVersion\\\":\\\"{first}\\\""));
    assert_eq!(bodies.len(), 2);
    assert_eq!(bodies[0], bodies[1], "byte for byte");
    let replay_response = operator().post(&subscriber.at("/replay"), &json!({"from": "2020-01-01"}));
    assert_eq!(replay_response.status, 202, "{replay_response:?}");
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
fn disabling_enabling_and_deleting_a_webhook_is_audited() {
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
    assert_eq!(
        subscriber.get(&format!("/deliveries/{next}"))["status"],
        "delivered",
        "deliveries of a deleted webhook stay readable"
    );
    let client = &subscriber.api.sign_in.app.id;
    let audit = operator().get(&format!("/audit?client={client}&actor=operator")).json();
    let notes = audit["records"].as_array().unwrap().iter().map(|one| one["note"].as_str().unwrap());
    let notes: Vec<&str> = notes.filter(|note| note.starts_with("webhook ")).collect();
    let note = |what: &str| format!("webhook {}: {what}", subscriber.webhook);
    assert_eq!(notes, [note("deleted"), note("enabled"), note("disabled")]);
    let record = &audit["records"][0];
    assert_eq!((&record["kind"], &record["actor"]), (&json!("webhook_deleted"), &json!("operator")));
    assert!(record["address"] == "127.0.0.1" && record["requestId"] != "", "{record}");
}

#[test]
fn lists_are_filtered_and_paged() {
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
    let event = "Svc.ACC.Customers.CustomerCreated";
    for (query, count) in [
        ("until=2999-01-01".to_owned(), 3),
        ("until=2020-01-01".to_owned(), 0),
        (format!("event={event}"), 3),
        ("event=Svc.ACC.Customers.CustomerDisabled".to_owned(), 0),
        ("record=1".to_owned(), 1),
        (format!("record=2&event={event}&until=2999-01-01"), 1),
        ("record=none".to_owned(), 0),
    ] {
        let found = second.get(&format!("/deliveries?{query}"));
        assert_eq!(found["deliveries"].as_array().unwrap().len(), count, "{query}: {found}");
    }
}

#[test]
fn webhooks_of_a_team_are_listed() {
    let (own, other) = (Subscriber::new(), Subscriber::new());
    let team = "webhook-list";
    assert_eq!(operator().create("/teams", &json!({"id": team, "name": "Webhooks"}))["id"], team);
    let of_team = format!("/webhooks?team={team}");
    assert_eq!(operator().get(&of_team).json()["webhooks"], json!([]));
    let client = format!("/clients/{}", own.api.sign_in.app.id);
    assert_eq!(operator().patch(&client, &json!({"team": team})).status, 200);
    let listed = operator().get(&of_team).json();
    let ids: Vec<&Value> = listed["webhooks"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert_eq!(ids, [&json!(own.webhook)]);
    let theirs = format!("{of_team}&client={}", other.api.sign_in.app.id);
    assert_eq!(operator().get(&theirs).json()["webhooks"], json!([]));
    operator().get("/webhooks?team=nobody").problem(404);
}

#[test]
fn invalid_parameters_are_refused_by_name() {
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
        ("until=tomorrow", "until"),
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
fn responses_about_webhooks_match_the_document() {
    let (document, subscriber, api) = (document(), Subscriber::new(), operator());
    subscriber.respond_with(500);
    let sequence = subscriber.customer("1");
    subscriber.delivery(sequence, "waiting");
    subscriber.respond_with(200);
    let at = |tail: &str| subscriber.at(tail);
    let assert_documented = |verb: &str, tail: &str, response: &HttpResponse| {
        assert_documented(&document, verb, &format!("/webhooks/{{webhook}}{tail}"), response);
    };
    assert_documented("get", "", &api.get(&at("")));
    assert_documented("get", "/deliveries", &api.get(&at("/deliveries")));
    assert_documented("get", "/deliveries/{delivery}", &api.get(&at(&format!("/deliveries/{sequence}"))));
    assert_documented(
        "post",
        "/deliveries/{delivery}/replay",
        &post(&at(&format!("/deliveries/{sequence}/replay"))),
    );
    assert_documented("post", "/replay", &api.post(&at("/replay"), &json!({"from": "2020-01-01"})));
    assert_documented("post", "/test", &post(&at("/test")));
    assert_documented("get", "/replays", &api.get(&at("/replays")));
    assert_documented("post", "/disable", &post(&at("/disable")));
    assert_documented("post", "/test", &post(&at("/test")));
    assert_documented("post", "/enable", &post(&at("/enable")));
    assert_documented("delete", "", &api.delete(&at("")));
    assert_documented("delete", "", &api.delete(&at("")));
    super::openapi::assert_documented(&document, "get", "/webhooks", &api.get("/webhooks"));
    let stats = wait_for("the statistics", || {
        let stats = api.get("/stats");
        (stats.json()["webhooks"]["active"].is_u64()).then_some(stats)
    });
    assert_eq!(stats.json()["nodes"], 1);
    super::openapi::assert_documented(&document, "get", "/stats", &stats);
}
