//! What was delivered and what was not, page by page.

use serde_json::{Value, json};
use store::AttemptPurpose;
use webhooks::management::Operation;

use super::stage::{NOBODY, Stage, attempt};

/// The numbers of a page's events.
fn numbers(page: &Value) -> Vec<u64> {
    page.as_array()
        .unwrap()
        .iter()
        .map(|one| one["sequenceVersion"].as_str().unwrap().parse().unwrap())
        .collect()
}

#[tokio::test]
async fn each_event_stands_once_with_its_attempts() {
    let stage = Stage::new().ready().await;
    let id = stage.active().await;
    let (first, second) = (stage.charge("r1", 1).await, stage.charge("r2", 2).await);
    stage.pass(1);
    stage.fail(&id, first, 1).await;
    stage.pass(1);
    stage.deliver(&id, second).await;
    stage.pass(5);
    stage.fail(&id, first, 2).await;
    let page = stage.charges(Operation::Deliveries).of(&id).send().await;
    assert_eq!(numbers(&page.body), [first, second], "the one that was heard of last comes first");
    let waiting = &page.body[0];
    assert_eq!(
        (&waiting["event"], &waiting["correlationId"], &waiting["company"], &waiting["status"]),
        (&json!("Svc.ACC.Charges.ChargeCreated"), &json!("r1"), &json!("c"), &json!("waiting"))
    );
    assert_eq!(waiting["attempts"].as_array().unwrap().len(), 2);
    assert_eq!(
        waiting["attempts"][1],
        json!({
            "occasion": "event", "at": stage.now().iso(), "number": 2, "status": 500, "succeeded": false,
            "reason": "the answer was 500; a 2xx is wanted", "excerpt": "Oops",
            "milliseconds": {"resolve": 1, "connect": 2, "tls": 3, "wait": 4, "total": 10},
        })
    );
    assert_eq!(waiting["deliveredAt"], Value::Null);
    assert!(waiting["nextAttemptAt"].is_string() && waiting.get("body").is_none());
    let delivered = &page.body[1];
    assert_eq!((&delivered["status"], &delivered["attempts"]), (&json!("delivered"), &json!([])));
    assert!(delivered["deliveredAt"].is_string());
    assert!(page.headers.get("link").is_none());
}

#[tokio::test]
async fn pages_follow_one_another_without_a_gap() {
    let stage = Stage::new().ready().await;
    let id = stage.active().await;
    let mut made = Vec::new();
    for number in 0..23 {
        let sequence = stage.charge(&format!("r{number}"), number).await;
        stage.pass(1);
        if number % 3 == 0 {
            stage.fail(&id, sequence, 1).await;
            stage.pass(1);
            stage.fail(&id, sequence, 2).await;
        } else {
            stage.deliver(&id, sequence).await;
        }
        made.push(sequence);
    }
    made.reverse();
    for size in [1, 4, 23, 24] {
        let mut seen = Vec::new();
        let mut query = format!("pageSize={size}");
        loop {
            let page = stage.charges(Operation::Deliveries).of(&id).query(&query).send().await;
            assert_eq!(page.status, 200, "{page:?}");
            let found = numbers(&page.body);
            assert!(found.len() <= size);
            seen.extend(found);
            let Some(link) = page.headers.get("link") else { break };
            let link = link.to_str().unwrap();
            assert!(link.starts_with("<https://api.example/accounting/api/charges/webhooks/"), "{link}");
            query = link.split_once('?').unwrap().1.split_once('>').unwrap().0.to_owned();
        }
        assert_eq!(seen, made, "{size}");
    }
    for (status, count) in [("delivered", 15), ("waiting", 8), ("failed", 0)] {
        let query = format!("Status={status}");
        let page = stage.charges(Operation::Deliveries).of(&id).query(&query).send().await;
        assert_eq!(numbers(&page.body).len(), count, "{status}");
    }
    let late = format!("since={}", stage.now().minus(std::time::Duration::from_secs(1)).iso());
    let page = stage.charges(Operation::Deliveries).of(&id).query(&late).send().await;
    assert_eq!(numbers(&page.body), made[..2]);
}

