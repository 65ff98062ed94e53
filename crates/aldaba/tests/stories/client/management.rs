//! Looking after webhooks with the client: status, address, secret, end, and refusals with their faults.

use std::time::Duration;

use aldaba_client::webhooks::Subscription;
use aldaba_client::{EventKind, Guid, Resource, Secret};

use super::Stage;
use super::desk::{Desk, SECRET};
use crate::harness::{customer, until};

const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn a_webhook_is_looked_after_from_its_making_to_its_end() {
    let stage = Stage::new();
    let (api, company) = (stage.api(), stage.company());
    let (first, second) = (Desk::open(&stage), Desk::open(&stage));
    let (customers, secret) = (Resource::customers(), Secret::new(SECRET));
    let hooks = api.webhooks(customers);
    let names = stage.run(hooks.events()).unwrap();
    let wanted = Subscription::to_all(customers, "Panel", &first.url("/hooks"), secret.clone());
    assert_eq!(wanted.event_types, names);
    let id = stage.run(hooks.subscribe(&wanted)).unwrap();
    assert_eq!(stage.run(hooks.subscribe(&wanted)).unwrap(), id);
    stage.run(hooks.wait_until_active(id, PATIENCE)).unwrap();
    let record = stage.run(hooks.get(id)).unwrap().unwrap();
    assert_eq!((record.events.len(), record.tenant_id.as_str()), (4, stage.tenant()));
    assert!(record.secret == secret && !format!("{record:?}").contains(SECRET));
    assert!(stage.run(hooks.list()).unwrap().iter().any(|one| one.id == id));

    stage.run(hooks.disable(id)).unwrap();
    assert!(!stage.run(hooks.get(id)).unwrap().unwrap().is_active);
    stage.run(hooks.enable(id)).unwrap();
    stage.run(hooks.change_url(id, &second.url("/hooks"))).unwrap();
    stage.run(hooks.wait_until_active(id, PATIENCE)).unwrap();

    // While both secrets sign, a receiver that knows only the old one still takes what comes.
    let rotated = stage.run(hooks.rotate_secret(id, &Secret::new("nuevo"), 1)).unwrap();
    assert!(rotated.old_secret_until.is_some());
    stage.door().send_lines(&[customer(&company, "1", "Uno")]);
    let of_ours =
        || {
            second.desk.came().into_iter().find(|(event, _)| {
                aldaba_client::receiver::ReceivedEvent::from(event).record.company == company
            })
        };
    until("the delivery at the new address", of_ours);
    assert!(first.desk.came().iter().all(|(event, _)| event.record_id() != "1" || event.is_test()));

    stage.run(hooks.delete(id)).unwrap();
    let record = stage.run(hooks.get(id)).unwrap().unwrap();
    assert!(record.is_deleted && record.deleted_at.is_some() && !record.is_active);
    let told = stage.run(hooks.enable(id)).unwrap_err();
    assert!(told.api_error().unwrap().has_code("deleted"), "{told}");
}

#[test]
fn unsubscribing_needs_the_very_same() {
    let stage = Stage::new();
    let (api, open) = (stage.api(), Desk::open(&stage));
    let accounts = Resource::accounts();
    let hooks = api.webhooks(accounts);
    let kinds = [EventKind::Created, EventKind::Disabled];
    let wanted = Subscription::to(accounts, &kinds, "Panel", &open.url("/hooks"), Secret::new(SECRET));
    let id = stage.run(hooks.subscribe(&wanted)).unwrap();
    let other = Subscription { secret: Secret::new("otro"), ..wanted.clone() };
    assert!(stage.run(hooks.unsubscribe(&other)).unwrap_err().is_not_found());
    assert_eq!(stage.run(hooks.unsubscribe(&wanted)).unwrap(), id);
    assert!(stage.run(hooks.list()).unwrap().iter().all(|one| one.id != id));
}

#[test]
fn refusals_name_the_field_and_the_code() {
    let stage = Stage::new();
    let api = stage.api();
    let hooks = api.webhooks(Resource::customers());
    let mut wanted = Subscription::to_all(Resource::customers(), "", "ftp://x", Secret::new(SECRET));
    wanted.event_types = vec!["Svc.ACC.Customers.CustomerCreatd".into()];
    let told = stage.run(hooks.subscribe(&wanted)).unwrap_err();
    let refused = told.api_error().unwrap();
    assert_eq!(refused.status, 400);
    for code in ["invalid_member", "invalid_url", "unknown_event_type"] {
        assert!(refused.has_code(code), "{code} is not in {told}");
    }
    assert!(told.to_string().contains("CustomerCreated"), "it says what was meant: {told}");
    assert!(stage.run(hooks.get(Guid::from_bytes([7; 16]))).unwrap().is_none());
}
