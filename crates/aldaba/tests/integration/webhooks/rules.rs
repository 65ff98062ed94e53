//! The contract's requirements on receivers, rule by rule, and the recorded reason when a receiver breaks one.

use serde_json::{Value, json};

use super::delivery_fixture::{DeliveryFixture, INVOICING};
use super::{CUSTOMERS, get};
use crate::harness::{ReceivedRequest, bank, wait_for};

/// A response: status and extra header lines; `None` never responds.
type ReceiverResponse = Option<(u16, &'static str)>;

/// Wrong responses by path, each with the recorded reason.
const WRONG_RESPONSES: [(&str, ReceiverResponse, &str); 8] = [
    ("/201", Some((201, "")), "the answer was 201"),
    ("/204", Some((204, "")), "the answer was 204"),
    ("/302", Some((302, "location: /well\r\n")), "the answer was 302"),
    ("/401", Some((401, "")), "the answer was 401"),
    ("/404", Some((404, "")), "the answer was 404"),
    ("/500", Some((500, "")), "the answer was 500"),
    ("/cookie", Some((200, "set-cookie: a=b\r\n")), "the answer sets a cookie"),
    ("/late", None, "timed out"),
];

fn respond_wrongly(request: &ReceivedRequest) -> ReceiverResponse {
    let known = WRONG_RESPONSES.iter().find(|(path, ..)| *path == request.target);
    known.map_or(Some((200, "")), |(_, answer, _)| *answer)
}

#[test]
fn only_a_timely_200_without_cookies_accepts_the_acknowledge() {
    let fixture = DeliveryFixture::new();
    fixture.receiver.respond_with(respond_wrongly);
    let ids: Vec<String> = WRONG_RESPONSES.iter().map(|(path, ..)| fixture.subscribe(path)).collect();
    let accepted = fixture.active_webhook("/well");
    fixture.put("early", "for the accepted webhook");
    for (id, (path, answer, reason)) in ids.iter().zip(WRONG_RESPONSES) {
        let attempts =
            wait_for("a second attempt", || Some(fixture.attempts(id)).filter(|all| all.len() >= 2));
        for attempt in attempts {
            assert_eq!(attempt["occasion"], "handshake", "{attempt}");
            assert_eq!(attempt["status"], json!(answer.map(|(status, _)| status)), "{attempt}");
            assert!(attempt["reason"].as_str().unwrap().starts_with(reason), "{path}: {attempt}");
        }
        assert_eq!(fixture.record(id)["isActive"], false, "{path}");
    }
    fixture.receiver.wait_for(1);
    assert!(fixture.receiver.changes().iter().all(|request| request.json()["WebhookId"] == accepted));
}

#[test]
fn every_2xx_accepts_a_delivery_once() {
    const GOOD: [(&str, u16); 6] =
        [("/200", 200), ("/201", 201), ("/202", 202), ("/204", 204), ("/206", 206), ("/299", 299)];
    let fixture = DeliveryFixture::new();
    let ids = GOOD.map(|(path, _)| fixture.active_webhook(path));
    fixture.receiver.respond_with(|request| {
        let good = GOOD.iter().find(|(path, _)| *path == request.target);
        good.map(|(_, status)| (*status, ""))
    });
    fixture.put("1", "one");
    fixture.put("1", "two");
    for (id, (path, _)) in ids.iter().zip(GOOD) {
        let all = wait_for("both deliveries", || {
            Some(fixture.deliveries(id, 2)).filter(|all| all.iter().all(|one| one["status"] == "delivered"))
        });
        assert!(all.iter().all(|one| one["attempts"] == json!([])), "no attempt failed: {all:?}");
        let received_count =
            fixture.receiver.changes().iter().filter(|request| request.target == path).count();
        assert_eq!(received_count, 2, "{path}");
    }
}

#[test]
fn failed_attempts_name_the_broken_rule() {
    let fixture = DeliveryFixture::new();
    let broken: Vec<_> = WRONG_RESPONSES
        .into_iter()
        .filter(|(_, answer, _)| answer.is_none_or(|(code, _)| code > 204 || code == 200))
        .collect();
    let ids: Vec<String> = broken.iter().map(|(path, ..)| fixture.active_webhook(path)).collect();
    fixture.receiver.respond_with(respond_wrongly);
    fixture.put("1", "one");
    for (id, (path, answer, reason)) in ids.iter().zip(&broken) {
        let delivery = fixture.deliveries(id, 1).remove(0);
        let attempt = &delivery["attempts"][0];
        assert_eq!(attempt["status"], json!(answer.map(|(status, _)| status)), "{attempt}");
        assert!(attempt["reason"].as_str().unwrap().starts_with(reason), "{path}: {attempt}");
        assert_eq!((&delivery["deliveredAt"], &attempt["number"]), (&Value::Null, &json!(1)), "{delivery}");
    }
    assert!(
        fixture.receiver.changes().iter().all(|request| request.target != "/well"),
        "no redirect is followed"
    );
    // Each event is delivered in the end, with the bytes of the first attempt.
    fixture.receiver.respond_with(|_| Some((200, "")));
    for id in &ids {
        wait_for("the event to be delivered", || {
            (fixture.deliveries(id, 1)[0]["status"] == "delivered").then_some(())
        });
    }
    for (path, ..) in &broken {
        let mut bodies: Vec<_> = fixture.receiver.changes();
        bodies.retain(|request| request.target == *path);
        assert!(bodies.len() >= 2 && bodies.iter().all(|request| request.body == bodies[0].body), "{path}");
    }
}

#[test]
fn retry_after_is_respected() {
    let fixture = DeliveryFixture::new();
    for (path, answer) in [("/429", (429, "retry-after: 2\r\n")), ("/503", (503, "retry-after: 2\r\n"))] {
        let id = fixture.active_webhook(path);
        fixture.receiver.respond_with(move |_| Some(answer));
        fixture.put(path, "one");
        let waiting = fixture.deliveries(&id, 1).remove(0);
        let parse_time = |text: &Value| domain::Ticks::parse_iso(text.as_str().unwrap()).unwrap();
        let (at, next) = (parse_time(&waiting["attempts"][0]["at"]), parse_time(&waiting["nextAttemptAt"]));
        let pause = next.since(at).as_millis();
        assert!((1_700..=2_300).contains(&pause), "{pause} ms: {waiting}");
        fixture.receiver.respond_with(|_| Some((200, "")));
        wait_for("the event to be delivered", || {
            (fixture.deliveries(&id, 1)[0]["status"] == "delivered").then_some(())
        });
    }
}

#[test]
fn the_echo_must_return_the_guid() {
    let fixture = DeliveryFixture::new();
    fixture.receiver.set_body(Some("0b0a1c2d-0000-4000-8000-000000000000"));
    let id = fixture.subscribe_invoicing("Created");
    fixture.ingest.send_lines(&[bank("before", "Caja Rural")]);
    let health = format!("{INVOICING}/{id}/health");
    let report = wait_for("a second attempt", || {
        let report = get(&fixture.api, &health).json();
        (report["recentAttempts"].as_array().unwrap().len() >= 2).then_some(report)
    });
    let reason = report["recentAttempts"][0]["reason"].as_str().unwrap();
    assert_eq!(reason, "the body of the answer is not the GUID of the query's echo");
    assert_eq!(fixture.invoicing(&id)["status"], "Pending");
    fixture.receiver.set_body(None);
    fixture.wait_invoicing(&id, "Effective");
    fixture.ingest.send_lines(&[bank("after", "Caja Rural")]);
    assert_eq!(fixture.receiver.wait_for(1)[0].record().as_deref(), Some("after"), "only later events");
    let echoes: Vec<_> = fixture.receiver.requests().into_iter().filter(|one| one.method == "GET").collect();
    assert!(
        echoes.len() >= 3 && echoes.iter().all(|one| one.target == echoes[0].target),
        "the same echo each time"
    );
    assert!(get(&fixture.api, &format!("{CUSTOMERS}/webhooks")).json().as_array().unwrap().is_empty());
}
