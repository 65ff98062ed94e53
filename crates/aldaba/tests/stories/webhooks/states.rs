//! The contract's transitions, as subscriber and receiver see them: what is told in which state, and what no longer is.

use hyper::Method;
use serde_json::{Value, json};

use super::stage::{INVOICING, Stage};
use super::{CUSTOMERS, done, get, refused, send};
use crate::harness::{Letter, Receiver, act, bank, charge, customer, until};

/// Subscribes to these kinds at a path of the stage's receiver, and waits for the contract.
fn subscribe(stage: &Stage, prefix: &str, path: &str, names: &[&str]) -> String {
    let id = done(
        &send(
            &stage.api,
            Method::POST,
            &format!("{prefix}/webhooks/subscribe"),
            Some(&body(stage, path, names)),
        ),
        3,
    );
    until("the contract", || {
        (get(&stage.api, &format!("{prefix}/webhooks/{id}")).json()["isActive"] == true).then_some(())
    });
    id
}

fn body(stage: &Stage, path: &str, names: &[&str]) -> Value {
    json!({
        "thirdPartyApplicationName": "Panel", "url": stage.receiver.url(path), "secret": "s3cret",
        "eventTypes": names,
    })
}

/// What was told at a path: record and kind, in the order in which it came.
fn told(stage: &Stage, path: &str) -> Vec<(String, String)> {
    let at = |letter: &Letter| letter.target == path;
    let kind = |letter: &Letter| letter.json()["EventType"]["EventType"].as_str().unwrap().to_owned();
    stage
        .receiver
        .changes()
        .iter()
        .filter(|one| at(one))
        .map(|one| (one.record().unwrap(), kind(one)))
        .collect()
}

/// The kinds of what was told at a path, once so much was.
#[track_caller]
fn kinds(stage: &Stage, path: &str, count: usize) -> Vec<String> {
    until("what is told", || Some(told(stage, path)).filter(|all| all.len() >= count))
        .into_iter()
        .map(|(_, kind)| kind)
        .collect()
}

#[test]
fn every_later_event_of_the_subscribed_types_is_told_and_no_other() {
    let stage = Stage::new();
    let customers = |kinds: &[&str]| -> Vec<String> {
        kinds.iter().map(|kind| format!("Svc.ACC.Customers.{kind}")).collect()
    };
    for (path, kinds) in [
        ("/changes", &["CustomerCreated", "CustomerUpdated"][..]),
        ("/ends", &["CustomerDisabled", "ErrorOccurred"]),
        ("/all", &["CustomerCreated", "CustomerUpdated", "CustomerDisabled", "ErrorOccurred"]),
    ] {
        let names = customers(kinds);
        subscribe(&stage, CUSTOMERS, path, &names.iter().map(String::as_str).collect::<Vec<_>>());
    }
    let names = ["ChargeCreated", "ChargeUpdated", "ChargeDeleted", "ErrorOccurred"];
    let names = names.map(|kind| format!("Svc.ACC.Charges.{kind}"));
    subscribe(&stage, "/accounting/api/charges", "/charges", &names.each_ref().map(String::as_str));
    let answer = stage.door.send_lines(&[
        customer("c", "r", "one"),
        customer("c", "r", "two"),
        act("customers", "c", "r", "disable"),
        act("customers", "c", "r", "enable"),
        act("customers", "c", "r", "fail"),
        charge("c", "r", 1),
        charge("c", "r", 2),
        act("charges", "c", "r", "fail"),
        act("charges", "c", "r", "delete"),
    ]);
    assert_eq!(answer.counts(), (9, 0), "{answer:?}");
    let all = ["CustomerCreated", "CustomerUpdated", "CustomerDisabled", "CustomerUpdated", "ErrorOccurred"];
    assert_eq!(kinds(&stage, "/all", 5), all);
    assert_eq!(kinds(&stage, "/changes", 3), ["CustomerCreated", "CustomerUpdated", "CustomerUpdated"]);
    assert_eq!(kinds(&stage, "/ends", 2), ["CustomerDisabled", "ErrorOccurred"]);
    let charges = ["ChargeCreated", "ChargeUpdated", "ErrorOccurred", "ChargeDeleted"];
    assert_eq!(kinds(&stage, "/charges", 4), charges);
    assert_eq!(stage.receiver.changes().len(), 14, "and nothing else to anybody");
}

