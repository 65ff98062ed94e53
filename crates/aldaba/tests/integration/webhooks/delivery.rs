//! Deliveries end to end: the handshake, the letters, what receivers must do, and what happens where they do not.

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
fn a_change_is_told_to_the_letter_and_signed() {
    let fixture = DeliveryFixture::new();
    let id = fixture.contracted("/hook?x=1");
    let shaken = &fixture.receiver.requests()[0];
    assert!(shaken.is_acknowledge());
    assert_eq!((shaken.method.as_str(), shaken.target.as_str()), ("POST", "/hook?x=1"));
    assert_eq!(shaken.json()["JsonData"], "{\"Arguments\":\"Acknowledge\"}");
    assert_eq!(shaken.json()["ExtraPartitionInformation"], json!({}));
    fixture.put("1", "Uno");
    let request = fixture.receiver.wait_for(1).remove(0);
    let told = request.json();
    let record = fixture.record(&id);
    assert_eq!(told["WebhookId"], id);
    assert_eq!(told["TenantId"], record["tenantId"]);
    assert_eq!(told["UserIdentifier"], record["userIdentifier"]);
    assert_eq!(told["EventType"]["SemanticName"], "Svc.ACC.Customers.CustomerCreated");
    assert_eq!(told["ExtraPartitionInformation"]["PartitionClientId"], "c");
    let header = |name: &str| request.headers.get(name).unwrap_or_else(|| panic!("{name}")).clone();
    let hex = domain::secret::hex(&mac(b"s3cret", &[request.body.as_bytes()])).to_uppercase();
    assert_eq!(header("svc-webhook-signature"), format!("sha256={hex}"));
    assert_eq!(header("webhook-id"), told["OutgoingId"]);
    let (id, at) = (header("webhook-id"), header("webhook-timestamp"));
    let signed = mac(b"s3cret", &[id.as_bytes(), b".", at.as_bytes(), b".", request.body.as_bytes()]);
    assert_eq!(header("webhook-signature"), format!("v1,{}", STANDARD.encode(signed)));
}

#[test]
fn nothing_is_told_before_the_acknowledge_was_answered_with_200() {
    let fixture = DeliveryFixture::new();
    fixture.receiver.respond_with(|_| Some((202, "")));
    let id = fixture.subscribe("/late");
    fixture.put("1", "before");
    wait_for("a second Acknowledge", || (fixture.receiver.requests().len() >= 2).then_some(()));
    let shaken = fixture.receiver.requests();
    assert!(shaken.iter().all(|request| request.body == shaken[0].body), "the same bytes each time");
    assert_eq!(fixture.record(&id)["isActive"], false);
    fixture.receiver.respond_with(|_| Some((200, "")));
    fixture.wait_active(&id, true);
    fixture.put("2", "after");
    assert_eq!(fixture.receiver.wait_for(1)[0].record().as_deref(), Some("2"), "only what came after");
}

#[test]
fn a_receiver_that_never_accepts_is_given_up_and_can_be_asked_again() {
    let fixture = DeliveryFixture::new();
    fixture.receiver.respond_with(|_| Some((500, "")));
    let id = fixture.subscribe("/never");
    let health = format!("{CUSTOMERS}/webhooks/{id}/health");
    wait_for("the service to give up", || {
        get(&fixture.api, &health).text().contains("has not accepted the handshake").then_some(())
    });
    fixture.receiver.respond_with(|_| Some((200, "")));
    fixture.status(&id, true);
    fixture.wait_active(&id, true);
}

#[test]
fn a_record_waits_for_its_earlier_change_and_others_do_not() {
    let fixture = DeliveryFixture::new();
    fixture.contracted("/order");
    fixture.receiver.respond_with(|request| {
        let fails = request.record().as_deref() == Some("bad");
        Some((if fails { 500 } else { 200 }, ""))
    });
    fixture.put("bad", "one");
    fixture.put("bad", "two");
    fixture.put("good", "one");
    wait_for("the good one", || fixture.receiver.records().contains(&"good".into()).then_some(()));
    wait_for("a second try of the bad one", || {
        (fixture.receiver.records().iter().filter(|id| *id == "bad").count() >= 2).then_some(())
    });
    let tries: Vec<_> =
        fixture.receiver.changes().into_iter().filter(|one| one.record().as_deref() == Some("bad")).collect();
    assert!(tries.iter().all(|request| request.body == tries[0].body), "the same event, the same bytes");
    fixture.receiver.respond_with(|_| Some((200, "")));
    let last = wait_for("the later change", || {
        let came = fixture.receiver.changes();
        let last = came.iter().rev().find(|one| one.record().as_deref() == Some("bad"))?.clone();
        (last.body != tries[0].body).then_some(last)
    });
    assert_eq!(last.json()["EventType"]["EventType"], "CustomerUpdated");
}

#[test]
fn who_breaks_a_rule_has_not_taken_it() {
    for (status, head) in
        [(401, ""), (302, "location: http://127.0.0.1:1/\r\n"), (200, "set-cookie: a=b\r\n"), (503, "")]
    {
        let fixture = DeliveryFixture::new();
        fixture.contracted("/rules");
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
fn who_is_silent_costs_one_slot_and_nobody_else_waits() {
    let fixture = DeliveryFixture::new();
    fixture.contracted("/silent");
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
        let mut came = fixture.receiver.records();
        came.sort_unstable();
        came.dedup();
        (came.len() == 30).then_some(())
    });
}

