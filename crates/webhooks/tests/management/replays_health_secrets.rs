//! Replays, test events, health and rotation of secrets in the owner's API.

use std::time::Duration;

use domain::Secret;
use serde_json::{Value, json};
use store::{Audit as _, AuditKind, AuditQuery, Deliveries as _, EventGap, ReplayKind};
use webhooks::management::Operation;

use crate::fixture::{Fixture, subscription_body};

#[tokio::test]
async fn delivery_can_be_replayed() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.active_webhook().await;
    let sequence = fixture.charge("r1", 1).await;
    fixture.record_delivery(&id, sequence).await;
    let listed = fixture.charges(Operation::Deliveries).webhook(&id).send().await;
    let outgoing = listed.body[0]["outgoingId"].as_str().unwrap();
    let reply = fixture.charges(Operation::ReplayDelivery).webhook(&id).outgoing(outgoing).send().await;
    assert_eq!(reply.status, 202);
    assert_eq!(
        reply.body,
        json!({
            "webhookId": id, "number": 1, "kind": "events", "askedAt": fixture.now().iso(),
            "after": (sequence - 1).to_string(), "upto": sequence.to_string(), "delivered": 0, "failed": 0,
            "isDone": false,
        })
    );
    let hook = fixture.store.load_webhook(fixture.stored_webhook(&id).await.id).await.unwrap().unwrap();
    assert_eq!((hook.replays.len(), hook.replays[0].kind), (1, ReplayKind::Events));
    let query = AuditQuery { kind: Some(AuditKind::WebhookReplayed), rows_max: 9, ..AuditQuery::default() };
    let audit = fixture.store.audit(&query).await.unwrap();
    assert!(audit.len() == 1 && audit[0].entry.note.contains(&id), "{audit:?}");
    let health = fixture.charges(Operation::Health).webhook(&id).send().await;
    assert_eq!(health.body["replays"], json!([reply.body]));
}

#[tokio::test]
async fn span_of_time_can_be_replayed() {
    let fixture = Fixture::new().with_tenants().await;
    let early = fixture.now();
    fixture.charge("r0", 1).await;
    fixture.advance(60);
    let id = fixture.active_webhook().await;
    let initial_cursor = fixture.stored_webhook(&id).await.initial_cursor.unwrap();
    let from = fixture.now();
    let first = fixture.charge("r1", 1).await;
    let last = fixture.charge("r2", 1).await;
    fixture.advance(60);
    let ask = async |body: Value| fixture.charges(Operation::Replay).webhook(&id).body(&body).send().await;
    let whole = ask(json!({"from": from.iso(), "to": fixture.now().iso()})).await;
    assert_eq!((whole.status, &whole.body["upto"]), (202, &json!(last.to_string())), "{whole:?}");
    assert_eq!(whole.body["after"], (first - 1).to_string());
    let all = ask(json!({"from": early.iso()})).await;
    assert_eq!(
        (all.status, &all.body["after"]),
        (202, &json!(initial_cursor.to_string())),
        "what it was entitled to"
    );
    let before = early + Duration::from_secs(1);
    ask(json!({"from": early.iso(), "to": before.iso()})).await.assert_error(409, "not_entitled");
    ask(json!({"from": fixture.now().iso()})).await.assert_error(404, "nothing_to_replay");
    for (body, field) in [
        (json!({}), "from"),
        (json!({"from": "yesterday"}), "from"),
        (json!({"from": from.iso(), "to": 7}), "to"),
        (json!({"from": from.iso(), "to": early.iso()}), "from"),
    ] {
        let reply = ask(body).await;
        assert_eq!((reply.status, &reply.body["field"]), (400, &json!(field)), "{reply:?}");
    }
}

#[tokio::test]
async fn replays_and_tests_of_an_inactive_webhook_are_refused() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.active_webhook().await;
    let sequence = fixture.charge("r1", 1).await;
    fixture.record_delivery(&id, sequence).await;
    let listed = fixture.charges(Operation::Deliveries).webhook(&id).send().await;
    let outgoing = listed.body[0]["outgoingId"].as_str().unwrap();
    fixture
        .charges(Operation::Status)
        .webhook(&id)
        .body(&json!({"enable": false}))
        .send()
        .await
        .assert_done(7);
    fixture
        .charges(Operation::ReplayDelivery)
        .webhook(&id)
        .outgoing(outgoing)
        .send()
        .await
        .assert_error(409, "inactive");
    let span = json!({"from": "2020-01-01"});
    fixture.charges(Operation::Replay).webhook(&id).body(&span).send().await.assert_error(409, "inactive");
    fixture.charges(Operation::Test).webhook(&id).send().await.assert_error(409, "inactive");
    let waiting = fixture.subscribe_to_customers().await;
    fixture.customers(Operation::Test).webhook(&waiting).send().await.assert_error(409, "inactive");
}

#[tokio::test]
async fn test_events_are_limited_to_ten_open_replays() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.active_webhook().await;
    for number in 1..=10 {
        let reply = fixture.charges(Operation::Test).webhook(&id).send().await;
        assert_eq!((reply.status, &reply.body["kind"]), (202, &json!("test")));
        assert_eq!(reply.body["number"], number);
    }
    fixture.charges(Operation::Test).webhook(&id).send().await.assert_error(409, "too_many_replays");
    assert_eq!(fixture.notified.0.lock().len(), 11, "subscribe, and each that was taken");
}

