//! Invoicing: entities and actions, the record, pausing, and the host check.

use domain::Resource;
use serde_json::{Value, json};
use store::{Audit as _, AuditKind, AuditQuery};
use webhooks::management::{HostCheck, Operation};

use crate::fixture::{Fixture, URI, invoicing_body};

#[tokio::test]
async fn every_entity_accepts_its_actions() {
    let fixture = Fixture::with(|settings| settings.webhooks_max = 100).with_tenants().await;
    let mut pairs = 0;
    for entity in Resource::invoicing() {
        for action in ["Created", "Updated", "Deleted"] {
            let mut body = invoicing_body();
            (body["entity"], body["action"]) = (entity.as_str().into(), action.into());
            let reply = fixture.invoicing(Operation::Subscribe).body(&body).send().await;
            let is_offered =
                action == "Updated" || !["CompanyData", "CompanySettings"].contains(&entity.as_str());
            if is_offered {
                assert_eq!((reply.status, &reply.body["action"]), (200, &json!(action)), "{reply:?}");
                pairs += 1;
            } else {
                reply.assert_error(400, "unknown_action");
            }
        }
    }
    let listed = fixture.invoicing(Operation::List).send().await;
    assert_eq!((pairs, listed.body.as_array().unwrap().len()), (50, 50));
}

#[tokio::test]
async fn record_has_its_status_and_no_secret() {
    let fixture = Fixture::new().with_tenants().await;
    let made = fixture.invoicing(Operation::Subscribe).body(&invoicing_body()).send().await;
    let id = made.id().to_owned();
    let record = |status: &str, is_paused: bool| {
        json!({
            "id": id, "uri": URI, "entity": "SaleInvoice", "action": "Created", "isPaused": is_paused,
            "applicationName": "App", "description": "New invoices", "status": status,
        })
    };
    assert_eq!((made.status, &made.body), (200, &record("Pending", false)));
    let stands = async |status: &str, is_paused: bool| {
        let listed = fixture.invoicing(Operation::List).send().await.body;
        assert_eq!(listed, json!([record(status, is_paused)]));
        assert_eq!(fixture.invoicing(Operation::Record).webhook(&id).send().await.body, listed[0]);
    };
    stands("Pending", false).await;
    fixture.accept_handshake(&id).await;
    stands("Effective", false).await;
    let pause = async |is_paused: bool| {
        fixture.invoicing(Operation::Status).webhook(&id).body(&json!({"isPaused": is_paused})).send().await
    };
    assert_eq!(pause(true).await.body, record("Paused", true));
    stands("Paused", true).await;
    assert_eq!(pause(false).await.body, record("Effective", false));
    fixture.write_checkpoint(&id, |checkpoint| checkpoint.disabled = Some("it never answered".into())).await;
    stands("Disabled", false).await;
    assert_eq!(pause(false).await.body["status"], "Effective", "resuming is enabling");
    let deleted = fixture.invoicing(Operation::Delete).webhook(&id).send().await;
    assert_eq!((deleted.status, &deleted.body), (200, &record("Deleted", false)));
    for operation in [Operation::Record, Operation::Delete] {
        fixture.invoicing(operation).webhook(&id).send().await.assert_error(404, "not_found");
    }
    pause(true).await.assert_error(404, "not_found");
    assert_eq!(fixture.invoicing(Operation::List).send().await.body, json!([]));
    let touched = fixture.notified.0.lock().len();
    assert_eq!(touched, 5, "subscribe, pause, resume, resume, delete");
}

#[tokio::test]
async fn pause_needs_a_boolean_and_an_own_webhook() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.invoicing(Operation::Subscribe).body(&invoicing_body()).send().await.id().to_owned();
    for body in [json!({}), json!({"isPaused": null}), json!({"isPaused": "yes"})] {
        let reply = fixture.invoicing(Operation::Status).webhook(&id).body(&body).send().await;
        assert_eq!((reply.status, &reply.body["field"]), (400, &json!("isPaused")));
    }
    for other in ["x", crate::fixture::ZERO_ID] {
        let body = json!({"isPaused": true});
        fixture
            .invoicing(Operation::Status)
            .webhook(other)
            .body(&body)
            .send()
            .await
            .assert_error(404, "not_found");
    }
    let foreign = fixture.invoicing(Operation::Status).owner("tenant-b", "app-1").webhook(&id);
    foreign.body(&json!({"isPaused": true})).send().await.assert_error(404, "not_found");
}

#[tokio::test]
async fn same_body_again_returns_the_same_webhook_and_sets_its_pause() {
    let fixture = Fixture::new().with_tenants().await;
    let mut body = invoicing_body();
    body["isPaused"] = true.into();
    let id = fixture.invoicing(Operation::Subscribe).body(&body).send().await.id().to_owned();
    let again = fixture.invoicing(Operation::Subscribe).body(&body).send().await;
    assert_eq!((again.id(), &again.body["status"]), (&*id, &json!("Paused")));
    let awake = fixture.invoicing(Operation::Subscribe).body(&invoicing_body()).send().await;
    assert_eq!((awake.id(), &awake.body["isPaused"]), (&*id, &json!(false)));
    let paused = fixture.invoicing(Operation::Subscribe).body(&body).send().await;
    assert_eq!((paused.id(), &paused.body["isPaused"]), (&*id, &json!(true)));
}

