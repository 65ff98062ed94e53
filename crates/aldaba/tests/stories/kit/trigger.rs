//! `aldaba trigger` makes events of both families happen, whatever they need first.

use std::time::Duration;

use aldaba_client::webhooks::{InvoicingAction, InvoicingSubscription, Subscription};
use aldaba_client::{Resource, Secret, TryStreamExt as _};
use serde_json::{Value, json};

use super::{command, dev};
use crate::harness::{Receiver, is_guid, until};
use crate::stories::client::Stage;

/// Runs it and tells what it made.
#[track_caller]
fn triggered(stage: &Stage, company: &str, event: &str) -> Value {
    command(stage, company, &["trigger", event, "--json"]).run().json()
}

/// What the feed has for a record.
fn fed(stage: &Stage, resource: Resource, company: Option<&str>, id: &str) -> Vec<String> {
    let changes = stage.api().changes(resource, company, 0).stream();
    let all: Vec<_> = stage.run(changes.try_collect()).unwrap();
    all.into_iter().filter(|one| one.correlation_id == id).map(|one| one.event).collect()
}

#[test]
fn a_change_of_the_accounting_family_arrives() {
    let (stage, receiver) = (Stage::new(), Receiver::open());
    let (company, hooks) = (stage.company(), stage.api().webhooks(Resource::customers()));
    let wanted =
        Subscription::to_all(Resource::customers(), "T", &receiver.url("/trigger"), Secret::new("s"));
    let id = stage.run(hooks.subscribe(&wanted)).unwrap();
    stage.run(hooks.wait_until_active(id, Duration::from_secs(30))).unwrap();
    let made = triggered(&stage, &company, "customers.created");
    assert_eq!(made["made"], json!(["Svc.ACC.Customers.CustomerCreated"]));
    let record = made["correlationId"].as_str().unwrap().to_owned();
    assert!(is_guid(&record), "{made}");
    until("the delivery", || receiver.records().contains(&record).then_some(()));

    // What happens to a record needs a record.
    let made = triggered(&stage, &company, "Svc.ACC.Customers.CustomerDisabled");
    let names = ["Svc.ACC.Customers.CustomerCreated", "Svc.ACC.Customers.CustomerDisabled"];
    assert_eq!(made["made"], json!(names));
    let new = made["correlationId"].as_str().unwrap();
    assert_eq!(fed(&stage, Resource::customers(), Some(&company), new), names);
    // A record that is named is the one.
    let again = command(&stage, &company, &["trigger", "customers.updated", "--id", &record, "--json"]).run();
    assert_eq!(again.json()["made"], json!(["Svc.ACC.Customers.CustomerUpdated"]));
    let events = fed(&stage, Resource::customers(), Some(&company), &record);
    assert_eq!(events.last().unwrap(), "Svc.ACC.Customers.CustomerUpdated");
    stage.run(hooks.delete(id)).unwrap();
}

#[test]
fn a_change_of_invoicing_arrives() {
    let (stage, receiver) = (Stage::new(), Receiver::open());
    let hooks = stage.api().invoicing_webhooks();
    let wanted = InvoicingSubscription {
        uri: receiver.url("/api/webhooks/incoming/Invoicing"),
        ..InvoicingSubscription::new("", "SaleInvoice", InvoicingAction::Created, Secret::new("s"))
    };
    let hook = stage.run(hooks.subscribe(&wanted)).unwrap();
    until("the echo", || {
        (stage.run(hooks.get(hook.id)).unwrap().unwrap().status == "Effective").then_some(())
    });
    let made = triggered(&stage, "", "saleinvoice.created");
    let record = made["correlationId"].as_str().unwrap().to_owned();
    until("the delivery", || receiver.records().contains(&record).then_some(()));
    stage.run(hooks.delete(hook.id)).unwrap();
}

#[test]
fn resources_of_every_kind_of_life_can_be_made_to_tell() {
    let stage = Stage::new();
    let made = triggered(&stage, "", "companies.created");
    let company = made["correlationId"].as_str().unwrap();
    // One of each kind of life, in a company that says how long its account codes are.
    for event in [
        "companies.updated",
        "companies.deleted",
        "accounts.created",
        "suppliers.disabled",
        "journals.deleted",
        "estimations.errorOccurred",
        "integrationFiles.updated",
        "CompanyData.Updated",
        "Bank.Deleted",
    ] {
        let made = triggered(&stage, company, event);
        assert!(made["sequenceVersion"].as_str().unwrap().parse::<u64>().unwrap() > 0, "{made}");
        let last = made["made"].as_array().unwrap().last().unwrap();
        assert_eq!(last, &made["event"], "{event}");
    }
    // A sample company has account codes of another length.
    let sample = dev().ready["tenants"].as_array().unwrap().iter().find(|one| one["id"] == stage.tenant());
    for company in sample.unwrap()["companies"].as_array().unwrap().iter().take(3) {
        triggered(&stage, company.as_str().unwrap(), "customers.updated");
    }
}

#[test]
fn what_cannot_be_made_says_why() {
    let stage = Stage::new();
    let refused = |event: &str, company: &str| command(&stage, company, &["trigger", event]).run();
    refused("custmers.created", "c").refused(2, "did you mean \"customers.Created\"");
    refused("customers.deleted", "c").refused(2, "customers has customers.Created");
    refused("customers.created", "").refused(2, "--company");
    refused("customers.created", "nobody's").refused(5, "nobody's");
    let gone = command(&stage, "c", &["trigger", "Bank.Created", "--url", "http://127.0.0.1:1"]).run();
    gone.refused(1, "http://127.0.0.1:1");
    let spoken = refused("Bank.Created", "").code(0);
    assert!(spoken.stdout.contains("Bank.Created") && spoken.stderr.is_empty(), "{spoken:?}");
}
