//! Deliveries end to end: the handshake, the letters, what receivers must do, and what happens where they do not.

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::Method;
use serde_json::json;

use super::stage::Stage;
use super::{CUSTOMERS, done, get, send};
use crate::harness::{Letter, Receiver, bank, until};

fn mac(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    hmac::sign(&key, &parts.concat()).as_ref().to_vec()
}

#[test]
fn a_change_is_told_to_the_letter_and_signed() {
    let stage = Stage::new();
    let id = stage.contracted("/hook?x=1");
    let shaken = &stage.receiver.letters()[0];
    assert!(shaken.is_acknowledge());
    assert_eq!((shaken.method.as_str(), shaken.target.as_str()), ("POST", "/hook?x=1"));
    assert_eq!(shaken.json()["JsonData"], "{\"Arguments\":\"Acknowledge\"}");
    assert_eq!(shaken.json()["ExtraPartitionInformation"], json!({}));
    stage.put("1", "Uno");
    let letter = stage.receiver.wait_for(1).remove(0);
    let told = letter.json();
    let record = stage.record(&id);
    assert_eq!(told["WebhookId"], id);
    assert_eq!(told["TenantId"], record["tenantId"]);
    assert_eq!(told["UserIdentifier"], record["userIdentifier"]);
    assert_eq!(told["EventType"]["SemanticName"], "Svc.ACC.Customers.CustomerCreated");
    assert_eq!(told["ExtraPartitionInformation"]["PartitionClientId"], "c");
    let header = |name: &str| letter.headers.get(name).unwrap_or_else(|| panic!("{name}")).clone();
    let hex = domain::secret::hex(&mac(b"s3cret", &[letter.body.as_bytes()])).to_uppercase();
    assert_eq!(header("svc-webhook-signature"), format!("sha256={hex}"));
    assert_eq!(header("webhook-id"), told["OutgoingId"]);
    let (id, at) = (header("webhook-id"), header("webhook-timestamp"));
    let signed = mac(b"s3cret", &[id.as_bytes(), b".", at.as_bytes(), b".", letter.body.as_bytes()]);
    assert_eq!(header("webhook-signature"), format!("v1,{}", STANDARD.encode(signed)));
}

#[test]
fn nothing_is_told_before_the_acknowledge_was_answered_with_200() {
    let stage = Stage::new();
    stage.receiver.answers(|_| Some((202, "")));
    let id = stage.subscribe("/late");
    stage.put("1", "before");
    until("a second Acknowledge", || (stage.receiver.letters().len() >= 2).then_some(()));
    let shaken = stage.receiver.letters();
    assert!(shaken.iter().all(|letter| letter.body == shaken[0].body), "the same bytes each time");
    assert_eq!(stage.record(&id)["isActive"], false);
    stage.receiver.answers(|_| Some((200, "")));
    stage.wait_active(&id, true);
    stage.put("2", "after");
    assert_eq!(stage.receiver.wait_for(1)[0].record().as_deref(), Some("2"), "only what came after");
}

#[test]
fn a_receiver_that_never_accepts_is_given_up_and_can_be_asked_again() {
    let stage = Stage::new();
    stage.receiver.answers(|_| Some((500, "")));
    let id = stage.subscribe("/never");
    let health = format!("{CUSTOMERS}/webhooks/{id}/health");
    until("the service to give up", || {
        get(&stage.api, &health).text().contains("has not accepted the handshake").then_some(())
    });
    stage.receiver.answers(|_| Some((200, "")));
    stage.status(&id, true);
    stage.wait_active(&id, true);
}

