//! `aldaba webhooks` and `aldaba deliveries`, while the service runs.

use serde_json::{Value, json};

use super::webhook_fixture::{SECRET, Subscriber, fixture};
use crate::harness::{FinishedProcess, wait_for};

fn run(arguments: &[&str]) -> FinishedProcess {
    fixture().installation.program(arguments).run()
}

/// The rows of a table, each split at two or more spaces.
fn rows(text: &str) -> Vec<Vec<&str>> {
    text.lines()
        .map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect())
        .collect()
}

#[test]
fn webhooks_are_listed_and_shown() {
    let subscriber = Subscriber::new();
    let (id, client) = (subscriber.webhook.as_str(), subscriber.api.sign_in.app.id.as_str());
    let listed = run(&["webhooks", "list", "--client", client]).code(0);
    let rows = rows(&listed.stdout);
    assert_eq!(rows[0], ["WEBHOOK", "TENANT", "CLIENT", "RESOURCE", "STATUS", "URL"]);
    assert_eq!(rows[1][..5], [id, &subscriber.api.sign_in.tenants[0], client, "customers", "active"]);
    assert_eq!(rows.len(), 2);
    let page = run(&["webhooks", "list", "--client", client, "--status", "active", "--json"]).json();
    assert_eq!((&page["webhooks"][0]["id"], &page["next"]), (&json!(id), &Value::Null));
    let sequence = subscriber.customer("1");
    subscriber.delivery(sequence, "delivered");
    let output = run(&["webhooks", "show", id]).code(0).stdout;
    for line in ["status         active", "               Events are delivered.", "success_rate   100.00 %"] {
        assert!(output.contains(line), "{line:?} is not in\n{output}");
    }
    assert!(!output.contains(SECRET) && output.contains("handshake"), "{output}");
    assert_eq!(run(&["webhooks", "show", id, "--json"]).json()["health"]["delivered"], 1);
    let many = run(&["webhooks", "list", "--limit", "1"]).code(0);
    if let Some(cursor) = many.stderr.trim().strip_prefix("There is more: --after ") {
        run(&["webhooks", "list", "--after", cursor]).code(0);
    }
}

#[test]
fn webhooks_are_disabled_enabled_tested_and_deleted() {
    let subscriber = Subscriber::new();
    let id = subscriber.webhook.as_str();
    let done = run(&["webhooks", "disable", id]).code(0);
    assert!(done.stderr.contains(&format!("webhook {id} is disabled")), "{done:?}");
    assert!(done.stderr.contains("goes on with the next event"), "{done:?}");
    run(&["webhooks", "test", id]).expect_failure(5, "only to an active one");
    assert_eq!(run(&["webhooks", "enable", id, "--json"]).json()["status"], "active");
    let tested = run(&["webhooks", "test", id]).code(0);
    assert!(tested.stderr.contains(&format!("aldaba webhooks show {id}")), "{tested:?}");
    assert_eq!(subscriber.wait_for_replay(1)["delivered"], 1, "the running service picks up the change");
    run(&["webhooks", "delete", id]).expect_failure(2, "--yes");
    run(&["webhooks", "delete", id, "--yes"]).code(0);
    run(&["webhooks", "enable", id]).expect_failure(5, "is deleted, which is final");
    run(&["webhooks", "show", "nobody"]).expect_failure(5, "there is no webhook");
    run(&["webhooks", "list", "--resource", "Customers"]).expect_failure(2, "customers");
}

#[test]
fn deliveries_are_listed_shown_and_replayed() {
    let subscriber = Subscriber::new();
    let id = subscriber.webhook.as_str();
    subscriber.respond_with(503);
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
    let output = run(&["deliveries", "show", id, &outgoing]).code(0).stdout;
    for text in ["status        waiting", "AT ", "last answer:\nDone", "body:\n{\"WebhookId\""] {
        assert!(output.contains(text), "{text:?} is not in\n{output}");
    }
    subscriber.respond_with(200);
    subscriber.delivery(sequence, "delivered");
    let replayed = run(&["deliveries", "replay", id, &outgoing]).code(0);
    assert!(replayed.stderr.contains(&format!("events {sequence} again")), "{replayed:?}");
    assert_eq!(subscriber.wait_for_replay(1)["delivered"], 1);
    let replayed_range = run(&["deliveries", "replay", id, "--from", "2020-01-01", "--json"]).json();
    assert_eq!(replayed_range["upto"], sequence.to_string());
    wait_for("the second replay", || (subscriber.wait_for_replay(2)["delivered"] == 1).then_some(()));
    run(&["deliveries", "replay", id]).expect_failure(2, "--from");
    run(&["deliveries", "replay", id, &outgoing, "--from", "2020-01-01"])
        .expect_failure(2, "cannot be used with");
    run(&["deliveries", "replay", id, "--from", "2020-01-02", "--to", "2020-01-01"])
        .expect_failure(2, "from must not");
    run(&["deliveries", "replay", id, "1"]).expect_failure(5, "there is no delivery");
    run(&["deliveries", "list", id, "--since", "soon"]).expect_failure(2, "duration");
    run(&["deliveries", "show", id, "nothing"]).expect_failure(5, "there is no delivery");
}
