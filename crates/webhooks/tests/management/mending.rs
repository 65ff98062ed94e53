//! Replays, tests, health and new secrets.

use std::time::Duration;

use domain::Secret;
use serde_json::{Value, json};
use store::{Audit as _, AuditKind, AuditQuery, Deliveries as _, EventGap, ReplayKind};
use webhooks::management::Operation;

use super::stage::{Stage, wish};

#[tokio::test]
async fn a_delivery_can_be_asked_for_again() {
    let stage = Stage::new().ready().await;
    let id = stage.active().await;
    let sequence = stage.charge("r1", 1).await;
    stage.deliver(&id, sequence).await;
    let listed = stage.charges(Operation::Deliveries).of(&id).send().await;
    let outgoing = listed.body[0]["outgoingId"].as_str().unwrap();
    let asked = stage.charges(Operation::ReplayOne).of(&id).outgoing(outgoing).send().await;
    assert_eq!(asked.status, 202);
    assert_eq!(
        asked.body,
        json!({
            "webhookId": id, "number": 1, "kind": "events", "askedAt": stage.now().iso(),
            "after": (sequence - 1).to_string(), "upto": sequence.to_string(), "delivered": 0, "failed": 0,
            "isDone": false,
        })
    );
    let hook = stage.store.load_webhook(stage.kept(&id).await.id).await.unwrap().unwrap();
    assert_eq!((hook.replays.len(), hook.replays[0].kind), (1, ReplayKind::Events));
    let query = AuditQuery { kind: Some(AuditKind::WebhookReplayed), rows_max: 9, ..AuditQuery::default() };
    let audit = stage.store.audit(&query).await.unwrap();
    assert!(audit.len() == 1 && audit[0].entry.note.contains(&id), "{audit:?}");
    let health = stage.charges(Operation::Health).of(&id).send().await;
    assert_eq!(health.body["replays"], json!([asked.body]));
}

#[tokio::test]
async fn a_span_of_time_can_be_asked_for_again() {
    let stage = Stage::new().ready().await;
    let early = stage.now();
    stage.charge("r0", 1).await;
    stage.pass(60);
    let id = stage.active().await;
    let began = stage.kept(&id).await.initial_cursor.unwrap();
    let from = stage.now();
    let first = stage.charge("r1", 1).await;
    let last = stage.charge("r2", 1).await;
    stage.pass(60);
    let ask = async |body: Value| stage.charges(Operation::Replay).of(&id).body(&body).send().await;
    let whole = ask(json!({"from": from.iso(), "to": stage.now().iso()})).await;
    assert_eq!((whole.status, &whole.body["upto"]), (202, &json!(last.to_string())), "{whole:?}");
    assert_eq!(whole.body["after"], (first - 1).to_string());
    let all = ask(json!({"from": early.iso()})).await;
    assert_eq!((all.status, &all.body["after"]), (202, &json!(began.to_string())), "what it was entitled to");
    let before = early + Duration::from_secs(1);
    ask(json!({"from": early.iso(), "to": before.iso()})).await.problem(409, "not_entitled");
    ask(json!({"from": stage.now().iso()})).await.problem(404, "nothing_to_replay");
    for (body, field) in [
        (json!({}), "from"),
        (json!({"from": "yesterday"}), "from"),
        (json!({"from": from.iso(), "to": 7}), "to"),
        (json!({"from": from.iso(), "to": early.iso()}), "from"),
    ] {
        let refused = ask(body).await;
        assert_eq!((refused.status, &refused.body["field"]), (400, &json!(field)), "{refused:?}");
    }
}

#[tokio::test]
async fn nothing_is_sent_to_a_webhook_that_is_not_active() {
    let stage = Stage::new().ready().await;
    let id = stage.active().await;
    let sequence = stage.charge("r1", 1).await;
    stage.deliver(&id, sequence).await;
    let listed = stage.charges(Operation::Deliveries).of(&id).send().await;
    let outgoing = listed.body[0]["outgoingId"].as_str().unwrap();
    stage.charges(Operation::Status).of(&id).body(&json!({"enable": false})).send().await.done(7);
    stage.charges(Operation::ReplayOne).of(&id).outgoing(outgoing).send().await.problem(409, "inactive");
    let span = json!({"from": "2020-01-01"});
    stage.charges(Operation::Replay).of(&id).body(&span).send().await.problem(409, "inactive");
    stage.charges(Operation::Test).of(&id).send().await.problem(409, "inactive");
    let waiting = stage.subscribed().await;
    stage.customers(Operation::Test).of(&waiting).send().await.problem(409, "inactive");
}

