//! Deliveries end to end: handshakes, signed requests, retries, disabling and replays.

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::Method;
use serde_json::json;

use super::delivery_fixture::DeliveryFixture;
use super::{CUSTOMERS, expect_state, get, send};
use crate::harness::{ReceivedRequest, Receiver, bank, wait_for};

fn mac(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    hmac::sign(&key, &parts.concat()).as_ref().to_vec()
}

#[test]
fn a_delivery_has_the_contracts_body_and_signatures() {
    let fixture = DeliveryFixture::new();
    let id = fixture.active_webhook("/hook?x=1");
    let handshake = &fixture.receiver.requests()[0];
    assert!(handshake.is_acknowledge());
    assert_eq!((handshake.method.as_str(), handshake.target.as_str()), ("POST", "/hook?x=1"));
    assert_eq!(handshake.json()["JsonData"], "{\"Arguments\":\"Acknowledge\"}");
    assert_eq!(handshake.json()["ExtraPartitionInformation"], json!({}));
    fixture.put("1", "Uno");
    let request = fixture.receiver.wait_for(1).remove(0);
    let payload = request.json();
    let record = fixture.record(&id);
    assert_eq!(payload["WebhookId"], id);
    assert_eq!(payload["TenantId"], record["tenantId"]);
    assert_eq!(payload["UserIdentifier"], record["userIdentifier"]);
    assert_eq!(payload["EventType"]["SemanticName"], "Svc.ACC.Customers.CustomerCreated");
    assert_eq!(payload["ExtraPartitionInformation"]["PartitionClientId"], "c");
    let header = |name: &str| request.headers.get(name).unwrap_or_else(|| panic!("{name}")).clone();
    let hex = domain::secret::hex(&mac(b"s3cret", &[request.body.as_bytes()])).to_uppercase();
    assert_eq!(header("svc-webhook-signature"), format!("sha256={hex}"));
    assert_eq!(header("webhook-id"), payload["OutgoingId"]);
    let (id, at) = (header("webhook-id"), header("webhook-timestamp"));
    let signed = mac(b"s3cret", &[id.as_bytes(), b".", at.as_bytes(), b".", request.body.as_bytes()]);
    assert_eq!(header("webhook-signature"), format!("v1,{}", STANDARD.encode(signed)));
}

#[test]
fn no_event_is_delivered_before_the_acknowledge_gets_200() {
    let fixture = DeliveryFixture::new();
    fixture.receiver.respond_with(|_| Some((202, "")));
    let id = fixture.subscribe("/late");
    fixture.put("1", "before");
    wait_for("a second Acknowledge", || (fixture.receiver.requests().len() >= 2).then_some(()));
    let handshakes = fixture.receiver.requests();
    assert!(handshakes.iter().all(|request| request.body == handshakes[0].body), "the same bytes each time");
    assert_eq!(fixture.record(&id)["isActive"], false);
    fixture.receiver.respond_with(|_| Some((200, "")));
    fixture.wait_active(&id, true);
    fixture.put("2", "after");
    assert_eq!(fixture.receiver.wait_for(1)[0].record().as_deref(), Some("2"), "only later events");
}

#[test]
fn a_handshake_that_never_succeeds_ends_and_can_be_restarted() {
    let fixture = DeliveryFixture::new();
    fixture.receiver.respond_with(|_| Some((500, "")));
    let id = fixture.subscribe("/never");
    let health = format!("{CUSTOMERS}/webhooks/{id}/health");
    wait_for("the service to give up", || {
        get(&fixture.api, &health).text().contains("has not accepted the handshake").then_some(())
    });
    fixture.receiver.respond_with(|_| Some((200, "")));
    fixture.set_enabled(&id, true);
    fixture.wait_active(&id, true);
}

#[test]
fn a_failed_event_blocks_only_its_own_record() {
    let fixture = DeliveryFixture::new();
    fixture.active_webhook("/order");
    fixture.receiver.respond_with(|request| {
        let fails = request.record().as_deref() == Some("bad");
        Some((if fails { 500 } else { 200 }, ""))
    });
    fixture.put("bad", "one");
    fixture.put("bad", "two");
    fixture.put("good", "one");
    wait_for("the good record's event", || fixture.receiver.records().contains(&"good".into()).then_some(()));
    wait_for("a second attempt for the bad record", || {
        (fixture.receiver.records().iter().filter(|id| *id == "bad").count() >= 2).then_some(())
    });
    let tries: Vec<_> =
        fixture.receiver.changes().into_iter().filter(|one| one.record().as_deref() == Some("bad")).collect();
    assert!(tries.iter().all(|request| request.body == tries[0].body), "the same event, the same bytes");
    fixture.receiver.respond_with(|_| Some((200, "")));
    let last = wait_for("the later change", || {
        let received = fixture.receiver.changes();
        let last = received.iter().rev().find(|one| one.record().as_deref() == Some("bad"))?.clone();
        (last.body != tries[0].body).then_some(last)
    });
    assert_eq!(last.json()["EventType"]["EventType"], "CustomerUpdated");
}

