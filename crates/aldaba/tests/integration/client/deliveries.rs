//! Webhook deliveries with the client: from the subscription to the handled event, both families, and refused requests.

use std::time::Duration;

use aldaba_client::receiver::{Event, InboxOutcome, MismatchReason};
use aldaba_client::webhooks::{DeliveryStatus, InvoicingAction, InvoicingSubscription, Subscription};
use aldaba_client::{EventKind, Guid, Resource, Secret, TryStreamExt as _};

use super::ClientFixture;
use super::inbox_receiver::{EventRecorder, SECRET};
use crate::harness::{HttpRequest, bank, change_line, customer, wait_for};

const PATIENCE: Duration = Duration::from_secs(30);

fn subscription(url: &str) -> Subscription {
    Subscription::to_all(Resource::customers(), "Panel", url, Secret::new(SECRET))
}

#[test]
fn change_is_delivered_verified_typed_and_once() {
    let fixture = ClientFixture::new();
    let (api, company, open) = (fixture.api(), fixture.company(), EventRecorder::open(&fixture));
    let hooks = api.webhooks(Resource::customers());
    let id = fixture.run(hooks.subscribe(&subscription(&open.url("/hooks")))).unwrap();
    fixture.run(hooks.wait_until_active(id, PATIENCE)).unwrap();
    fixture.ingest_client().send_lines(&[customer(&company, "uno ñ", "Uno")]);
    let (event, outcome) = open.recorder.wait_for(&company, 1).remove(0);
    assert_eq!(outcome, InboxOutcome::Processed(()));
    let Event::Accounting(change) = &event else { panic!("{event:?}") };
    assert_eq!(
        (change.event.resource, change.event.kind),
        (Some(Resource::customers()), Some(EventKind::Created))
    );
    assert_eq!((change.tenant_id.as_str(), change.company.as_str()), (fixture.tenant(), company.as_str()));
    let record = fixture.run(api.customer(&change.company, &change.correlation_id)).unwrap().unwrap();
    assert_eq!((record.trade_name.as_str(), record.sequence_version), ("Uno", change.sequence_version));

    // The feed has the same event, and the client knows that it is about the same record.
    let feed = api.changes(Resource::customers(), Some(&company), change.sequence_version - 1).stream();
    let fed: Vec<_> = fixture.run(feed.try_collect()).unwrap();
    let arrival = fed[0].to_received_event(fixture.tenant(), &company);
    assert_eq!(arrival.record, aldaba_client::receiver::ReceivedEvent::from(&event).record);

    // A replay has the same delivery id, and the inbox recognises it.
    let history = hooks.history(id);
    let delivery = fixture.run(history.delivery(change.outgoing_id)).unwrap().unwrap();
    assert!(delivery.body.unwrap().contains("CustomerCreated"));
    fixture.run(history.replay_one(change.outgoing_id)).unwrap();
    let events = open.recorder.wait_for(&company, 2);
    assert_eq!((&events[1].0, &events[1].1), (&event, &InboxOutcome::Duplicate));

    // A test delivery has no record; a later change is delivered.
    fixture.run(history.test()).unwrap();
    wait_for("the test", || open.recorder.events().iter().any(|(event, _)| event.is_test()).then_some(()));
    fixture.ingest_client().send_lines(&[change_line("customers", &company, "uno ñ", "disable")]);
    let events = open.recorder.wait_for(&company, 4);
    let last = events.iter().rfind(|(event, _)| !event.is_test()).unwrap();
    assert!(matches!(&last.0, Event::Accounting(change) if change.event.kind == Some(EventKind::Disabled)));
    let listed: Vec<_> = wait_for("the history", || {
        let stream = history.deliveries().status(DeliveryStatus::Delivered).stream();
        Some(fixture.run(stream.try_collect::<Vec<_>>()).unwrap()).filter(|all| all.len() >= 2)
    });
    assert!(listed.iter().any(|one| one.outgoing_id == Some(change.outgoing_id)), "{listed:?}");
    assert!(fixture.run(history.health()).unwrap().is_active);
    assert_eq!(open.recorder.refused(), []);
}