#[test]
fn after_the_window_a_webhook_is_disabled_and_enabled_it_goes_on_where_it_was() {
    let fixture = DeliveryFixture::new();
    let id = fixture.contracted("/window");
    fixture.receiver.respond_with(|_| Some((500, "")));
    fixture.put("1", "lost?");
    fixture.wait_active(&id, false);
    fixture.put("2", "meanwhile");
    let tries = fixture.receiver.changes().len();
    assert!(tries >= 3, "{tries}");
    let audit = fixture.api.sign_in.audit("kind=webhook_disabled");
    assert_eq!(audit.len(), 1, "{audit:?}");
    fixture.receiver.respond_with(|_| Some((200, "")));
    fixture.status(&id, true);
    wait_for("both", || {
        let came: Vec<_> =
            fixture.receiver.changes().split_off(tries).iter().filter_map(ReceivedRequest::record).collect();
        (came.contains(&"1".into()) && came.contains(&"2".into())).then_some(())
    });
}

#[test]
fn its_owner_lets_it_rest_and_it_resumes_from_the_next_event() {
    let fixture = DeliveryFixture::new();
    let id = fixture.contracted("/rest");
    fixture.status(&id, false);
    assert_eq!(fixture.record(&id)["isActive"], false);
    fixture.put("1", "unheard");
    fixture.status(&id, true);
    assert_eq!(fixture.record(&id)["isActive"], true);
    fixture.put("2", "heard");
    assert_eq!(fixture.receiver.wait_for(1)[0].record().as_deref(), Some("2"));
}

#[test]
fn a_new_address_is_asked_first_and_gets_what_waited() {
    let fixture = DeliveryFixture::new();
    let id = fixture.contracted("/old");
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
    assert_eq!(fixture.receiver.requests().len(), before, "nothing more to the old one");
}

#[test]
fn what_was_deleted_or_suspended_hears_nothing() {
    let fixture = DeliveryFixture::new();
    let id = fixture.contracted("/over");
    fixture.api.sign_in.command(&["tenant", "disable", &fixture.api.sign_in.tenants[0]]);
    fixture.put("1", "while suspended");
    fixture.api.sign_in.command(&["tenant", "enable", &fixture.api.sign_in.tenants[0]]);
    assert_eq!(fixture.receiver.wait_for(1)[0].record().as_deref(), Some("1"), "it kept its place");
    expect_state(&send(&fixture.api, Method::DELETE, &format!("{CUSTOMERS}/webhooks/delete/{id}"), None), 5);
    fixture.put("2", "after the end");
    let second = fixture.contracted("/second");
    fixture.put("3", "for the second");
    assert_eq!(fixture.receiver.wait_for(2)[1].json()["WebhookId"], second);
    assert!(!fixture.receiver.records().contains(&"2".into()));
    fixture.server.assert_healthy();
}

#[test]
fn invoicing_has_its_own_handshake_letter_and_signature() {
    let fixture = DeliveryFixture::new();
    let body = json!({
        "uri": fixture.receiver.url("/api/webhooks/incoming/Invoicing"), "entity": "Bank", "action": "Created",
        "secret": "whsec_c2VjcmV0", "isPaused": false, "applicationName": "Panel", "description": "d",
    });
    let made = send(&fixture.api, Method::POST, "/invoicing/api/webhooks", Some(&body));
    assert_eq!(made.status, 200, "{made:?}");
    wait_for("the echo to be accepted", || {
        (get(&fixture.api, "/invoicing/api/webhooks").json()[0]["status"] == "Effective").then_some(())
    });
    let shaken = &fixture.receiver.requests()[0];
    assert_eq!((shaken.method.as_str(), shaken.body.as_str()), ("GET", ""));
    assert!(shaken.target.starts_with("/api/webhooks/incoming/Invoicing?echo="), "{}", shaken.target);
    fixture.ingest.send_lines(&[bank("b1", "Caja Rural")]);
    let request = fixture.receiver.wait_for(1).remove(0);
    let told = request.json();
    assert_eq!((&told["Entity"], &told["EntityId"]), (&json!("Bank"), &json!("b1")));
    assert_eq!(told["Changes"], json!([{"Name": "name", "Value": "Caja Rural"}]));
    let hex = domain::secret::hex(&mac(b"whsec_c2VjcmV0", &[request.body.as_bytes()])).to_uppercase();
    assert_eq!(request.headers["ms-signature"], format!("sha256={hex}"));
    let (id, at) = (&request.headers["webhook-id"], &request.headers["webhook-timestamp"]);
    let signed = mac(b"secret", &[id.as_bytes(), b".", at.as_bytes(), b".", request.body.as_bytes()]);
    assert_eq!(request.headers["webhook-signature"], format!("v1,{}", STANDARD.encode(signed)));
}

#[test]
fn a_delivery_is_replayed_with_the_same_bytes_and_a_test_can_be_sent() {
    let fixture = DeliveryFixture::new();
    let id = fixture.contracted("/again");
    fixture.put("1", "one");
    let first = fixture.receiver.wait_for(1).remove(0);
    let outgoing = first.json()["OutgoingId"].as_str().unwrap().to_owned();
    let path = format!("{CUSTOMERS}/webhooks/{id}/deliveries/{outgoing}/replay");
    let replay = wait_for("the delivery to be in the history", || {
        Some(send(&fixture.api, Method::POST, &path, None)).filter(|response| response.status == 202)
    });
    assert_eq!(replay.status, 202);
    assert_eq!(fixture.receiver.wait_for(2)[1].body, first.body);
    let test = send(&fixture.api, Method::POST, &format!("{CUSTOMERS}/webhooks/{id}/test"), None);
    assert_eq!(test.status, 202, "{test:?}");
    let request = fixture.receiver.wait_for(3).remove(2);
    assert!(request.body.contains("\\\"SvcSourceAction\\\":\\\"Test\\\""), "{}", request.body);
}
