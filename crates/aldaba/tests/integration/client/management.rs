//! Webhook management with the client: status, URL, secret, deletion, and errors.

use std::time::Duration;

use aldaba_client::webhooks::Subscription;
use aldaba_client::{EventKind, Guid, Resource, Secret};

use super::ClientFixture;
use super::inbox_receiver::{EventRecorder, SECRET};
use crate::harness::{customer, wait_for};

const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn webhook_is_managed_from_creation_to_deletion() {
    let fixture = ClientFixture::new();
    let (api, company) = (fixture.api(), fixture.company());
    let (first, second) = (EventRecorder::open(&fixture), EventRecorder::open(&fixture));
    let (customers, secret) = (Resource::customers(), Secret::new(SECRET));
    let hooks = api.webhooks(customers);
    let names = fixture.run(hooks.events()).unwrap();
    let subscription = Subscription::to_all(customers, "Panel", &first.url("/hooks"), secret.clone());
    assert_eq!(subscription.event_types, names);
    let id = fixture.run(hooks.subscribe(&subscription)).unwrap();
    assert_eq!(fixture.run(hooks.subscribe(&subscription)).unwrap(), id);
    fixture.run(hooks.wait_active(id, PATIENCE)).unwrap();
    let record = fixture.run(hooks.get(id)).unwrap().unwrap();
    assert_eq!((record.events.len(), record.tenant_id.as_str()), (4, fixture.tenant()));
    assert!(record.secret == secret && !format!("{record:?}").contains(SECRET));
    assert!(fixture.run(hooks.list()).unwrap().iter().any(|one| one.id == id));

    fixture.run(hooks.disable(id)).unwrap();
    assert!(!fixture.run(hooks.get(id)).unwrap().unwrap().is_active);
    fixture.run(hooks.enable(id)).unwrap();
    fixture.run(hooks.change_url(id, &second.url("/hooks"))).unwrap();
    fixture.run(hooks.wait_active(id, PATIENCE)).unwrap();

    // During the overlap both secrets sign, so a receiver with the old secret still accepts deliveries.
    let rotated = fixture.run(hooks.rotate_secret(id, &Secret::new("nuevo"), 1)).unwrap();
    assert!(rotated.old_secret_until.is_some());
    fixture.ingest_client().send_lines(&[customer(&company, "1", "Uno")]);
    let of_ours = || {
        second
            .recorder
            .events()
            .into_iter()
            .find(|(event, _)| aldaba_client::receiver::Arrival::from(event).record.company == company)
    };
    wait_for("the delivery at the new URL", of_ours);
    assert!(first.recorder.events().iter().all(|(event, _)| event.record_id() != "1" || event.is_test()));

    fixture.run(hooks.delete(id)).unwrap();
    let record = fixture.run(hooks.get(id)).unwrap().unwrap();
    assert!(record.is_deleted && record.deleted_at.is_some() && !record.is_active);
    let error = fixture.run(hooks.enable(id)).unwrap_err();
    assert!(error.refused().unwrap().has_code("deleted"), "{error}");
}

#[test]
fn unsubscribe_requires_the_same_subscription() {
    let fixture = ClientFixture::new();
    let (api, open) = (fixture.api(), EventRecorder::open(&fixture));
    let accounts = Resource::accounts();
    let hooks = api.webhooks(accounts);
    let kinds = [EventKind::Created, EventKind::Disabled];
    let subscription = Subscription::to(accounts, &kinds, "Panel", &open.url("/hooks"), Secret::new(SECRET));
    let id = fixture.run(hooks.subscribe(&subscription)).unwrap();
    let other = Subscription { secret: Secret::new("otro"), ..subscription.clone() };
    assert!(fixture.run(hooks.unsubscribe(&other)).unwrap_err().is_not_found());
    assert_eq!(fixture.run(hooks.unsubscribe(&subscription)).unwrap(), id);
    assert!(fixture.run(hooks.list()).unwrap().iter().all(|one| one.id != id));
}

#[test]
fn errors_have_field_and_code() {
    let fixture = ClientFixture::new();
    let api = fixture.api();
    let hooks = api.webhooks(Resource::customers());
    let mut subscription = Subscription::to_all(Resource::customers(), "", "ftp://x", Secret::new(SECRET));
    subscription.event_types = vec!["Svc.ACC.Customers.CustomerCreatd".into()];
    let error = fixture.run(hooks.subscribe(&subscription)).unwrap_err();
    let refused = error.refused().unwrap();
    assert_eq!(refused.status, 400);
    for code in ["invalid_member", "invalid_url", "unknown_event_type"] {
        assert!(refused.has_code(code), "{code} is not in {error}");
    }
    assert!(error.to_string().contains("CustomerCreated"), "the error says what was meant: {error}");
    assert!(fixture.run(hooks.get(Guid::from_bytes([7; 16]))).unwrap().is_none());
}
