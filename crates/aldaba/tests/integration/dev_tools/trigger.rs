//! `aldaba trigger` causes events of both families, and creates the records that they need.

use std::time::Duration;

use aldaba_client::webhooks::{Action, InvoicingSubscription, Subscription};
use aldaba_client::{Resource, Secret, TryStreamExt as _};
use serde_json::{Value, json};

use super::{command, dev};
use crate::harness::{Receiver, is_guid, wait_for};
use crate::integration::client::ClientFixture;

/// Runs the command and returns its result.
#[track_caller]
fn trigger(fixture: &ClientFixture, company: &str, event: &str) -> Value {
    command(fixture, company, &["trigger", event, "--json"]).run().json()
}

/// The feed's events of a record.
fn feed_events(fixture: &ClientFixture, resource: Resource, company: Option<&str>, id: &str) -> Vec<String> {
    let changes = fixture.api().changes(resource, company, 0).stream();
    let all: Vec<_> = fixture.run(changes.try_collect()).unwrap();
    all.into_iter().filter(|one| one.correlation_id == id).map(|one| one.event).collect()
}

#[test]
fn accounting_event_is_triggered_and_delivered() {
    let (fixture, receiver) = (ClientFixture::new(), Receiver::open());
    let (company, hooks) = (fixture.company(), fixture.api().webhooks(Resource::customers()));
    let subscription =
        Subscription::to_all(Resource::customers(), "T", &receiver.url("/trigger"), Secret::new("s"));
    let id = fixture.run(hooks.subscribe(&subscription)).unwrap();
    fixture.run(hooks.wait_active(id, Duration::from_secs(30))).unwrap();
    let created = trigger(&fixture, &company, "customers.created");
    assert_eq!(created["made"], json!(["Svc.ACC.Customers.CustomerCreated"]));
    let record = created["correlationId"].as_str().unwrap().to_owned();
    assert!(is_guid(&record), "{created}");
    wait_for("the delivery", || receiver.records().contains(&record).then_some(()));

    // An event of an existing record needs a record.
    let created = trigger(&fixture, &company, "Svc.ACC.Customers.CustomerDisabled");
    let names = ["Svc.ACC.Customers.CustomerCreated", "Svc.ACC.Customers.CustomerDisabled"];
    assert_eq!(created["made"], json!(names));
    let new = created["correlationId"].as_str().unwrap();
    assert_eq!(feed_events(&fixture, Resource::customers(), Some(&company), new), names);
    // With --record it uses that record.
    let again =
        command(&fixture, &company, &["trigger", "customers.updated", "--id", &record, "--json"]).run();
    assert_eq!(again.json()["made"], json!(["Svc.ACC.Customers.CustomerUpdated"]));
    let events = feed_events(&fixture, Resource::customers(), Some(&company), &record);
    assert_eq!(events.last().unwrap(), "Svc.ACC.Customers.CustomerUpdated");
    fixture.run(hooks.delete(id)).unwrap();
}

#[test]
fn invoicing_event_is_triggered_and_delivered() {
    let (fixture, receiver) = (ClientFixture::new(), Receiver::open());
    let hooks = fixture.api().invoicing_webhooks();
    let subscription = InvoicingSubscription {
        uri: receiver.url("/api/webhooks/incoming/Invoicing"),
        ..InvoicingSubscription::new("", "SaleInvoice", Action::Created, Secret::new("s"))
    };
    let hook = fixture.run(hooks.subscribe(&subscription)).unwrap();
    wait_for("the echo", || {
        (fixture.run(hooks.get(hook.id)).unwrap().unwrap().status == "Effective").then_some(())
    });
    let created = trigger(&fixture, "", "saleinvoice.created");
    let record = created["correlationId"].as_str().unwrap().to_owned();
    wait_for("the delivery", || receiver.records().contains(&record).then_some(()));
    fixture.run(hooks.delete(hook.id)).unwrap();
}

#[test]
fn events_of_every_resource_lifecycle_can_be_triggered() {
    let fixture = ClientFixture::new();
    let created = trigger(&fixture, "", "companies.created");
    let company = created["correlationId"].as_str().unwrap();
    // One resource of each lifecycle, in a company that sets the length of its account codes.
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
        let created = trigger(&fixture, company, event);
        assert!(created["sequenceVersion"].as_str().unwrap().parse::<u64>().unwrap() > 0, "{created}");
        let last = created["made"].as_array().unwrap().last().unwrap();
        assert_eq!(last, &created["event"], "{event}");
    }
    // A sample company has account codes of another length.
    let sample = dev().ready["tenants"].as_array().unwrap().iter().find(|one| one["id"] == fixture.tenant());
    for company in sample.unwrap()["companies"].as_array().unwrap().iter().take(3) {
        trigger(&fixture, company.as_str().unwrap(), "customers.updated");
    }
}

#[test]
fn impossible_events_are_explained() {
    let fixture = ClientFixture::new();
    let refused = |event: &str, company: &str| command(&fixture, company, &["trigger", event]).run();
    refused("custmers.created", "c").expect_failure(2, "did you mean \"customers.Created\"");
    refused("customers.deleted", "c").expect_failure(2, "the events of customers are customers.Created");
    refused("customers.created", "").expect_failure(2, "--company");
    refused("customers.created", "nobody's").expect_failure(5, "nobody's");
    let unreachable =
        command(&fixture, "c", &["trigger", "Bank.Created", "--url", "http://127.0.0.1:1"]).run();
    unreachable.expect_failure(1, "http://127.0.0.1:1");
    let text_output = refused("Bank.Created", "").code(0);
    assert!(text_output.stdout.contains("Bank.Created") && text_output.stderr.is_empty(), "{text_output:?}");
}
