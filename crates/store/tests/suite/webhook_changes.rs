//! What each change of a webhook does to its cursor, lanes and handshake.

use std::time::Duration;

use domain::Secret;
use domain::retry::RetryState;
use domain::webhook::Family;
use store::{Lane, ReplayKind, Webhook, WebhookChange, WebhookChangeOutcome};

use super::fixture::{Fixture, by};
use super::test_tenant::{company, customer};
use super::webhook_fixtures::{
    accept_handshake, active_webhook, add_lanes_and_replay, create_webhook, find_webhook, lane, load_webhook,
    new_checkpoint, new_webhook, write_checkpoint,
};

async fn change(fixture: &Fixture, webhook: &Webhook, change: WebhookChange) -> Webhook {
    match fixture.store.change_webhook(webhook.id, None, change, &by()).await.unwrap() {
        WebhookChangeOutcome::Changed(changed) => {
            assert_eq!(find_webhook(&fixture.store, webhook.id).await, changed);
            changed
        }
        other => panic!("the webhook was not changed: {other:?}"),
    }
}

fn renewed(fixture: &Fixture, lanes: [Lane; 2]) -> Vec<Lane> {
    let now = fixture.now();
    let retry = RetryState { attempts: 0, first_failed_at: now, next_at: now };
    lanes.into_iter().map(|lane| Lane { retry, ..lane }).collect()
}

pub(crate) async fn enabling_an_active_webhook_changes_nothing(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    let webhook = active_webhook(&fixture, &tenant, "a").await;
    assert!(webhook.flags().is_active());
    add_lanes_and_replay(&fixture, &webhook).await;
    tenant.accept([company("c1")]).await;
    let before = (
        load_webhook(&fixture.store, webhook.id).await,
        fixture.store.changed_webhooks(0).await.unwrap().last_change,
    );
    assert_eq!(change(&fixture, &webhook, WebhookChange::Enable).await, webhook);
    let after = (
        load_webhook(&fixture.store, webhook.id).await,
        fixture.store.changed_webhooks(0).await.unwrap().last_change,
    );
    assert_eq!(before, after);
}

pub(crate) async fn paused_webhook_resumes_with_the_next_event(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    tenant.accept([company("c1")]).await;
    let webhook = active_webhook(&fixture, &tenant, "a").await;
    assert_eq!(webhook.cursor, Some(1));
    add_lanes_and_replay(&fixture, &webhook).await;
    let paused = change(&fixture, &webhook, WebhookChange::Disable).await;
    assert_eq!((paused.enabled, paused.revision, paused.cursor), (false, 2, Some(1)));
    let stored = load_webhook(&fixture.store, webhook.id).await;
    assert!(stored.lanes.is_empty() && stored.replays.is_empty(), "lanes and replays are discarded");
    assert_eq!(
        change(&fixture, &webhook, WebhookChange::Disable).await,
        paused,
        "pausing twice changes nothing"
    );
    tenant.accept([customer("c1", "k1", "Ana")]).await;
    let resumed = change(&fixture, &webhook, WebhookChange::Enable).await;
    assert!(resumed.flags().is_active(), "the handshake stays accepted");
    assert_eq!((resumed.cursor, resumed.revision, resumed.handshake.number), (Some(2), 3, 1));
    assert_eq!(resumed.initial_cursor, Some(1), "the initial cursor does not change");
}

pub(crate) async fn webhook_paused_before_its_handshake_gets_a_new_one(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    tenant.accept([company("c1")]).await;
    let webhook = create_webhook(&fixture.store, new_webhook(&fixture, &tenant, "a")).await;
    change(&fixture, &webhook, WebhookChange::Disable).await;
    let enabled = change(&fixture, &webhook, WebhookChange::Enable).await;
    assert_eq!((enabled.cursor, enabled.handshake.number), (None, 2));
}

pub(crate) async fn webhook_disabled_by_failures_resumes_from_undelivered_events(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    let webhook = active_webhook(&fixture, &tenant, "a").await;
    add_lanes_and_replay(&fixture, &webhook).await;
    let mut gives_up = new_checkpoint(&fixture.store, &webhook).await;
    gives_up.disabled = Some("24 h".into());
    write_checkpoint(&fixture.store, gives_up).await;
    let disabled = find_webhook(&fixture.store, webhook.id).await;
    assert!(
        disabled.flags().disabled && disabled.revision == webhook.revision,
        "the engine does not change the revision"
    );
    tenant.accept([company("c1")]).await;
    fixture.clock.advance(Duration::from_secs(60));
    let enabled = change(&fixture, &webhook, WebhookChange::Enable).await;
    assert!(enabled.flags().is_active());
    assert_eq!((enabled.cursor, enabled.handshake.number), (Some(0), 1));
    let stored = load_webhook(&fixture.store, webhook.id).await;
    assert_eq!(stored.lanes, renewed(&fixture, [lane(-7, 2, fixture.now()), lane(5, 3, fixture.now())]));
    assert_eq!(stored.replays.len(), 1);
}

pub(crate) async fn changed_url_needs_a_new_handshake(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    let webhook = active_webhook(&fixture, &tenant, "a").await;
    add_lanes_and_replay(&fixture, &webhook).await;
    tenant.accept([company("c1")]).await;
    let now = fixture.clock.advance(Duration::from_secs(60));
    let changed = change(&fixture, &webhook, WebhookChange::ChangeUrl("https://b.example/".into())).await;
    assert_eq!((changed.url.as_str(), changed.cursor), ("https://b.example/", Some(0)));
    assert!(!changed.flags().is_active());
    assert_eq!((changed.handshake.number, changed.handshake.at, changed.handshake.accepted), (2, now, false));
    let stored = load_webhook(&fixture.store, webhook.id).await;
    assert_eq!(stored.lanes, renewed(&fixture, [lane(-7, 2, now), lane(5, 3, now)]));
    // The old subscription no longer matches it.
    let again = create_webhook(&fixture.store, new_webhook(&fixture, &tenant, "a")).await;
    assert_ne!(again.id, webhook.id);
}

