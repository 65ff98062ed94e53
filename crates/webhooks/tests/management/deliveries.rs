//! Deliveries in the owner's API: their JSON, pages, links and parameters.

use serde_json::{Value, json};
use store::AttemptPurpose;
use webhooks::management::Operation;

use crate::fixture::{Fixture, ZERO_ID, attempt};

/// The sequences of a page's events.
fn sequences(page: &Value) -> Vec<u64> {
    page.as_array()
        .unwrap()
        .iter()
        .map(|one| one["sequenceVersion"].as_str().unwrap().parse().unwrap())
        .collect()
}

#[tokio::test]
async fn each_event_is_listed_once_with_its_attempts() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.active_webhook().await;
    let (first, second) = (fixture.charge("r1", 1).await, fixture.charge("r2", 2).await);
    fixture.advance(1);
    fixture.record_failure(&id, first, 1).await;
    fixture.advance(1);
    fixture.record_delivery(&id, second).await;
    fixture.advance(5);
    fixture.record_failure(&id, first, 2).await;
    let page = fixture.charges(Operation::Deliveries).webhook(&id).send().await;
    assert_eq!(sequences(&page.body), [first, second], "newest attempt first");
    let waiting = &page.body[0];
    assert_eq!(
        (&waiting["event"], &waiting["correlationId"], &waiting["company"], &waiting["status"]),
        (&json!("Svc.ACC.Charges.ChargeCreated"), &json!("r1"), &json!("c"), &json!("waiting"))
    );
    assert_eq!(waiting["attempts"].as_array().unwrap().len(), 2);
    assert_eq!(
        waiting["attempts"][1],
        json!({
            "occasion": "event", "at": fixture.now().iso(), "number": 2, "status": 500, "succeeded": false,
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
async fn pages_list_every_delivery_once() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.active_webhook().await;
    let mut made = Vec::new();
    for number in 0..23 {
        let sequence = fixture.charge(&format!("r{number}"), number).await;
        fixture.advance(1);
        if number % 3 == 0 {
            fixture.record_failure(&id, sequence, 1).await;
            fixture.advance(1);
            fixture.record_failure(&id, sequence, 2).await;
        } else {
            fixture.record_delivery(&id, sequence).await;
        }
        made.push(sequence);
    }
    made.reverse();
    for size in [1, 4, 23, 24] {
        let mut seen = Vec::new();
        let mut query = format!("pageSize={size}");
        loop {
            let page = fixture.charges(Operation::Deliveries).webhook(&id).query(&query).send().await;
            assert_eq!(page.status, 200, "{page:?}");
            let found = sequences(&page.body);
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
        let page = fixture.charges(Operation::Deliveries).webhook(&id).query(&query).send().await;
        assert_eq!(sequences(&page.body).len(), count, "{status}");
    }
    let late = format!("since={}", fixture.now().minus(std::time::Duration::from_secs(1)).iso());
    let page = fixture.charges(Operation::Deliveries).webhook(&id).query(&late).send().await;
    assert_eq!(sequences(&page.body), made[..2]);
}

#[tokio::test]
async fn delivery_that_is_not_retried_has_failed() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.active_webhook().await;
    let sequence = fixture.charge("r1", 1).await;
    fixture.record_failure(&id, sequence, 1).await;
    fixture
        .write_checkpoint(&id, |checkpoint| {
            checkpoint.disabled = Some("no delivery succeeded for 24 h".into());
        })
        .await;
    let page = fixture.charges(Operation::Deliveries).webhook(&id).query("status=failed").send().await;
    assert_eq!(sequences(&page.body), [sequence]);
    assert_eq!(page.body[0]["nextAttemptAt"], Value::Null);
}

#[tokio::test]
async fn handshakes_and_tests_are_not_listed_as_deliveries() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.active_webhook().await;
    let at = fixture.now();
    fixture
        .write_checkpoint(&id, |checkpoint| {
            checkpoint.attempts = vec![
                attempt(AttemptPurpose::Handshake { number: 1 }, 1, at),
                attempt(AttemptPurpose::Test, 1, at),
            ];
        })
        .await;
    assert_eq!(fixture.charges(Operation::Deliveries).webhook(&id).send().await.body, json!([]));
    let health = fixture.charges(Operation::Health).webhook(&id).send().await;
    let occasions: Vec<&Value> =
        health.body["recentAttempts"].as_array().unwrap().iter().map(|one| &one["occasion"]).collect();
    assert_eq!(occasions.len(), 2, "{health:?}");
}

#[tokio::test]
async fn invalid_parameters_are_named() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.active_webhook().await;
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
        let reply = fixture.charges(Operation::Deliveries).webhook(&id).query(query).send().await;
        reply.assert_error(400, "invalid_parameter");
        assert_eq!(reply.body["field"], field, "{query}");
    }
}

#[tokio::test]
async fn delivery_is_found_by_its_outgoing_id_with_its_body() {
    let fixture = Fixture::new().with_tenants().await;
    let before = fixture.charge("r0", 1).await;
    let id = fixture.active_webhook().await;
    let sequence = fixture.charge("r1", 1).await;
    fixture.record_delivery(&id, sequence).await;
    let listed = fixture.charges(Operation::Deliveries).webhook(&id).send().await.body[0].clone();
    let outgoing = listed["outgoingId"].as_str().unwrap();
    let one = fixture.charges(Operation::Delivery).webhook(&id).outgoing(outgoing).send().await;
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
    for wrong in [ZERO_ID, "x", &id, &outgoing.replace('8', "9")] {
        fixture
            .charges(Operation::Delivery)
            .webhook(&id)
            .outgoing(wrong)
            .send()
            .await
            .assert_error(404, "not_found");
    }
    let other = fixture.subscribe_to_customers().await;
    fixture
        .customers(Operation::Delivery)
        .webhook(&other)
        .outgoing(outgoing)
        .send()
        .await
        .assert_error(404, "not_found");
    assert!(before < sequence);
    let next = fixture.charge("r1", 2).await;
    let all = fixture.charges(Operation::Deliveries).webhook(&id).send().await.body;
    assert_eq!(sequences(&all), [sequence], "{next} was not tried yet");
    fixture.charges(Operation::Delete).webhook(&id).send().await.assert_done(5);
    fixture.charges(Operation::Deliveries).webhook(&id).send().await.assert_error(404, "not_found");
}