#[test]
fn a_response_that_breaks_a_rule_is_retried() {
    for (status, head) in
        [(401, ""), (302, "location: http://127.0.0.1:1/\r\n"), (200, "set-cookie: a=b\r\n"), (503, "")]
    {
        let fixture = DeliveryFixture::new();
        fixture.active_webhook("/rules");
        fixture.receiver.respond_with(move |_| Some((status, head)));
        fixture.put("1", "one");
        fixture.receiver.wait_for(2);
        fixture.receiver.respond_with(|_| Some((204, "")));
        let before = fixture.receiver.changes().len();
        fixture.receiver.wait_for(before + 1);
        fixture.put("2", "two");
        wait_for("the next record", || fixture.receiver.records().contains(&"2".into()).then_some(()));
    }
}

#[test]
fn a_silent_receiver_does_not_delay_others() {
    let fixture = DeliveryFixture::new();
    fixture.active_webhook("/silent");
    let other = Receiver::open();
    let body = json!({
        "thirdPartyApplicationName": "Other", "url": other.url("/well"), "secret": "s",
        "eventTypes": ["Svc.ACC.Customers.CustomerCreated"],
    });
    let id = expect_state(
        &send(&fixture.api, Method::POST, &format!("{CUSTOMERS}/webhooks/subscribe"), Some(&body)),
        3,
    );
    fixture.wait_active(&id, true);
    fixture.receiver.respond_with(|_| None);
    for number in 0..30 {
        fixture.put(&format!("{number}"), "one");
    }
    assert_eq!(other.wait_for(30).len(), 30);
    fixture.receiver.respond_with(|_| Some((200, "")));
    wait_for("all to arrive", || {
        let mut received = fixture.receiver.records();
        received.sort_unstable();
        received.dedup();
        (received.len() == 30).then_some(())
    });
}

#[test]
fn a_webhook_disabled_after_the_window_resumes_where_it_stopped() {
    let fixture = DeliveryFixture::new();
    let id = fixture.active_webhook("/window");
    fixture.receiver.respond_with(|_| Some((500, "")));
    fixture.put("1", "lost?");
    fixture.wait_active(&id, false);
    fixture.put("2", "meanwhile");
    let tries = fixture.receiver.changes().len();
    assert!(tries >= 3, "{tries}");
    let audit = fixture.api.sign_in.audit("kind=webhook_disabled");
    assert_eq!(audit.len(), 1, "{audit:?}");
    fixture.receiver.respond_with(|_| Some((200, "")));
    fixture.set_enabled(&id, true);
    wait_for("both events", || {
        let received: Vec<_> =
            fixture.receiver.changes().split_off(tries).iter().filter_map(ReceivedRequest::record).collect();
        (received.contains(&"1".into()) && received.contains(&"2".into())).then_some(())
    });
}

#[test]
fn a_webhook_disabled_by_its_owner_resumes_at_the_next_event() {
    let fixture = DeliveryFixture::new();
    let id = fixture.active_webhook("/rest");
    fixture.set_enabled(&id, false);
    assert_eq!(fixture.record(&id)["isActive"], false);
    fixture.put("1", "unheard");
    fixture.set_enabled(&id, true);
    assert_eq!(fixture.record(&id)["isActive"], true);
    fixture.put("2", "heard");
    assert_eq!(fixture.receiver.wait_for(1)[0].record().as_deref(), Some("2"));
}

#[test]
fn a_new_url_gets_an_acknowledge_and_then_the_waiting_events() {
    let fixture = DeliveryFixture::new();
    let id = fixture.active_webhook("/old");
    let other = Receiver::open();
    other.respond_with(|_| Some((500, "")));
    let body = json!({"webhookId": id, "url": other.url("/new")});
    expect_state(
        &send(&fixture.api, Method::PUT, &format!("{CUSTOMERS}/webhooks/change/{id}"), Some(&body)),
        6,
    );
    let before = fixture.receiver.requests().len();
    fixture.put("1", "waits");
    wait_for("an Acknowledge at the new address", || {
        other.requests().first().map(|one| assert!(one.is_acknowledge()))
    });
    other.respond_with(|_| Some((200, "")));
    assert_eq!(other.wait_for(1)[0].record().as_deref(), Some("1"));
    assert_eq!(fixture.receiver.requests().len(), before, "no more requests to the old url");
}