#[tokio::test]
async fn optional_members_may_be_left_out() {
    let fixture = Fixture::new().with_tenants().await;
    let body = json!({
        "uri": URI, "entity": "CompanyData", "action": "Updated", "secret": "s", "unknown": "ignored",
    });
    let made = fixture.invoicing(Operation::Subscribe).body(&body).send().await;
    assert_eq!(made.status, 200, "{made:?}");
    assert_eq!(
        (&made.body["isPaused"], &made.body["applicationName"], &made.body["description"]),
        (&json!(false), &json!(""), &json!(""))
    );
    let with_context =
        fixture.invoicing(Operation::List).header("context", "{\"clientId\":\"c\"}").send().await;
    assert_eq!(with_context.status, 200, "which means nothing here");
}

/// The contract's sample spells the last field differently from its table.
#[tokio::test]
async fn misspelt_description_is_the_description() {
    let fixture = Fixture::with(|settings| settings.webhooks_max = 100).with_tenants().await;
    let subscribe = async |members: Value| {
        let secret: String = members.to_string().chars().take(100).collect();
        let mut body = json!({"uri": URI, "entity": "Bank", "action": "Updated", "secret": secret});
        body.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        fixture.invoicing(Operation::Subscribe).body(&body).send().await
    };
    for (members, expected) in [
        (json!({"desciption": "new"}), "new"),
        (json!({"descripcion": "new", "isPaused": true}), "new"),
        (json!({"desc": "new", "description": null}), "new"),
        (json!({"desc": "other", "description": "new"}), "new"),
        (json!({"desc": "other", "description": ""}), ""),
        (json!({"desc": "one", "descr": "two"}), ""),
        (json!({"desc": 7}), ""),
        (json!({"Description": "new"}), ""),
        (json!({"about": "new"}), ""),
    ] {
        let made = subscribe(members.clone()).await;
        assert_eq!((made.status, &made.body["description"]), (200, &json!(expected)), "{members}");
    }
    let long = subscribe(json!({"desciption": "x".repeat(1001)})).await;
    assert_eq!((long.status, &long.body["field"]), (400, &json!("description")));
}

#[tokio::test]
async fn same_body_again_takes_over_the_description_and_asks_for_the_handshake() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.invoicing(Operation::Subscribe).body(&invoicing_body()).send().await.id().to_owned();
    let mut body = invoicing_body();
    body["description"] = "Other words".into();
    body["uri"] = URI.replace("receiver.example", "receiver.example:443").into();
    let again = fixture.invoicing(Operation::Subscribe).body(&body).send().await;
    assert_eq!((again.id(), &again.body["description"]), (&*id, &json!("Other words")));
    assert_eq!(again.body["uri"], URI, "the first spelling stays");
    let asked = async || fixture.stored_webhook(&id).await.handshake.asked_at;
    assert_eq!(asked().await, Some(fixture.now()));
    for is_paused in [true, false] {
        fixture.advance(10);
        let body = json!({"isPaused": is_paused});
        fixture.invoicing(Operation::Status).webhook(&id).body(&body).send().await;
        assert_eq!(asked().await, Some(fixture.now()), "{is_paused}");
    }
    assert_eq!(fixture.stored_webhook(&id).await.handshake.number, 1);
    assert_eq!(fixture.notified.0.lock().len(), 4, "the engine learns of each");
}

#[tokio::test]
async fn host_that_is_not_the_callers_is_ignored_marked_or_refused() {
    let elsewhere = [198, 51, 100, 9];
    for check in HostCheck::ALL {
        let fixture = Fixture::with(|settings| settings.host_check = check).with_tenants().await;
        let at_home = fixture.invoicing(Operation::Subscribe).body(&invoicing_body()).send().await;
        assert_eq!((at_home.status, at_home.body.get("doubt")), (200, None), "{check:?}");
        let mut body = invoicing_body();
        body["entity"] = "Bank".into();
        let reply =
            fixture.invoicing(Operation::Subscribe).client_address(elsewhere).body(&body).send().await;
        let query =
            AuditQuery { kind: Some(AuditKind::WebhookHostMismatch), rows_max: 9, ..AuditQuery::default() };
        let audit = fixture.store.audit(&query).await.unwrap();
        match check {
            HostCheck::Off => {
                assert_eq!((reply.status, reply.body.get("doubt"), audit.len()), (200, None, 0));
            }
            HostCheck::Enforce => {
                reply.assert_error(400, "foreign_host");
                assert_eq!((&reply.body["field"], audit.len()), (&json!("uri"), 0));
            }
            HostCheck::Warn => {
                let host_mismatch = reply.body["doubt"].as_str().unwrap();
                assert!(
                    host_mismatch.contains("receiver.example") && host_mismatch.contains("198.51.100.9"),
                    "{host_mismatch}"
                );
                assert_eq!(audit.len(), 1);
                let entry = &audit[0].entry;
                assert!(entry.note.contains(host_mismatch) && entry.note.contains(reply.id()), "{entry:?}");
                assert_eq!(
                    (entry.context.address.as_str(), entry.context.request_id.as_str()),
                    ("198.51.100.9", "request-1")
                );
                let health = fixture.invoicing(Operation::Health).webhook(reply.id()).send().await;
                assert_eq!(health.body["doubt"], host_mismatch);
            }
        }
    }
}
