//! Invoicing: every entity and action, the record, pausing, and hosts that may be somebody else's.

use domain::Resource;
use serde_json::json;
use store::{Audit as _, AuditKind, AuditQuery};
use webhooks::management::{HostCheck, Operation};

use super::stage::{Stage, URI, entity_wish};

#[tokio::test]
async fn every_entity_offers_its_actions() {
    let stage = Stage::with(|settings| settings.webhooks_max = 100).ready().await;
    let mut pairs = 0;
    for entity in Resource::invoicing() {
        for action in ["Created", "Updated", "Deleted"] {
            let mut body = entity_wish();
            (body["entity"], body["action"]) = (entity.as_str().into(), action.into());
            let asked = stage.invoicing(Operation::Subscribe).body(&body).send().await;
            let is_offered =
                action == "Updated" || !["CompanyData", "CompanySettings"].contains(&entity.as_str());
            if is_offered {
                assert_eq!((asked.status, &asked.body["action"]), (200, &json!(action)), "{asked:?}");
                pairs += 1;
            } else {
                asked.problem(400, "unknown_action");
            }
        }
    }
    let listed = stage.invoicing(Operation::List).send().await;
    assert_eq!((pairs, listed.body.as_array().unwrap().len()), (50, 50));
}

#[tokio::test]
async fn a_record_without_its_secret_and_how_it_stands() {
    let stage = Stage::new().ready().await;
    let made = stage.invoicing(Operation::Subscribe).body(&entity_wish()).send().await;
    let id = made.id().to_owned();
    let record = |status: &str, is_paused: bool| {
        json!({
            "id": id, "uri": URI, "entity": "SaleInvoice", "action": "Created", "isPaused": is_paused,
            "applicationName": "App", "description": "New invoices", "status": status,
        })
    };
    assert_eq!((made.status, &made.body), (200, &record("Pending", false)));
    let stands = async |status: &str, is_paused: bool| {
        let listed = stage.invoicing(Operation::List).send().await.body;
        assert_eq!(listed, json!([record(status, is_paused)]));
        assert_eq!(stage.invoicing(Operation::Record).of(&id).send().await.body, listed[0]);
    };
    stands("Pending", false).await;
    stage.accept(&id).await;
    stands("Effective", false).await;
    let pause = async |is_paused: bool| {
        stage.invoicing(Operation::Status).of(&id).body(&json!({"isPaused": is_paused})).send().await
    };
    assert_eq!(pause(true).await.body, record("Paused", true));
    stands("Paused", true).await;
    assert_eq!(pause(false).await.body, record("Effective", false));
    stage.engine(&id, |point| point.disabled = Some("it never answered".into())).await;
    stands("Disabled", false).await;
    assert_eq!(pause(false).await.body["status"], "Effective", "resuming is enabling");
    let deleted = stage.invoicing(Operation::Delete).of(&id).send().await;
    assert_eq!((deleted.status, &deleted.body["id"]), (200, &json!(id)));
    for operation in [Operation::Record, Operation::Delete] {
        stage.invoicing(operation).of(&id).send().await.problem(404, "not_found");
    }
    pause(true).await.problem(404, "not_found");
    assert_eq!(stage.invoicing(Operation::List).send().await.body, json!([]));
    let touched = stage.heard.0.lock().len();
    assert_eq!(touched, 5, "subscribe, pause, resume, resume, delete");
}

#[tokio::test]
async fn what_pauses_says_so() {
    let stage = Stage::new().ready().await;
    let id = stage.invoicing(Operation::Subscribe).body(&entity_wish()).send().await.id().to_owned();
    for body in [json!({}), json!({"isPaused": null}), json!({"isPaused": "yes"})] {
        let asked = stage.invoicing(Operation::Status).of(&id).body(&body).send().await;
        assert_eq!((asked.status, &asked.body["field"]), (400, &json!("isPaused")));
    }
    for other in ["x", super::stage::NOBODY] {
        let body = json!({"isPaused": true});
        stage.invoicing(Operation::Status).of(other).body(&body).send().await.problem(404, "not_found");
    }
    let foreign = stage.invoicing(Operation::Status).by("tenant-b", "app-1").of(&id);
    foreign.body(&json!({"isPaused": true})).send().await.problem(404, "not_found");
}

