//! `aldaba webhooks` and `aldaba deliveries`, beside a running service.

use serde_json::{Value, json};

use super::knocks::{SECRET, Subscriber, office};
use crate::harness::{Done, until};

fn run(arguments: &[&str]) -> Done {
    office().site.program(arguments).run()
}

/// The rows of a table, each cut at two or more spaces.
fn rows(text: &str) -> Vec<Vec<&str>> {
    text.lines()
        .map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect())
        .collect()
}

#[test]
fn webhooks_are_listed_and_shown() {
    let subscriber = Subscriber::new();
    let (id, client) = (subscriber.webhook.as_str(), subscriber.api.office.app.id.as_str());
    let listed = run(&["webhooks", "list", "--client", client]).code(0);
    let rows = rows(&listed.stdout);
    assert_eq!(rows[0], ["WEBHOOK", "TENANT", "CLIENT", "RESOURCE", "STATUS", "URL"]);
    assert_eq!(rows[1][..5], [id, &subscriber.api.office.tenants[0], client, "customers", "active"]);
    assert_eq!(rows.len(), 2);
    let page = run(&["webhooks", "list", "--client", client, "--status", "active", "--json"]).json();
    assert_eq!((&page["webhooks"][0]["id"], &page["next"]), (&json!(id), &Value::Null));
    let sequence = subscriber.customer("1");
    subscriber.delivery(sequence, "delivered");
    let shown = run(&["webhooks", "show", id]).code(0).stdout;
    for line in ["status         active", "               Events are delivered.", "success_rate   100.00 %"] {
        assert!(shown.contains(line), "{line:?} is not in\n{shown}");
    }
    assert!(!shown.contains(SECRET) && shown.contains("handshake"), "{shown}");
    assert_eq!(run(&["webhooks", "show", id, "--json"]).json()["health"]["delivered"], 1);
    let many = run(&["webhooks", "list", "--limit", "1"]).code(0);
    if let Some(mark) = many.stderr.trim().strip_prefix("There is more: --after ") {
        run(&["webhooks", "list", "--after", mark]).code(0);
    }
}

#[test]
fn webhooks_are_disabled_enabled_tested_and_deleted() {
    let subscriber = Subscriber::new();
    let id = subscriber.webhook.as_str();
    let done = run(&["webhooks", "disable", id]).code(0);
    assert!(done.stderr.contains(&format!("webhook {id} is disabled")), "{done:?}");
    assert!(done.stderr.contains("goes on with the next event"), "{done:?}");
    run(&["webhooks", "test", id]).refused(5, "only to an active one");
    assert_eq!(run(&["webhooks", "enable", id, "--json"]).json()["status"], "active");
    let tested = run(&["webhooks", "test", id]).code(0);
    assert!(tested.stderr.contains(&format!("aldaba webhooks show {id}")), "{tested:?}");
    assert_eq!(subscriber.replayed(1)["delivered"], 1, "the service has noticed by itself");
    run(&["webhooks", "delete", id]).refused(2, "--yes");
    run(&["webhooks", "delete", id, "--yes"]).code(0);
    run(&["webhooks", "enable", id]).refused(5, "is deleted, which is final");
    run(&["webhooks", "show", "nobody"]).refused(5, "there is no webhook");
    run(&["webhooks", "list", "--resource", "Customers"]).refused(2, "customers");
}

#[test]
fn deliveries_are_listed_shown_and_sent_again() {
    let subscriber = Subscriber::new();
    let id = subscriber.webhook.as_str();
    subscriber.answers(503);
    let sequence = subscriber.customer("1");
    let outgoing = subscriber.delivery(sequence, "waiting")["outgoingId"].as_str().unwrap().to_owned();
    let listed = run(&["deliveries", "list", id, "--since", "1h"]).code(0);
    let rows = rows(&listed.stdout);
    assert_eq!(rows[0], ["SEQUENCE", "OUTGOING_ID", "EVENT", "RECORD", "STATUS", "LAST"]);
    assert_eq!(
        rows[1][..5],
        [&sequence.to_string(), &outgoing, "Svc.ACC.Customers.CustomerCreated", "1", "waiting"]
    );
    assert!(rows[1][5].contains("503"), "{listed:?}");
    assert_eq!(run(&["deliveries", "list", id, "--failed", "--json"]).json()["deliveries"], json!([]));
    let shown = run(&["deliveries", "show", id, &outgoing]).code(0).stdout;
    for text in ["status        waiting", "AT ", "last answer:\nDone", "body:\n{\"WebhookId\""] {
        assert!(shown.contains(text), "{text:?} is not in\n{shown}");
    }
    subscriber.answers(200);
    subscriber.delivery(sequence, "delivered");
    let told = run(&["deliveries", "replay", id, &outgoing]).code(0);
    assert!(told.stderr.contains(&format!("events {sequence} again")), "{told:?}");
    assert_eq!(subscriber.replayed(1)["delivered"], 1);
    let asked = run(&["deliveries", "replay", id, "--from", "2020-01-01", "--json"]).json();
    assert_eq!(asked["upto"], sequence.to_string());
    until("both", || (subscriber.replayed(2)["delivered"] == 1).then_some(()));
    run(&["deliveries", "replay", id]).refused(2, "--from");
    run(&["deliveries", "replay", id, &outgoing, "--from", "2020-01-01"]).refused(2, "cannot be used with");
    run(&["deliveries", "replay", id, "--from", "2020-01-02", "--to", "2020-01-01"])
        .refused(2, "from must not");
    run(&["deliveries", "replay", id, "1"]).refused(5, "there is no delivery");
    run(&["deliveries", "list", id, "--since", "soon"]).refused(2, "duration");
    run(&["deliveries", "show", id, "nothing"]).refused(5, "there is no delivery");
}
