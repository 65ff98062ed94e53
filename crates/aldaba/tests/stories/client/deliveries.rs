//! From the subscription to the event in the application's hands, both families; and what is kept out.

use std::time::Duration;

use aldaba_client::receiver::{Event, InboxOutcome, MismatchReason};
use aldaba_client::webhooks::{DeliveryStatus, InvoicingAction, InvoicingSubscription, Subscription};
use aldaba_client::{EventKind, Guid, Resource, Secret, TryStreamExt as _};

use super::Stage;
use super::desk::{Desk, SECRET};
use crate::harness::{Call, act, bank, customer, until};

const PATIENCE: Duration = Duration::from_secs(30);

fn subscription(url: &str) -> Subscription {
    Subscription::to_all(Resource::customers(), "Panel", url, Secret::new(SECRET))
}

#[test]
fn a_change_arrives_verified_typed_and_once() {
    let stage = Stage::new();
    let (api, company, open) = (stage.api(), stage.company(), Desk::open(&stage));
    let hooks = api.webhooks(Resource::customers());
    let id = stage.run(hooks.subscribe(&subscription(&open.url("/hooks")))).unwrap();
    stage.run(hooks.wait_until_active(id, PATIENCE)).unwrap();
    stage.door().send_lines(&[customer(&company, "uno ñ", "Uno")]);
    let (event, outcome) = open.desk.wait_for(1).remove(0);
    assert_eq!(outcome, InboxOutcome::Processed(()));
    let Event::Accounting(change) = &event else { panic!("{event:?}") };
    assert_eq!(
        (change.event.resource, change.event.kind),
        (Some(Resource::customers()), Some(EventKind::Created))
    );
    assert_eq!((change.tenant_id.as_str(), change.company.as_str()), (stage.tenant(), company.as_str()));
    let record = stage.run(api.customer(&change.company, &change.correlation_id)).unwrap().unwrap();
    assert_eq!((record.trade_name.as_str(), record.sequence_version), ("Uno", change.sequence_version));

    // The feed tells the same, and its arrival is known to be of the same record.
    let feed = api.changes(Resource::customers(), Some(&company), change.sequence_version - 1).stream();
    let fed: Vec<_> = stage.run(feed.try_collect()).unwrap();
    let arrival = fed[0].to_received_event(stage.tenant(), &company);
    assert_eq!(arrival.record, aldaba_client::receiver::ReceivedEvent::from(&event).record);

    // Asked for again it is the same delivery, and the inbox knows it.
    let history = hooks.history(id);
    let delivery = stage.run(history.delivery(change.outgoing_id)).unwrap().unwrap();
    assert!(delivery.body.unwrap().contains("CustomerCreated"));
    stage.run(history.replay_one(change.outgoing_id)).unwrap();
    let came = open.desk.wait_for(2);
    assert_eq!((&came[1].0, &came[1].1), (&event, &InboxOutcome::Duplicate));

    // A test is of no record; a later change goes on.
    stage.run(history.test()).unwrap();
    until("the test", || open.desk.came().iter().any(|(event, _)| event.is_test()).then_some(()));
    stage.door().send_lines(&[act("customers", &company, "uno ñ", "disable")]);
    let came = open.desk.wait_for(4);
    let last = came.iter().rfind(|(event, _)| !event.is_test()).unwrap();
    assert!(matches!(&last.0, Event::Accounting(change) if change.event.kind == Some(EventKind::Disabled)));
    let listed: Vec<_> = until("the history", || {
        let stream = history.deliveries().status(DeliveryStatus::Delivered).stream();
        Some(stage.run(stream.try_collect::<Vec<_>>()).unwrap()).filter(|all| all.len() >= 2)
    });
    assert!(listed.iter().any(|one| one.outgoing_id == Some(change.outgoing_id)), "{listed:?}");
    assert!(stage.run(history.health()).unwrap().is_active);
    assert_eq!(open.desk.refused(), []);
}

