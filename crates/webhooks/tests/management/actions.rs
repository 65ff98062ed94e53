//! What the developer portal does to a webhook, without HTTP: the same functions as behind the owner's API, audited with the
//! developer as the actor.

use std::time::Duration;

use domain::delivery::{DeliveryPageQuery, ReplayRequest};
use domain::{AccountId, Secret};
use store::{Actor, Audit as _, AuditContext, AuditQuery, Webhook};
use webhooks::management::{ActionError, OVERLAP_MAX, Operation, SECRET_BYTES_MAX};

use crate::fixture::{Fixture, URI, invoicing_body};

const OVERLAP: Duration = Duration::from_hours(1);

fn developer() -> AuditContext {
    let actor = Actor::Developer(AccountId::new("leo"));
    AuditContext { actor, address: "198.51.100.7".into(), request_id: "r".into() }
}

/// The kinds of the developer's entries, oldest first.
async fn kinds(fixture: &Fixture) -> Vec<&'static str> {
    let query = AuditQuery { rows_max: 1000, ..AuditQuery::default() };
    let mut records = fixture.store.audit(&query).await.unwrap();
    records.reverse();
    let own = records.iter().filter(|record| record.entry.context == developer());
    own.map(|record| record.entry.kind.as_str()).collect()
}

fn refused<T>(result: Result<T, ActionError>) -> ActionError {
    result.err().expect("it is refused")
}

#[tokio::test]
async fn developer_changes_a_webhook_as_its_owner_would() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.active_webhook().await;
    let (management, context) = (&fixture.management, &developer());
    let webhook = fixture.stored_webhook(&id).await;
    let paused = management.set_enabled(&webhook, false, context).await.unwrap();
    assert!(!paused.enabled);
    fixture.advance(1);
    assert!(management.set_enabled(&webhook, true, context).await.unwrap().enabled);
    fixture.advance(1);
    let moved = management.change_url(&webhook, "https://receiver.example/new", context).await.unwrap();
    assert_eq!((moved.url.as_str(), moved.handshake.accepted), ("https://receiver.example/new", false));
    fixture.advance(1);
    let rotation = (fixture.now(), OVERLAP);
    let rotated = management.rotate_secret(&moved, Secret::new("new"), rotation, context).await.unwrap();
    assert_eq!(rotated.secret, Secret::new("new"));
    assert_eq!(rotated.previous_secret.as_ref().unwrap().until, fixture.now() + OVERLAP);
    fixture.accept_handshake(&id).await;
    fixture.advance(1);
    let webhook = fixture.stored_webhook(&id).await;
    fixture.history.request_replay(&webhook, ReplayRequest::TestEvent, context).await.unwrap();
    fixture.advance(1);
    assert!(management.delete_webhook(&rotated, context).await.unwrap().deleted_at.is_some());
    let changed = "webhook_changed";
    let expected = [changed, changed, changed, "webhook_secret_rotated", changed, "webhook_deleted"];
    assert_eq!(kinds(&fixture).await, expected);
    assert!(fixture.history.deliveries(&webhook, &DeliveryPageQuery::default()).await.is_ok());
}

#[tokio::test]
async fn refused_action_says_why_and_changes_nothing() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.active_webhook().await;
    let (management, context) = (&fixture.management, &developer());
    let webhook = fixture.stored_webhook(&id).await;
    for (url, code) in [
        ("ftp://receiver.example", "invalid_url"),
        ("", "invalid_url"),
        ("https://inside.example/hook", "refused_address"),
        ("https://nowhere.example/hook", "unresolved_host"),
    ] {
        let error = refused(management.change_url(&webhook, url, context).await);
        assert_eq!(error.code().as_str(), code, "{url}: {error}");
    }
    let rotate = async |secret: String, overlap| {
        let rotated =
            management.rotate_secret(&webhook, Secret::new(secret), (fixture.now(), overlap), context).await;
        refused(rotated)
    };
    assert!(matches!(rotate(String::new(), OVERLAP).await, ActionError::InvalidSecret));
    assert!(matches!(rotate("x".repeat(SECRET_BYTES_MAX + 1), OVERLAP).await, ActionError::InvalidSecret));
    let longer = OVERLAP_MAX + Duration::from_secs(1);
    assert!(matches!(rotate("x".into(), longer).await, ActionError::OverlapTooLong));
    assert_eq!(fixture.stored_webhook(&id).await, webhook);
    assert_eq!(kinds(&fixture).await, [""; 0]);

    let unknown = Webhook { id: domain::Guid::from_bytes([9; 16]), ..webhook.clone() };
    assert!(matches!(refused(management.set_enabled(&unknown, false, context).await), ActionError::NotFound));
    management.delete_webhook(&webhook, context).await.unwrap();
    for error in [
        refused(management.set_enabled(&webhook, true, context).await),
        refused(management.delete_webhook(&webhook, context).await),
        refused(management.change_url(&fixture.stored_webhook(&id).await, &webhook.url, context).await),
    ] {
        assert!(matches!(error, ActionError::Deleted), "{error:?}");
    }
}

#[tokio::test]
async fn address_of_an_invoicing_subscription_is_fixed() {
    let fixture = Fixture::new().with_tenants().await;
    let made = fixture.invoicing(Operation::Subscribe).body(&invoicing_body()).send().await;
    let webhook = fixture.stored_webhook(made.body["id"].as_str().unwrap()).await;
    let moved = fixture.management.change_url(&webhook, URI, &developer()).await;
    assert!(matches!(refused(moved), ActionError::FixedUrl));
}