#[test]
fn who_has_unsubscribed_hears_nothing_more() {
    let stage = Stage::new();
    let names = ["Svc.ACC.Customers.CustomerCreated"];
    let id = subscribe(&stage, CUSTOMERS, "/gone", &names);
    let wish = body(&stage, "/gone", &names);
    let path = format!("{CUSTOMERS}/webhooks/unsubscribe");
    assert_eq!(done(&send(&stage.api, Method::POST, &path, Some(&wish)), 4), id);
    assert_eq!(stage.record(&id)["isActive"], false);
    stage.put("1", "unheard");
    let again = subscribe(&stage, CUSTOMERS, "/gone", &names);
    assert_ne!(again, id, "a later subscribe makes a new webhook");
    stage.put("2", "heard");
    let came = stage.receiver.wait_for(1);
    assert_eq!((came[0].record().as_deref(), &came[0].json()["WebhookId"]), (Some("2"), &json!(again)));
    let status = json!({"webhookId": id, "enable": true});
    let enable = send(&stage.api, Method::PUT, &format!("{CUSTOMERS}/webhooks/status/{id}"), Some(&status));
    assert_ne!(enable.status, 200, "what is unsubscribed is so finally: {enable:?}");
    assert_eq!(stage.record(&id)["isActive"], false);
}

#[test]
fn it_can_be_deleted_from_every_state() {
    let stage = Stage::new();
    stage.receiver.answers(|letter| Some((if letter.target == "/awaiting" { 500 } else { 200 }, "")));
    let awaiting = stage.subscribe("/awaiting");
    let active = stage.contracted("/active");
    let disabled = stage.contracted("/disabled");
    stage.status(&disabled, false);
    let names = ["Svc.ACC.Customers.CustomerCreated"];
    let unsubscribed = subscribe(&stage, CUSTOMERS, "/unsubscribed", &names);
    let wish = body(&stage, "/unsubscribed", &names);
    done(&send(&stage.api, Method::POST, &format!("{CUSTOMERS}/webhooks/unsubscribe"), Some(&wish)), 4);
    let given_up = stage.contracted("/given-up");
    stage.receiver.answers(|letter| Some((if letter.target == "/active" { 200 } else { 500 }, "")));
    stage.put("1", "fails there");
    stage.wait_active(&given_up, false);
    for id in [&awaiting, &active, &disabled, &unsubscribed, &given_up] {
        let path = format!("{CUSTOMERS}/webhooks/delete/{id}");
        assert_eq!(&done(&send(&stage.api, Method::DELETE, &path, None), 5), id);
        let record = stage.record(id);
        assert_eq!((&record["isActive"], &record["isDeleted"]), (&json!(false), &json!(true)), "{record}");
        assert!(record["deletedAt"].as_str().unwrap().ends_with('Z'), "{record}");
        refused(&send(&stage.api, Method::DELETE, &path, None), 409, id, "deleted");
        let status = json!({"webhookId": id, "enable": true});
        let path = format!("{CUSTOMERS}/webhooks/status/{id}");
        refused(&send(&stage.api, Method::PUT, &path, Some(&status)), 409, id, "deleted");
    }
    let before = stage.receiver.letters().len();
    stage.receiver.answers(|_| Some((200, "")));
    stage.put("2", "for nobody");
    let last = stage.contracted("/last");
    stage.put("3", "for the last");
    stage.receiver.wait_for(1);
    until("the last", || (!told(&stage, "/last").is_empty()).then_some(()));
    let later = stage.receiver.letters().split_off(before);
    assert!(later.iter().all(|letter| letter.json()["WebhookId"] == last), "{later:?}");
}

