//! Looking after webhooks with the client: status, address, secret, end, and refusals with their faults.

use std::time::Duration;

use aldaba_client::webhooks::Subscription;
use aldaba_client::{EventKind, Guid, Resource, Secret};

use super::ClientFixture;
use super::inbox_receiver::{EventRecorder, SECRET};
use crate::harness::{customer, wait_for};

const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn a_webhook_is_looked_after_from_its_making_to_its_end() {
    let fixture = ClientFixture::new();
    let (api, company) = (fixture.api(), fixture.company());
    let (first, second) = (EventRecorder::open(&fixture), EventRecorder::open(&fixture));
    let (customers, secret) = (Resource::customers(), Secret::new(SECRET));
    let hooks = api.webhooks(customers);
    let names = fixture.run(hooks.events()).unwrap();
    let wanted = Subscription::to_all(customers, "Panel", &first.url("/hooks"), secret.clone());
    assert_eq!(wanted.event_types, names);
    let id = fixture.run(hooks.subscribe(&wanted)).unwrap();
    assert_eq!(fixture.run(hooks.subscribe(&wanted)).unwrap(), id);
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

    // While both secrets sign, a receiver that knows only the old one still takes what comes.
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
    wait_for("the delivery at the new address", of_ours);
    assert!(first.recorder.events().iter().all(|(event, _)| event.record_id() != "1" || event.is_test()));

    fixture.run(hooks.delete(id)).unwrap();
    let record = fixture.run(hooks.get(id)).unwrap().unwrap();
    assert!(record.is_deleted && record.deleted_at.is_some() && !record.is_active);
    let told = fixture.run(hooks.enable(id)).unwrap_err();
    assert!(told.refused().unwrap().has_code("deleted"), "{told}");
}

#[test]
fn unsubscribing_needs_the_very_same() {
    let fixture = ClientFixture::new();
    let (api, open) = (fixture.api(), EventRecorder::open(&fixture));
    let accounts = Resource::accounts();
    let hooks = api.webhooks(accounts);
    let kinds = [EventKind::Created, EventKind::Disabled];
    let wanted = Subscription::to(accounts, &kinds, "Panel", &open.url("/hooks"), Secret::new(SECRET));
    let id = fixture.run(hooks.subscribe(&wanted)).unwrap();
    let other = Subscription { secret: Secret::new("otro"), ..wanted.clone() };
    assert!(fixture.run(hooks.unsubscribe(&other)).unwrap_err().is_not_found());
    assert_eq!(fixture.run(hooks.unsubscribe(&wanted)).unwrap(), id);
    assert!(fixture.run(hooks.list()).unwrap().iter().all(|one| one.id != id));
}

#[test]
fn refusals_name_the_field_and_the_code() {
    let fixture = ClientFixture::new();
    let api = fixture.api();
    let hooks = api.webhooks(Resource::customers());
    let mut wanted = Subscription::to_all(Resource::customers(), "", "ftp://x", Secret::new(SECRET));
    wanted.event_types = vec!["Svc.ACC.Customers.CustomerCreatd".into()];
    let told = fixture.run(hooks.subscribe(&wanted)).unwrap_err();
    let refused = told.refused().unwrap();
    assert_eq!(refused.status, 400);
    for code in ["invalid_member", "invalid_url", "unknown_event_type"] {
        assert!(refused.has_code(code), "{code} is not in {told}");
    }
    assert!(told.to_string().contains("CustomerCreated"), "it says what was meant: {told}");
    assert!(fixture.run(hooks.get(Guid::from_bytes([7; 16]))).unwrap().is_none());
}