#[test]
fn deleted_webhooks_and_disabled_tenants_get_no_events() {
    let fixture = DeliveryFixture::new();
    let id = fixture.active_webhook("/over");
    fixture.api.sign_in.command(&["tenant", "disable", &fixture.api.sign_in.tenants[0]]);
    fixture.put("1", "while suspended");
    fixture.api.sign_in.command(&["tenant", "enable", &fixture.api.sign_in.tenants[0]]);
    assert_eq!(fixture.receiver.wait_for(1)[0].record().as_deref(), Some("1"), "its position is unchanged");
    expect_state(&send(&fixture.api, Method::DELETE, &format!("{CUSTOMERS}/webhooks/delete/{id}"), None), 5);
    fixture.put("2", "after the end");
    let second = fixture.active_webhook("/second");
    fixture.put("3", "for the second");
    assert_eq!(fixture.receiver.wait_for(2)[1].json()["WebhookId"], second);
    assert!(!fixture.receiver.records().contains(&"2".into()));
    fixture.server.assert_healthy();
}

#[test]
fn invoicing_has_its_own_handshake_body_and_signature() {
    let fixture = DeliveryFixture::new();
    let body = json!({
        "uri": fixture.receiver.url("/api/webhooks/incoming/Invoicing"), "entity": "Bank", "action": "Created",
        "secret": "whsec_c2VjcmV0", "isPaused": false, "applicationName": "Panel", "description": "d",
    });
    let created = send(&fixture.api, Method::POST, "/invoicing/api/webhooks", Some(&body));
    assert_eq!(created.status, 200, "{created:?}");
    wait_for("the echo to be accepted", || {
        (get(&fixture.api, "/invoicing/api/webhooks").json()[0]["status"] == "Effective").then_some(())
    });
    let handshake = &fixture.receiver.requests()[0];
    assert_eq!((handshake.method.as_str(), handshake.body.as_str()), ("GET", ""));
    assert!(handshake.target.starts_with("/api/webhooks/incoming/Invoicing?echo="), "{}", handshake.target);
    fixture.ingest.send_lines(&[bank("b1", "Caja Rural")]);
    let request = fixture.receiver.wait_for(1).remove(0);
    let payload = request.json();
    assert_eq!((&payload["Entity"], &payload["EntityId"]), (&json!("Bank"), &json!("b1")));
    assert_eq!(payload["Changes"], json!([{"Name": "name", "Value": "Caja Rural"}]));
    let hex = domain::secret::hex(&mac(b"whsec_c2VjcmV0", &[request.body.as_bytes()])).to_uppercase();
    assert_eq!(request.headers["ms-signature"], format!("sha256={hex}"));
    let (id, at) = (&request.headers["webhook-id"], &request.headers["webhook-timestamp"]);
    let signed = mac(b"secret", &[id.as_bytes(), b".", at.as_bytes(), b".", request.body.as_bytes()]);
    assert_eq!(request.headers["webhook-signature"], format!("v1,{}", STANDARD.encode(signed)));
}

#[test]
fn a_replay_sends_the_same_bytes_and_a_test_event_can_be_sent() {
    let fixture = DeliveryFixture::new();
    let id = fixture.active_webhook("/again");
    fixture.put("1", "one");
    let first = fixture.receiver.wait_for(1).remove(0);
    let outgoing = first.json()["OutgoingId"].as_str().unwrap().to_owned();
    let path = format!("{CUSTOMERS}/webhooks/{id}/deliveries/{outgoing}/replay");
    let replay = wait_for("the delivery to be recorded", || {
        Some(send(&fixture.api, Method::POST, &path, None)).filter(|response| response.status == 202)
    });
    assert_eq!(replay.status, 202);
    assert_eq!(fixture.receiver.wait_for(2)[1].body, first.body);
    let test = send(&fixture.api, Method::POST, &format!("{CUSTOMERS}/webhooks/{id}/test"), None);
    assert_eq!(test.status, 202, "{test:?}");
    let request = fixture.receiver.wait_for(3).remove(2);
    assert!(request.body.contains("\\\"SvcSourceAction\\\":\\\"Test\\\""), "{}", request.body);
}