#[test]
fn a_change_of_url_awaits_a_contract_there_from_every_state() {
    let stage = Stage::new();
    let names = ["Svc.ACC.Customers.CustomerCreated", "Svc.ACC.Customers.CustomerUpdated"];
    let awaiting = {
        stage.receiver.answers(|_| Some((500, "")));
        stage.subscribe("/awaiting")
    };
    stage.receiver.answers(|letter| Some((if letter.target == "/awaiting" { 500 } else { 200 }, "")));
    let active = subscribe(&stage, CUSTOMERS, "/active", &names);
    let disabled = subscribe(&stage, CUSTOMERS, "/disabled", &names);
    stage.status(&disabled, false);
    let given_up = subscribe(&stage, CUSTOMERS, "/given-up", &names);
    stage.receiver.answers(|letter| Some((if letter.target == "/active" { 200 } else { 500 }, "")));
    stage.put("1", "fails there");
    stage.wait_active(&given_up, false);
    let other = Receiver::open();
    other.answers(|_| Some((500, "")));
    for id in [&awaiting, &active, &disabled, &given_up] {
        let moved = json!({"webhookId": id, "url": other.url(&format!("/{id}"))});
        let path = format!("{CUSTOMERS}/webhooks/change/{id}");
        assert_eq!(&done(&send(&stage.api, Method::PUT, &path, Some(&moved)), 6), id);
        assert_eq!(stage.record(id)["isActive"], false, "until it is accepted there");
    }
    stage.status(&disabled, true);
    other.answers(|_| Some((200, "")));
    for id in [&awaiting, &active, &disabled, &given_up] {
        stage.wait_active(id, true);
        let first = other.letters().into_iter().find(|letter| letter.target == format!("/{id}")).unwrap();
        assert!(first.is_acknowledge(), "{first:?}");
    }
    // What the service had given up on goes on where it was; who let it rest, from the next event on.
    stage.put("2", "for all");
    let heard = |id: &str| {
        let mut all = other.changes();
        all.retain(|letter| letter.json()["WebhookId"] == id);
        all.iter().filter_map(Letter::record).collect::<Vec<_>>()
    };
    for (id, records) in
        [(&awaiting, &["2"][..]), (&active, &["2"]), (&disabled, &["2"]), (&given_up, &["1", "2"])]
    {
        until("what is meant for it", || (heard(id) == records).then_some(()));
    }
}

#[test]
fn an_invoicing_subscription_is_paused_resumed_and_ended() {
    let stage = Stage::new();
    let id = stage.subscribe_invoicing("Created");
    stage.wait_invoicing(&id, "Effective");
    let path = format!("{INVOICING}/{id}");
    let pause = |is_paused: bool| {
        let reply = send(&stage.api, Method::PUT, &path, Some(&json!({"isPaused": is_paused})));
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.json()["status"].clone()
    };
    assert_eq!(pause(true), "Paused");
    stage.door.send_lines(&[bank("1", "unheard")]);
    assert_eq!(pause(false), "Effective");
    stage.door.send_lines(&[bank("2", "heard")]);
    assert_eq!(stage.receiver.wait_for(1)[0].record().as_deref(), Some("2"), "from the next event on");
    assert_eq!(send(&stage.api, Method::DELETE, &path, None).status, 200);
    stage.door.send_lines(&[bank("3", "unheard")]);
    let second = stage.subscribe_invoicing("Created");
    stage.wait_invoicing(&second, "Effective");
    stage.door.send_lines(&[bank("4", "heard by the second")]);
    assert_eq!(stage.receiver.wait_for(2)[1].record().as_deref(), Some("4"));
    assert_eq!(get(&stage.api, INVOICING).json().as_array().unwrap().len(), 1);
}

#[test]
fn invoicing_is_given_up_too_and_resumes_from_the_first_event_not_delivered() {
    let stage = Stage::new();
    let id = stage.subscribe_invoicing("Created");
    stage.wait_invoicing(&id, "Effective");
    stage.receiver.answers(|_| Some((500, "")));
    stage.door.send_lines(&[bank("1", "fails")]);
    stage.wait_invoicing(&id, "Disabled");
    stage.door.send_lines(&[bank("2", "meanwhile")]);
    let tries = stage.receiver.changes().len();
    stage.receiver.answers(|_| Some((200, "")));
    let resumed =
        send(&stage.api, Method::PUT, &format!("{INVOICING}/{id}"), Some(&json!({"isPaused": false})));
    assert_eq!(resumed.json()["status"], "Effective", "{resumed:?}");
    until("both", || {
        let came: Vec<_> =
            stage.receiver.changes().split_off(tries).iter().filter_map(Letter::record).collect();
        (came.contains(&"1".into()) && came.contains(&"2".into())).then_some(())
    });
}
