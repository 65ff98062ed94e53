//! The contract's state transitions, as subscriber and receiver see them: which events each state delivers.

use hyper::Method;
use serde_json::{Value, json};

use super::delivery_fixture::{DeliveryFixture, INVOICING};
use super::{CUSTOMERS, expect_refusal, expect_state, get, send};
use crate::harness::{ReceivedRequest, Receiver, bank, change_line, charge, customer, wait_for};

/// Subscribes a path of the fixture's receiver to these events, and waits for the handshake.
fn subscribe(fixture: &DeliveryFixture, prefix: &str, path: &str, names: &[&str]) -> String {
    let id = expect_state(
        &send(
            &fixture.api,
            Method::POST,
            &format!("{prefix}/webhooks/subscribe"),
            Some(&body(fixture, path, names)),
        ),
        3,
    );
    wait_for("the handshake", || {
        (get(&fixture.api, &format!("{prefix}/webhooks/{id}")).json()["isActive"] == true).then_some(())
    });
    id
}

fn body(fixture: &DeliveryFixture, path: &str, names: &[&str]) -> Value {
    json!({
        "thirdPartyApplicationName": "Panel", "url": fixture.receiver.url(path), "secret": "s3cret",
        "eventTypes": names,
    })
}

/// The deliveries at a path: record and event type, in order of arrival.
fn delivered(fixture: &DeliveryFixture, path: &str) -> Vec<(String, String)> {
    let at = |request: &ReceivedRequest| request.target == path;
    let kind =
        |request: &ReceivedRequest| request.json()["EventType"]["EventType"].as_str().unwrap().to_owned();
    fixture
        .receiver
        .changes()
        .iter()
        .filter(|one| at(one))
        .map(|one| (one.record().unwrap(), kind(one)))
        .collect()
}

/// Waits for `count` deliveries at a path; returns their event types.
#[track_caller]
fn kinds(fixture: &DeliveryFixture, path: &str, count: usize) -> Vec<String> {
    wait_for("the deliveries", || Some(delivered(fixture, path)).filter(|all| all.len() >= count))
        .into_iter()
        .map(|(_, kind)| kind)
        .collect()
}

#[test]
fn only_later_events_of_the_subscribed_types_are_delivered() {
    let fixture = DeliveryFixture::new();
    let customers = |kinds: &[&str]| -> Vec<String> {
        kinds.iter().map(|kind| format!("Svc.ACC.Customers.{kind}")).collect()
    };
    for (path, kinds) in [
        ("/changes", &["CustomerCreated", "CustomerUpdated"][..]),
        ("/ends", &["CustomerDisabled", "ErrorOccurred"]),
        ("/all", &["CustomerCreated", "CustomerUpdated", "CustomerDisabled", "ErrorOccurred"]),
    ] {
        let names = customers(kinds);
        subscribe(&fixture, CUSTOMERS, path, &names.iter().map(String::as_str).collect::<Vec<_>>());
    }
    let names = ["ChargeCreated", "ChargeUpdated", "ChargeDeleted", "ErrorOccurred"];
    let names = names.map(|kind| format!("Svc.ACC.Charges.{kind}"));
    subscribe(&fixture, "/accounting/api/charges", "/charges", &names.each_ref().map(String::as_str));
    let answer = fixture.ingest.send_lines(&[
        customer("c", "r", "one"),
        customer("c", "r", "two"),
        change_line("customers", "c", "r", "disable"),
        change_line("customers", "c", "r", "enable"),
        change_line("customers", "c", "r", "fail"),
        charge("c", "r", 1),
        charge("c", "r", 2),
        change_line("charges", "c", "r", "fail"),
        change_line("charges", "c", "r", "delete"),
    ]);
    assert_eq!(answer.counts(), (9, 0), "{answer:?}");
    let all = ["CustomerCreated", "CustomerUpdated", "CustomerDisabled", "CustomerUpdated", "ErrorOccurred"];
    assert_eq!(kinds(&fixture, "/all", 5), all);
    assert_eq!(kinds(&fixture, "/changes", 3), ["CustomerCreated", "CustomerUpdated", "CustomerUpdated"]);
    assert_eq!(kinds(&fixture, "/ends", 2), ["CustomerDisabled", "ErrorOccurred"]);
    let charges = ["ChargeCreated", "ChargeUpdated", "ErrorOccurred", "ChargeDeleted"];
    assert_eq!(kinds(&fixture, "/charges", 4), charges);
    assert_eq!(fixture.receiver.changes().len(), 14, "no other deliveries");
}