/// It stays disabled until its owner enables it.
pub(crate) async fn changed_url_of_a_disabled_webhook_gets_its_handshake(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    let webhook = active_webhook(&fixture, &tenant, "a").await;
    change(&fixture, &webhook, WebhookChange::Disable).await;
    let moved = change(&fixture, &webhook, WebhookChange::ChangeUrl("https://b.example/".into())).await;
    let flags = moved.flags();
    assert!(flags.needs_handshake(Family::Accounting) && !flags.enabled, "{flags:?}");
    assert_eq!((moved.handshake.number, moved.handshake.accepted), (2, false));
    accept_handshake(&fixture.store, &moved, 0).await;
    let accepted = find_webhook(&fixture.store, webhook.id).await;
    assert!(accepted.handshake.accepted && !accepted.flags().is_active());
    tenant.accept([company("c1")]).await;
    let enabled = change(&fixture, &webhook, WebhookChange::Enable).await;
    assert!(enabled.flags().is_active(), "no further handshake is needed");
    assert_eq!((enabled.handshake.number, enabled.cursor), (2, Some(1)));
    // Disabling it while a handshake is outstanding ends that.
    change(&fixture, &webhook, WebhookChange::ChangeUrl("https://c.example/".into())).await;
    let disabled = change(&fixture, &webhook, WebhookChange::Disable).await;
    assert!(!disabled.flags().needs_handshake(Family::Accounting));
}

pub(crate) async fn secret_rotation_has_an_overlap(fixture: Fixture) {
    let tenant = fixture.add_tenant().await;
    let webhook = create_webhook(&fixture.store, new_webhook(&fixture, &tenant, "a")).await;
    let until = fixture.now() + Duration::from_secs(60);
    let rotate = |text: &str, previous_valid_until| WebhookChange::RotateSecret {
        secret: Secret::new(text),
        previous_valid_until,
    };
    let changed = fixture.store.changed_webhooks(0).await.unwrap().last_change;
    let rotated = change(&fixture, &webhook, rotate("second", until)).await;
    let old = rotated.previous_secret.as_ref().unwrap();
    assert_eq!((old.secret.reveal(), old.until), (webhook.secret.reveal(), until));
    assert_eq!((rotated.secret.reveal(), rotated.revision), ("second", 1));
    assert_ne!(
        fixture.store.changed_webhooks(0).await.unwrap().last_change,
        changed,
        "the engine is notified"
    );
    let rotated_again = change(&fixture, &webhook, rotate("third", fixture.now())).await;
    assert_eq!(rotated_again.previous_secret, None);
}

pub(crate) async fn url_change_cannot_create_a_duplicate(fixture: Fixture) {
    let (tenant, store) = (fixture.add_tenant().await, &fixture.store);
    let first = create_webhook(store, new_webhook(&fixture, &tenant, "a")).await;
    let mut same = new_webhook(&fixture, &tenant, "a");
    same.url = "https://b.example/".into();
    let other = create_webhook(store, same).await;
    let move_to = WebhookChange::ChangeUrl(first.url.clone());
    assert_eq!(
        store.change_webhook(other.id, None, move_to.clone(), &by()).await,
        Ok(WebhookChangeOutcome::Duplicate)
    );
    assert_eq!(find_webhook(store, other.id).await, other);
    change(&fixture, &first, WebhookChange::ChangeUrl(first.url.clone())).await;
    change(&fixture, &first, WebhookChange::Unsubscribe).await;
    change(&fixture, &other, move_to).await;
}

pub(crate) async fn ended_webhook_cannot_be_changed(fixture: Fixture) {
    let (tenant, store) = (fixture.add_tenant().await, &fixture.store);
    let webhook = active_webhook(&fixture, &tenant, "a").await;
    add_lanes_and_replay(&fixture, &webhook).await;
    let ended = change(&fixture, &webhook, WebhookChange::Unsubscribe).await;
    assert_eq!((ended.unsubscribed_at, ended.deleted_at), (Some(fixture.now()), None));
    assert_eq!(store.load_webhook(webhook.id).await, Ok(None));
    assert_eq!(store.lanes(webhook.id, 10).await, Ok(Vec::new()));
    assert_eq!(store.replays(webhook.id, 10).await, Ok(Vec::new()));
    for late in [WebhookChange::Enable, WebhookChange::Disable, WebhookChange::Unsubscribe] {
        assert_eq!(
            store.change_webhook(webhook.id, None, late, &by()).await,
            Ok(WebhookChangeOutcome::Ended(ended.clone()))
        );
    }
    let deleted = change(&fixture, &webhook, WebhookChange::Delete).await;
    assert_eq!((deleted.unsubscribed_at, deleted.deleted_at), (ended.unsubscribed_at, Some(fixture.now())));
    let twice = store.change_webhook(webhook.id, None, WebhookChange::Delete, &by()).await;
    assert_eq!(twice, Ok(WebhookChangeOutcome::Ended(deleted)));
    assert_eq!(store.request_replay(webhook.id, ReplayKind::Test, (0, 0), &by()).await, Ok(None));
}