#[tokio::test]
async fn what_is_no_longer_tried_has_failed() {
    let stage = Stage::new().ready().await;
    let id = stage.active().await;
    let sequence = stage.charge("r1", 1).await;
    stage.fail(&id, sequence, 1).await;
    stage.engine(&id, |point| point.disabled = Some("no delivery succeeded for 24 h".into())).await;
    let page = stage.charges(Operation::Deliveries).of(&id).query("status=failed").send().await;
    assert_eq!(numbers(&page.body), [sequence]);
    assert_eq!(page.body[0]["nextAttemptAt"], Value::Null);
}

#[tokio::test]
async fn handshakes_and_tests_are_of_no_event() {
    let stage = Stage::new().ready().await;
    let id = stage.active().await;
    let at = stage.now();
    stage
        .engine(&id, |point| {
            point.attempts = vec![
                attempt(AttemptPurpose::Handshake { number: 1 }, 1, at),
                attempt(AttemptPurpose::Test, 1, at),
            ];
        })
        .await;
    assert_eq!(stage.charges(Operation::Deliveries).of(&id).send().await.body, json!([]));
    let health = stage.charges(Operation::Health).of(&id).send().await;
    let occasions: Vec<&Value> =
        health.body["recentAttempts"].as_array().unwrap().iter().map(|one| &one["occasion"]).collect();
    assert_eq!(occasions.len(), 2, "{health:?}");
}

#[tokio::test]
async fn what_cannot_be_asked_for_is_named() {
    let stage = Stage::new().ready().await;
    let id = stage.active().await;
    for (query, field) in [
        ("pageSize=0", "pageSize"),
        ("pageSize=101", "pageSize"),
        ("pageSize=x", "pageSize"),
        ("pageSize=1&PageSize=2", "pageSize"),
        ("before=x", "before"),
        ("before=-1-2", "before"),
        ("status=lost", "status"),
        ("since=yesterday", "since"),
    ] {
        let asked = stage.charges(Operation::Deliveries).of(&id).query(query).send().await;
        asked.problem(400, "invalid_parameter");
        assert_eq!(asked.body["field"], field, "{query}");
    }
}

#[tokio::test]
async fn one_delivery_is_found_by_its_id_with_its_body() {
    let stage = Stage::new().ready().await;
    let before = stage.charge("r0", 1).await;
    let id = stage.active().await;
    let sequence = stage.charge("r1", 1).await;
    stage.deliver(&id, sequence).await;
    let listed = stage.charges(Operation::Deliveries).of(&id).send().await.body[0].clone();
    let outgoing = listed["outgoingId"].as_str().unwrap();
    let one = stage.charges(Operation::Delivery).of(&id).outgoing(outgoing).send().await;
    assert_eq!(one.status, 200, "{one:?}");
    let sent: Value = serde_json::from_str(one.body["body"].as_str().unwrap()).unwrap();
    assert_eq!((&sent["OutgoingId"], &sent["WebhookId"]), (&json!(outgoing), &json!(id)));
    let data: Value = serde_json::from_str(sent["JsonData"].as_str().unwrap()).unwrap();
    assert_eq!(
        (&data["CorrelationId"], &data["SequenceVersion"]),
        (&json!("r1"), &json!(sequence.to_string()))
    );
    let mut without_body = one.body.clone();
    without_body.as_object_mut().unwrap().remove("body");
    assert_eq!(without_body, listed);
    for wrong in [NOBODY, "x", &id, &outgoing.replace('8', "9")] {
        stage.charges(Operation::Delivery).of(&id).outgoing(wrong).send().await.problem(404, "not_found");
    }
    let other = stage.subscribed().await;
    stage.customers(Operation::Delivery).of(&other).outgoing(outgoing).send().await.problem(404, "not_found");
    assert!(before < sequence);
    let next = stage.charge("r1", 2).await;
    let all = stage.charges(Operation::Deliveries).of(&id).send().await.body;
    assert_eq!(numbers(&all), [sequence], "{next} was not tried yet");
    stage.charges(Operation::Delete).of(&id).send().await.done(5);
    stage.charges(Operation::Deliveries).of(&id).send().await.problem(404, "not_found");
}