#[test]
fn an_unsubscribed_webhook_gets_no_more_events() {
    let fixture = DeliveryFixture::new();
    let names = ["Svc.ACC.Customers.CustomerCreated"];
    let id = subscribe(&fixture, CUSTOMERS, "/gone", &names);
    let subscription_body = body(&fixture, "/gone", &names);
    let path = format!("{CUSTOMERS}/webhooks/unsubscribe");
    assert_eq!(expect_state(&send(&fixture.api, Method::POST, &path, Some(&subscription_body)), 4), id);
    assert_eq!(fixture.record(&id)["isActive"], false);
    fixture.put("1", "unheard");
    let again = subscribe(&fixture, CUSTOMERS, "/gone", &names);
    assert_ne!(again, id, "a later subscribe creates a new webhook");
    fixture.put("2", "heard");
    let received = fixture.receiver.wait_for(1);
    assert_eq!(
        (received[0].record().as_deref(), &received[0].json()["WebhookId"]),
        (Some("2"), &json!(again))
    );
    let status = json!({"webhookId": id, "enable": true});
    let enable = send(&fixture.api, Method::PUT, &format!("{CUSTOMERS}/webhooks/status/{id}"), Some(&status));
    assert_ne!(enable.status, 200, "unsubscribing is permanent: {enable:?}");
    assert_eq!(fixture.record(&id)["isActive"], false);
}

#[test]
fn a_webhook_can_be_deleted_from_every_state() {
    let fixture = DeliveryFixture::new();
    fixture
        .receiver
        .respond_with(|request| Some((if request.target == "/awaiting" { 500 } else { 200 }, "")));
    let awaiting = fixture.subscribe("/awaiting");
    let active = fixture.active_webhook("/active");
    let disabled = fixture.active_webhook("/disabled");
    fixture.set_enabled(&disabled, false);
    let names = ["Svc.ACC.Customers.CustomerCreated"];
    let unsubscribed = subscribe(&fixture, CUSTOMERS, "/unsubscribed", &names);
    let subscription_body = body(&fixture, "/unsubscribed", &names);
    expect_state(
        &send(
            &fixture.api,
            Method::POST,
            &format!("{CUSTOMERS}/webhooks/unsubscribe"),
            Some(&subscription_body),
        ),
        4,
    );
    let given_up = fixture.active_webhook("/given-up");
    fixture.receiver.respond_with(|request| Some((if request.target == "/active" { 200 } else { 500 }, "")));
    fixture.put("1", "fails there");
    fixture.wait_active(&given_up, false);
    for id in [&awaiting, &active, &disabled, &unsubscribed, &given_up] {
        let path = format!("{CUSTOMERS}/webhooks/delete/{id}");
        assert_eq!(&expect_state(&send(&fixture.api, Method::DELETE, &path, None), 5), id);
        let record = fixture.record(id);
        assert_eq!((&record["isActive"], &record["isDeleted"]), (&json!(false), &json!(true)), "{record}");
        assert!(record["deletedAt"].as_str().unwrap().ends_with('Z'), "{record}");
        expect_refusal(&send(&fixture.api, Method::DELETE, &path, None), 409, id, "deleted");
        let status = json!({"webhookId": id, "enable": true});
        let path = format!("{CUSTOMERS}/webhooks/status/{id}");
        expect_refusal(&send(&fixture.api, Method::PUT, &path, Some(&status)), 409, id, "deleted");
    }
    let before = fixture.receiver.requests().len();
    fixture.receiver.respond_with(|_| Some((200, "")));
    fixture.put("2", "for nobody");
    let last = fixture.active_webhook("/last");
    fixture.put("3", "for the last");
    fixture.receiver.wait_for(1);
    wait_for("the last webhook's delivery", || (!delivered(&fixture, "/last").is_empty()).then_some(()));
    let later = fixture.receiver.requests().split_off(before);
    assert!(later.iter().all(|request| request.json()["WebhookId"] == last), "{later:?}");
}