#[test]
fn forged_or_modified_requests_get_401_and_are_not_handled() {
    let fixture = ClientFixture::new();
    let open = EventRecorder::open(&fixture);
    let body = r#"{"Entity":"Bank","EntityId":"7","TenantId":"t","User":"eva","Changes":[]}"#;
    let right =
        domain::signature::Signer::new(&Secret::new(SECRET), None).contract_signature(body.as_bytes());
    let forged =
        domain::signature::Signer::new(&Secret::new("guess"), None).contract_signature(body.as_bytes());
    let post = |signature: &str, body: &str| {
        let request = HttpRequest::post(&open.url("/hooks")).header("ms-signature", signature);
        request.body(body.to_owned()).send().status
    };
    assert_eq!(post(&right, body), 200);
    assert_eq!(post(&forged, body), 401);
    assert_eq!(post(&right, &body.replace('7', "8")), 401);
    assert_eq!(post(&right.to_lowercase(), body), 401);
    assert_eq!(post("", body), 401);
    assert_eq!(open.recorder.events().len(), 1);
    let reasons: Vec<MismatchReason> =
        open.recorder.refused().into_iter().flat_map(|mismatch| mismatch.reasons).collect();
    let missing = MismatchReason::MissingHeader("svc-webhook-signature");
    assert_eq!(
        reasons,
        [MismatchReason::WrongSecret, MismatchReason::WrongSecret, MismatchReason::LowerCaseHex, missing]
    );
}

#[test]
fn receiver_with_the_wrong_secret_fails_the_handshake_and_learns_why() {
    let fixture = ClientFixture::new();
    let (api, open) = (fixture.api(), EventRecorder::open(&fixture));
    let hooks = api.webhooks(Resource::customers());
    let wrong = Subscription { secret: Secret::new("otro"), ..subscription(&open.url("/hooks")) };
    let id = fixture.run(hooks.subscribe(&wrong)).unwrap();
    wait_for("a refusal", || (!open.recorder.refused().is_empty()).then_some(()));
    assert!(!fixture.run(hooks.get(id)).unwrap().unwrap().is_active);
    assert_eq!(open.recorder.refused()[0].reasons, [MismatchReason::WrongSecret]);
    let health = wait_for("the attempt to be recorded", || {
        Some(fixture.run(hooks.history(id).health()).unwrap()).filter(|one| !one.recent_attempts.is_empty())
    });
    assert_eq!(health.recent_attempts[0].status, Some(401));
    fixture.run(hooks.delete(id)).unwrap();
}

#[test]
fn invoicing_handshake_echoes_and_deliveries_have_the_changes() {
    let fixture = ClientFixture::new();
    let (api, open) = (fixture.api(), EventRecorder::open(&fixture));
    let hooks = api.invoicing_webhooks();
    let invoicing = InvoicingSubscription {
        uri: open.url("/api/webhooks/incoming/Invoicing"),
        ..InvoicingSubscription::new("127.0.0.1", "Bank", InvoicingAction::Created, Secret::new(SECRET))
    };
    let created = fixture.run(hooks.subscribe(&invoicing)).unwrap();
    assert_eq!(
        fixture.run(hooks.subscribe(&invoicing)).unwrap().id,
        created.id,
        "the same subscription again returns the same webhook"
    );
    let effective = |id: Guid| fixture.run(hooks.get(id)).unwrap().unwrap().status == "Effective";
    wait_for("the echo", || effective(created.id).then_some(()));
    let bank_id = format!("banco-{}", created.id);
    fixture.ingest_client().send_lines(&[bank(&bank_id, "Caja Ñ")]);
    let of_bank = |event: &Event| event.record_id() == bank_id;
    let event =
        wait_for("the bank", || open.recorder.events().into_iter().map(|(event, _)| event).find(of_bank));
    let Event::Invoicing(change) = &event else { panic!("{event:?}") };
    assert_eq!(
        (change.entity.as_str(), change.changes[0].clone()),
        ("Bank", ("name".into(), "Caja Ñ".into()))
    );
    assert!(change.outgoing_id.is_some());
    assert_eq!(fixture.run(hooks.pause(created.id)).unwrap().status, "Paused");
    assert_eq!(fixture.run(hooks.resume(created.id)).unwrap().status, "Effective");
    assert!(fixture.run(hooks.list()).unwrap().iter().any(|one| one.id == created.id));
    fixture.run(hooks.delete(created.id)).unwrap();
    assert_eq!(fixture.run(hooks.get(created.id)).unwrap(), None);
}