#[tokio::test]
async fn the_same_again_is_the_same_and_stays_paused_where_it_says_so() {
    let stage = Stage::new().ready().await;
    let mut body = entity_wish();
    body["isPaused"] = true.into();
    let id = stage.invoicing(Operation::Subscribe).body(&body).send().await.id().to_owned();
    let again = stage.invoicing(Operation::Subscribe).body(&body).send().await;
    assert_eq!((again.id(), &again.body["status"]), (&*id, &json!("Paused")));
    let awake = stage.invoicing(Operation::Subscribe).body(&entity_wish()).send().await;
    assert_eq!((awake.id(), &awake.body["isPaused"]), (&*id, &json!(false)));
    let paused = stage.invoicing(Operation::Subscribe).body(&body).send().await;
    assert_eq!((paused.id(), &paused.body["isPaused"]), (&*id, &json!(true)));
}

#[tokio::test]
async fn only_what_is_needed_is_needed() {
    let stage = Stage::new().ready().await;
    let body = json!({
        "uri": URI, "entity": "CompanyData", "action": "Updated", "secret": "s", "descripcion": "misspelt",
    });
    let made = stage.invoicing(Operation::Subscribe).body(&body).send().await;
    assert_eq!(made.status, 200, "{made:?}");
    assert_eq!(
        (&made.body["isPaused"], &made.body["applicationName"], &made.body["description"]),
        (&json!(false), &json!(""), &json!(""))
    );
    let with_context =
        stage.invoicing(Operation::List).header("context", "{\"clientId\":\"c\"}").send().await;
    assert_eq!(with_context.status, 200, "which means nothing here");
}

#[tokio::test]
async fn a_host_that_is_not_where_the_call_comes_from() {
    let elsewhere = [198, 51, 100, 9];
    for check in HostCheck::ALL {
        let stage = Stage::with(|settings| settings.host_check = check).ready().await;
        let at_home = stage.invoicing(Operation::Subscribe).body(&entity_wish()).send().await;
        assert_eq!((at_home.status, at_home.body.get("doubt")), (200, None), "{check:?}");
        let mut body = entity_wish();
        body["entity"] = "Bank".into();
        let asked = stage.invoicing(Operation::Subscribe).from(elsewhere).body(&body).send().await;
        let query =
            AuditQuery { kind: Some(AuditKind::WebhookHostMismatch), rows_max: 9, ..AuditQuery::default() };
        let audit = stage.store.audit(&query).await.unwrap();
        match check {
            HostCheck::Off => {
                assert_eq!((asked.status, asked.body.get("doubt"), audit.len()), (200, None, 0));
            }
            HostCheck::Enforce => {
                asked.problem(400, "foreign_host");
                assert_eq!((&asked.body["field"], audit.len()), (&json!("uri"), 0));
            }
            HostCheck::Warn => {
                let host_mismatch = asked.body["doubt"].as_str().unwrap();
                assert!(
                    host_mismatch.contains("receiver.example") && host_mismatch.contains("198.51.100.9"),
                    "{host_mismatch}"
                );
                assert_eq!(audit.len(), 1);
                let entry = &audit[0].entry;
                assert!(entry.note.contains(host_mismatch) && entry.note.contains(asked.id()), "{entry:?}");
                assert_eq!(
                    (entry.context.address.as_str(), entry.context.request_id.as_str()),
                    ("198.51.100.9", "request-1")
                );
                let health = stage.invoicing(Operation::Health).of(asked.id()).send().await;
                assert_eq!(health.body["doubt"], host_mismatch);
            }
        }
    }
}