#[tokio::test]
async fn health_shows_rates_failures_and_lost_events() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.active_webhook().await;
    let quiet = fixture.charges(Operation::Health).webhook(&id).send().await.body;
    assert_eq!(
        (&quiet["successRate"], &quiet["warnings"], &quiet["isActive"]),
        (&Value::Null, &json!([]), &json!(true))
    );
    let mut sequence = 0;
    for number in 0..3 {
        sequence = fixture.charge(&format!("r{number}"), number).await;
        fixture.record_delivery(&id, sequence).await;
        fixture.advance(1);
    }
    let failing = fixture.charge("r9", 1).await;
    fixture.record_failure(&id, failing, 1).await;
    fixture.charge("r9", 2).await;
    let lost = EventGap { at: fixture.now(), after: 1, through: 2 };
    fixture.write_checkpoint(&id, |checkpoint| checkpoint.event_gap = Some(lost)).await;
    let reply = fixture.charges(Operation::Health).webhook(&id).send().await.body;
    assert_eq!(
        (&reply["delivered"], &reply["failedAttempts"], &reply["successRate"]),
        (&json!(3), &json!(1), &json!(0.75))
    );
    assert_eq!((&reply["p95Milliseconds"], &reply["recordsWaiting"]), (&json!(40), &json!(1)));
    assert!(reply["eventsBehind"].as_u64().unwrap() >= 1 && reply["nextAttemptAt"].is_string());
    assert_eq!(reply["lost"], json!({"at": lost.at.iso(), "after": "1", "upto": "2"}));
    let warnings = reply["warnings"].to_string();
    assert!(warnings.contains("have failed since") && warnings.contains("never be delivered"), "{warnings}");
    assert!(sequence > 0);
    fixture
        .write_checkpoint(&id, |checkpoint| checkpoint.disabled = Some("24 h without success".into()))
        .await;
    let reply = fixture.charges(Operation::Health).webhook(&id).send().await.body;
    assert!(reply["warnings"][0].as_str().unwrap().contains("24 h without success"), "{reply}");
    let since = fixture.now() + Duration::from_secs(1);
    let query = format!("since={}", since.iso());
    let later = fixture.charges(Operation::Health).webhook(&id).query(&query).send().await.body;
    assert_eq!((&later["delivered"], &later["since"]), (&json!(0), &json!(since.iso())));
    fixture
        .charges(Operation::Health)
        .webhook(&id)
        .query("since=x")
        .send()
        .await
        .assert_error(400, "invalid_parameter");
}

#[tokio::test]
async fn unaccepted_handshake_is_a_warning() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.subscribe_to_customers().await;
    let reply = fixture.customers(Operation::Health).webhook(&id).send().await.body;
    assert_eq!(
        reply["handshake"],
        json!({"number": 1, "askedAt": fixture.now().iso(), "isAccepted": false, "failedAttempts": 0})
    );
    assert!(reply["warnings"][0].as_str().unwrap().contains("handshake"), "{reply}");
}

#[tokio::test]
async fn rotated_secret_overlaps_with_the_old_one() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.subscribe_to_customers().await;
    let rotate =
        async |body: Value| fixture.customers(Operation::Secret).webhook(&id).body(&body).send().await;
    let reply = rotate(json!({"secret": "second"})).await;
    let until = fixture.now() + Duration::from_secs(24 * 3600);
    assert_eq!(reply.body, json!({"webhookId": id, "oldSecretUntil": until.iso()}));
    let kept = fixture.stored_webhook(&id).await;
    assert_eq!(
        (kept.secret, kept.previous_secret.unwrap().secret),
        (Secret::new("second"), Secret::new("s3cret"))
    );
    let at_once = rotate(json!({"secret": "third", "overlapHours": 0})).await;
    assert_eq!(at_once.body["oldSecretUntil"], Value::Null);
    for whole in [json!(168), json!(1.0), json!(null)] {
        assert_eq!(rotate(json!({"secret": "fourth", "overlapHours": whole})).await.status, 200);
    }
    for (body, field) in [
        (json!({}), "secret"),
        (json!({"secret": ""}), "secret"),
        (json!({"secret": "s".repeat(257)}), "secret"),
        (json!({"secret": "x", "overlapHours": 169}), "overlapHours"),
        (json!({"secret": "x", "overlapHours": -1}), "overlapHours"),
        (json!({"secret": "x", "overlapHours": 1.5}), "overlapHours"),
        (json!({"secret": "x", "overlapHours": "24"}), "overlapHours"),
    ] {
        let reply = rotate(body).await;
        assert_eq!((reply.status, &reply.body["field"]), (400, &json!(field)), "{reply:?}");
    }
    assert_eq!(fixture.stored_webhook(&id).await.secret, Secret::new("fourth"));
    let other = fixture.customers(Operation::Unsubscribe).body(&subscription_body()).send().await;
    other.assert_failed(404, crate::fixture::ZERO_ID, "not_found", None);
}