#[test]
fn what_is_forged_or_touched_is_answered_401_and_never_seen() {
    let stage = Stage::new();
    let open = Desk::open(&stage);
    let body = r#"{"Entity":"Bank","EntityId":"7","TenantId":"t","User":"eva","Changes":[]}"#;
    let right =
        domain::signature::Signer::new(&Secret::new(SECRET), None).contract_signature(body.as_bytes());
    let forged =
        domain::signature::Signer::new(&Secret::new("guess"), None).contract_signature(body.as_bytes());
    let post = |signature: &str, body: &str| {
        let call = Call::post(&open.url("/hooks")).header("ms-signature", signature);
        call.body(body.to_owned()).send().status
    };
    assert_eq!(post(&right, body), 200);
    assert_eq!(post(&forged, body), 401);
    assert_eq!(post(&right, &body.replace('7', "8")), 401);
    assert_eq!(post(&right.to_lowercase(), body), 401);
    assert_eq!(post("", body), 401);
    assert_eq!(open.desk.came().len(), 1);
    let reasons: Vec<MismatchReason> = open.desk.refused().into_iter().flat_map(|why| why.reasons).collect();
    let missing = MismatchReason::MissingHeader("svc-webhook-signature");
    assert_eq!(
        reasons,
        [MismatchReason::WrongSecret, MismatchReason::WrongSecret, MismatchReason::LowerCaseHex, missing]
    );
}

#[test]
fn a_receiver_with_the_wrong_secret_never_contracts_and_learns_why() {
    let stage = Stage::new();
    let (api, open) = (stage.api(), Desk::open(&stage));
    let hooks = api.webhooks(Resource::customers());
    let wrong = Subscription { secret: Secret::new("otro"), ..subscription(&open.url("/hooks")) };
    let id = stage.run(hooks.subscribe(&wrong)).unwrap();
    until("a refusal", || (!open.desk.refused().is_empty()).then_some(()));
    assert!(!stage.run(hooks.get(id)).unwrap().unwrap().is_active);
    assert_eq!(open.desk.refused()[0].reasons, [MismatchReason::WrongSecret]);
    let health = until("the attempt to be told", || {
        Some(stage.run(hooks.history(id).health()).unwrap()).filter(|one| !one.recent_attempts.is_empty())
    });
    assert_eq!(health.recent_attempts[0].status, Some(401));
    stage.run(hooks.delete(id)).unwrap();
}

#[test]
fn invoicing_shakes_hands_by_echo_and_tells_what_changed() {
    let stage = Stage::new();
    let (api, open) = (stage.api(), Desk::open(&stage));
    let hooks = api.invoicing_webhooks();
    let wanted = InvoicingSubscription {
        uri: open.url("/api/webhooks/incoming/Invoicing"),
        ..InvoicingSubscription::new("127.0.0.1", "Bank", InvoicingAction::Created, Secret::new(SECRET))
    };
    let made = stage.run(hooks.subscribe(&wanted)).unwrap();
    assert_eq!(stage.run(hooks.subscribe(&wanted)).unwrap().id, made.id, "the same again is the same one");
    let effective = |id: Guid| stage.run(hooks.get(id)).unwrap().unwrap().status == "Effective";
    until("the echo", || effective(made.id).then_some(()));
    let bank_id = format!("banco-{}", made.id);
    stage.door().send_lines(&[bank(&bank_id, "Caja Ñ")]);
    let of_bank = |event: &Event| event.record_id() == bank_id;
    let event = until("the bank", || open.desk.came().into_iter().map(|(event, _)| event).find(of_bank));
    let Event::Invoicing(change) = &event else { panic!("{event:?}") };
    assert_eq!(
        (change.entity.as_str(), change.changes[0].clone()),
        ("Bank", ("name".into(), "Caja Ñ".into()))
    );
    assert!(change.outgoing_id.is_some());
    assert_eq!(stage.run(hooks.pause(made.id)).unwrap().status, "Paused");
    assert_eq!(stage.run(hooks.resume(made.id)).unwrap().status, "Effective");
    assert!(stage.run(hooks.list()).unwrap().iter().any(|one| one.id == made.id));
    stage.run(hooks.delete(made.id)).unwrap();
    assert_eq!(stage.run(hooks.get(made.id)).unwrap(), None);
}