#[tokio::test]
async fn a_test_event_is_sent_and_not_too_many() {
    let stage = Stage::new().ready().await;
    let id = stage.active().await;
    for number in 1..=10 {
        let asked = stage.charges(Operation::Test).of(&id).send().await;
        assert_eq!((asked.status, &asked.body["kind"]), (202, &json!("test")));
        assert_eq!(asked.body["number"], number);
    }
    stage.charges(Operation::Test).of(&id).send().await.problem(409, "too_many_replays");
    assert_eq!(stage.heard.0.lock().len(), 11, "subscribe, and each that was taken");
}

#[tokio::test]
async fn health_tells_rates_troubles_and_losses() {
    let stage = Stage::new().ready().await;
    let id = stage.active().await;
    let quiet = stage.charges(Operation::Health).of(&id).send().await.body;
    assert_eq!(
        (&quiet["successRate"], &quiet["warnings"], &quiet["isActive"]),
        (&Value::Null, &json!([]), &json!(true))
    );
    let mut sequence = 0;
    for number in 0..3 {
        sequence = stage.charge(&format!("r{number}"), number).await;
        stage.deliver(&id, sequence).await;
        stage.pass(1);
    }
    let failing = stage.charge("r9", 1).await;
    stage.fail(&id, failing, 1).await;
    stage.charge("r9", 2).await;
    let lost = EventGap { at: stage.now(), after: 1, through: 2 };
    stage.engine(&id, |point| point.event_gap = Some(lost)).await;
    let told = stage.charges(Operation::Health).of(&id).send().await.body;
    assert_eq!(
        (&told["delivered"], &told["failedAttempts"], &told["successRate"]),
        (&json!(3), &json!(1), &json!(0.75))
    );
    assert_eq!((&told["p95Milliseconds"], &told["recordsWaiting"]), (&json!(40), &json!(1)));
    assert!(told["eventsBehind"].as_u64().unwrap() >= 1 && told["nextAttemptAt"].is_string());
    assert_eq!(told["lost"], json!({"at": lost.at.iso(), "after": "1", "upto": "2"}));
    let warnings = told["warnings"].to_string();
    assert!(warnings.contains("have failed since") && warnings.contains("never be told"), "{warnings}");
    assert!(sequence > 0);
    stage.engine(&id, |point| point.disabled = Some("24 h without success".into())).await;
    let told = stage.charges(Operation::Health).of(&id).send().await.body;
    assert!(told["warnings"][0].as_str().unwrap().contains("24 h without success"), "{told}");
    let since = stage.now() + Duration::from_secs(1);
    let query = format!("since={}", since.iso());
    let later = stage.charges(Operation::Health).of(&id).query(&query).send().await.body;
    assert_eq!((&later["delivered"], &later["since"]), (&json!(0), &json!(since.iso())));
    stage.charges(Operation::Health).of(&id).query("since=x").send().await.problem(400, "invalid_parameter");
}

#[tokio::test]
async fn a_handshake_that_is_not_accepted_is_told() {
    let stage = Stage::new().ready().await;
    let id = stage.subscribed().await;
    let told = stage.customers(Operation::Health).of(&id).send().await.body;
    assert_eq!(
        told["handshake"],
        json!({"number": 1, "askedAt": stage.now().iso(), "isAccepted": false, "failedAttempts": 0})
    );
    assert!(told["warnings"][0].as_str().unwrap().contains("handshake"), "{told}");
}

#[tokio::test]
async fn a_new_secret_overlaps_with_the_old_one() {
    let stage = Stage::new().ready().await;
    let id = stage.subscribed().await;
    let rotate = async |body: Value| stage.customers(Operation::Secret).of(&id).body(&body).send().await;
    let told = rotate(json!({"secret": "second"})).await;
    let until = stage.now() + Duration::from_secs(24 * 3600);
    assert_eq!(told.body, json!({"webhookId": id, "oldSecretUntil": until.iso()}));
    let kept = stage.kept(&id).await;
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
        let refused = rotate(body).await;
        assert_eq!((refused.status, &refused.body["field"]), (400, &json!(field)), "{refused:?}");
    }
    assert_eq!(stage.kept(&id).await.secret, Secret::new("fourth"));
    let other = stage.customers(Operation::Unsubscribe).body(&wish()).send().await;
    other.refused(404, super::stage::NOBODY, "not_found", None);
}