#[test]
fn a_record_waits_for_its_earlier_change_and_others_do_not() {
    let stage = Stage::new();
    stage.contracted("/order");
    stage.receiver.answers(|letter| {
        let fails = letter.record().as_deref() == Some("bad");
        Some((if fails { 500 } else { 200 }, ""))
    });
    stage.put("bad", "one");
    stage.put("bad", "two");
    stage.put("good", "one");
    until("the good one", || stage.receiver.records().contains(&"good".into()).then_some(()));
    until("a second try of the bad one", || {
        (stage.receiver.records().iter().filter(|id| *id == "bad").count() >= 2).then_some(())
    });
    let tries: Vec<_> =
        stage.receiver.changes().into_iter().filter(|one| one.record().as_deref() == Some("bad")).collect();
    assert!(tries.iter().all(|letter| letter.body == tries[0].body), "the same event, the same bytes");
    stage.receiver.answers(|_| Some((200, "")));
    let last = until("the later change", || {
        let came = stage.receiver.changes();
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
        let stage = Stage::new();
        stage.contracted("/rules");
        stage.receiver.answers(move |_| Some((status, head)));
        stage.put("1", "one");
        stage.receiver.wait_for(2);
        stage.receiver.answers(|_| Some((204, "")));
        let before = stage.receiver.changes().len();
        stage.receiver.wait_for(before + 1);
        stage.put("2", "two");
        until("the next record", || stage.receiver.records().contains(&"2".into()).then_some(()));
    }
}

#[test]
fn who_is_silent_costs_one_slot_and_nobody_else_waits() {
    let stage = Stage::new();
    stage.contracted("/silent");
    let other = Receiver::open();
    let body = json!({
        "thirdPartyApplicationName": "Other", "url": other.url("/well"), "secret": "s",
        "eventTypes": ["Svc.ACC.Customers.CustomerCreated"],
    });
    let id =
        done(&send(&stage.api, Method::POST, &format!("{CUSTOMERS}/webhooks/subscribe"), Some(&body)), 3);
    stage.wait_active(&id, true);
    stage.receiver.answers(|_| None);
    for number in 0..30 {
        stage.put(&format!("{number}"), "one");
    }
    assert_eq!(other.wait_for(30).len(), 30);
    stage.receiver.answers(|_| Some((200, "")));
    until("all to arrive", || {
        let mut came = stage.receiver.records();
        came.sort_unstable();
        came.dedup();
        (came.len() == 30).then_some(())
    });
}

#[test]
fn after_the_window_a_webhook_is_disabled_and_enabled_it_goes_on_where_it_was() {
    let stage = Stage::new();
    let id = stage.contracted("/window");
    stage.receiver.answers(|_| Some((500, "")));
    stage.put("1", "lost?");
    stage.wait_active(&id, false);
    stage.put("2", "meanwhile");
    let tries = stage.receiver.changes().len();
    assert!(tries >= 3, "{tries}");
    let audit = stage.api.office.audit("kind=webhook_disabled");
    assert_eq!(audit.len(), 1, "{audit:?}");
    stage.receiver.answers(|_| Some((200, "")));
    stage.status(&id, true);
    until("both", || {
        let came: Vec<_> =
            stage.receiver.changes().split_off(tries).iter().filter_map(Letter::record).collect();
        (came.contains(&"1".into()) && came.contains(&"2".into())).then_some(())
    });
}

#[test]
fn its_owner_lets_it_rest_and_it_resumes_from_the_next_event() {
    let stage = Stage::new();
    let id = stage.contracted("/rest");
    stage.status(&id, false);
    assert_eq!(stage.record(&id)["isActive"], false);
    stage.put("1", "unheard");
    stage.status(&id, true);
    assert_eq!(stage.record(&id)["isActive"], true);
    stage.put("2", "heard");
    assert_eq!(stage.receiver.wait_for(1)[0].record().as_deref(), Some("2"));
}

#[test]
fn a_new_address_is_asked_first_and_gets_what_waited() {
    let stage = Stage::new();
    let id = stage.contracted("/old");
    let other = Receiver::open();
    other.answers(|_| Some((500, "")));
    let body = json!({"webhookId": id, "url": other.url("/new")});
    done(&send(&stage.api, Method::PUT, &format!("{CUSTOMERS}/webhooks/change/{id}"), Some(&body)), 6);
    let before = stage.receiver.letters().len();
    stage.put("1", "waits");
    until("an Acknowledge at the new address", || {
        other.letters().first().map(|one| assert!(one.is_acknowledge()))
    });
    other.answers(|_| Some((200, "")));
    assert_eq!(other.wait_for(1)[0].record().as_deref(), Some("1"));
    assert_eq!(stage.receiver.letters().len(), before, "nothing more to the old one");
}

#[test]
fn what_was_deleted_or_suspended_hears_nothing() {
    let stage = Stage::new();
    let id = stage.contracted("/over");
    stage.api.office.command(&["tenant", "disable", &stage.api.office.tenants[0]]);
    stage.put("1", "while suspended");
    stage.api.office.command(&["tenant", "enable", &stage.api.office.tenants[0]]);
    assert_eq!(stage.receiver.wait_for(1)[0].record().as_deref(), Some("1"), "it kept its place");
    done(&send(&stage.api, Method::DELETE, &format!("{CUSTOMERS}/webhooks/delete/{id}"), None), 5);
    stage.put("2", "after the end");
    let second = stage.contracted("/second");
    stage.put("3", "for the second");
    assert_eq!(stage.receiver.wait_for(2)[1].json()["WebhookId"], second);
    assert!(!stage.receiver.records().contains(&"2".into()));
    stage.serve.is_well();
}

#[test]
fn invoicing_has_its_own_handshake_letter_and_signature() {
    let stage = Stage::new();
    let body = json!({
        "uri": stage.receiver.url("/api/webhooks/incoming/Invoicing"), "entity": "Bank", "action": "Created",
        "secret": "whsec_c2VjcmV0", "isPaused": false, "applicationName": "Panel", "description": "d",
    });
    let made = send(&stage.api, Method::POST, "/invoicing/api/webhooks", Some(&body));
    assert_eq!(made.status, 200, "{made:?}");
    until("the echo to be accepted", || {
        (get(&stage.api, "/invoicing/api/webhooks").json()[0]["status"] == "Effective").then_some(())
    });
    let shaken = &stage.receiver.letters()[0];
    assert_eq!((shaken.method.as_str(), shaken.body.as_str()), ("GET", ""));
    assert!(shaken.target.starts_with("/api/webhooks/incoming/Invoicing?echo="), "{}", shaken.target);
    stage.door.send_lines(&[bank("b1", "Caja Rural")]);
    let letter = stage.receiver.wait_for(1).remove(0);
    let told = letter.json();
    assert_eq!((&told["Entity"], &told["EntityId"]), (&json!("Bank"), &json!("b1")));
    assert_eq!(told["Changes"], json!([{"Name": "name", "Value": "Caja Rural"}]));
    let hex = domain::secret::hex(&mac(b"whsec_c2VjcmV0", &[letter.body.as_bytes()])).to_uppercase();
    assert_eq!(letter.headers["ms-signature"], format!("sha256={hex}"));
    let (id, at) = (&letter.headers["webhook-id"], &letter.headers["webhook-timestamp"]);
    let signed = mac(b"secret", &[id.as_bytes(), b".", at.as_bytes(), b".", letter.body.as_bytes()]);
    assert_eq!(letter.headers["webhook-signature"], format!("v1,{}", STANDARD.encode(signed)));
}

#[test]
fn a_delivery_is_replayed_with_the_same_bytes_and_a_test_can_be_sent() {
    let stage = Stage::new();
    let id = stage.contracted("/again");
    stage.put("1", "one");
    let first = stage.receiver.wait_for(1).remove(0);
    let outgoing = first.json()["OutgoingId"].as_str().unwrap().to_owned();
    let path = format!("{CUSTOMERS}/webhooks/{id}/deliveries/{outgoing}/replay");
    let replay = until("the delivery to be in the history", || {
        Some(send(&stage.api, Method::POST, &path, None)).filter(|reply| reply.status == 202)
    });
    assert_eq!(replay.status, 202);
    assert_eq!(stage.receiver.wait_for(2)[1].body, first.body);
    let test = send(&stage.api, Method::POST, &format!("{CUSTOMERS}/webhooks/{id}/test"), None);
    assert_eq!(test.status, 202, "{test:?}");
    let letter = stage.receiver.wait_for(3).remove(2);
    assert!(letter.body.contains("\\\"SvcSourceAction\\\":\\\"Test\\\""), "{}", letter.body);
}