#[test]
fn a_change_of_url_requires_a_new_handshake_from_every_state() {
    let fixture = DeliveryFixture::new();
    let names = ["Svc.ACC.Customers.CustomerCreated", "Svc.ACC.Customers.CustomerUpdated"];
    let awaiting = {
        fixture.receiver.respond_with(|_| Some((500, "")));
        fixture.subscribe("/awaiting")
    };
    fixture
        .receiver
        .respond_with(|request| Some((if request.target == "/awaiting" { 500 } else { 200 }, "")));
    let active = subscribe(&fixture, CUSTOMERS, "/active", &names);
    let disabled = subscribe(&fixture, CUSTOMERS, "/disabled", &names);
    fixture.set_enabled(&disabled, false);
    let given_up = subscribe(&fixture, CUSTOMERS, "/given-up", &names);
    fixture.receiver.respond_with(|request| Some((if request.target == "/active" { 200 } else { 500 }, "")));
    fixture.put("1", "fails there");
    fixture.wait_active(&given_up, false);
    let other = Receiver::open();
    other.respond_with(|_| Some((500, "")));
    for id in [&awaiting, &active, &disabled, &given_up] {
        let moved = json!({"webhookId": id, "url": other.url(&format!("/{id}"))});
        let path = format!("{CUSTOMERS}/webhooks/change/{id}");
        assert_eq!(&expect_state(&send(&fixture.api, Method::PUT, &path, Some(&moved)), 6), id);
        assert_eq!(fixture.record(id)["isActive"], false, "until the new receiver accepts the handshake");
    }
    fixture.set_enabled(&disabled, true);
    other.respond_with(|_| Some((200, "")));
    for id in [&awaiting, &active, &disabled, &given_up] {
        fixture.wait_active(id, true);
        let first = other.requests().into_iter().find(|request| request.target == format!("/{id}")).unwrap();
        assert!(first.is_acknowledge(), "{first:?}");
    }
    // A webhook that the service disabled resumes where it stopped; one that its owner disabled, at the next event.
    fixture.put("2", "for all");
    let received_records = |id: &str| {
        let mut all = other.changes();
        all.retain(|request| request.json()["WebhookId"] == id);
        all.iter().filter_map(ReceivedRequest::record).collect::<Vec<_>>()
    };
    for (id, records) in
        [(&awaiting, &["2"][..]), (&active, &["2"]), (&disabled, &["2"]), (&given_up, &["1", "2"])]
    {
        wait_for("its events", || (received_records(id) == records).then_some(()));
    }
}

#[test]
fn an_invoicing_subscription_is_paused_resumed_and_deleted() {
    let fixture = DeliveryFixture::new();
    let id = fixture.subscribe_invoicing("Created");
    fixture.wait_invoicing(&id, "Effective");
    let path = format!("{INVOICING}/{id}");
    let pause = |is_paused: bool| {
        let response = send(&fixture.api, Method::PUT, &path, Some(&json!({"isPaused": is_paused})));
        assert_eq!(response.status, 200, "{response:?}");
        response.json()["status"].clone()
    };
    assert_eq!(pause(true), "Paused");
    fixture.ingest.send_lines(&[bank("1", "unheard")]);
    assert_eq!(pause(false), "Effective");
    fixture.ingest.send_lines(&[bank("2", "heard")]);
    assert_eq!(fixture.receiver.wait_for(1)[0].record().as_deref(), Some("2"), "from the next event on");
    assert_eq!(send(&fixture.api, Method::DELETE, &path, None).status, 200);
    fixture.ingest.send_lines(&[bank("3", "unheard")]);
    let second = fixture.subscribe_invoicing("Created");
    fixture.wait_invoicing(&second, "Effective");
    fixture.ingest.send_lines(&[bank("4", "heard by the second")]);
    assert_eq!(fixture.receiver.wait_for(2)[1].record().as_deref(), Some("4"));
    assert_eq!(get(&fixture.api, INVOICING).json().as_array().unwrap().len(), 1);
}

#[test]
fn a_disabled_invoicing_subscription_resumes_at_the_first_undelivered_event() {
    let fixture = DeliveryFixture::new();
    let id = fixture.subscribe_invoicing("Created");
    fixture.wait_invoicing(&id, "Effective");
    fixture.receiver.respond_with(|_| Some((500, "")));
    fixture.ingest.send_lines(&[bank("1", "fails")]);
    fixture.wait_invoicing(&id, "Disabled");
    fixture.ingest.send_lines(&[bank("2", "meanwhile")]);
    let tries = fixture.receiver.changes().len();
    fixture.receiver.respond_with(|_| Some((200, "")));
    let resumed =
        send(&fixture.api, Method::PUT, &format!("{INVOICING}/{id}"), Some(&json!({"isPaused": false})));
    assert_eq!(resumed.json()["status"], "Effective", "{resumed:?}");
    wait_for("both events", || {
        let received: Vec<_> =
            fixture.receiver.changes().split_off(tries).iter().filter_map(ReceivedRequest::record).collect();
        (received.contains(&"1".into()) && received.contains(&"2".into())).then_some(())
    });
}
