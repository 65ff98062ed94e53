//! What happens to a webhook's cursor, lanes and handshake when it is changed.

use std::time::Duration;

use domain::Secret;
use domain::retry::RetryState;
use store::{
    AuditEntry, AuditKind, AuditQuery, Lane, ReplayKind, SubscribeOutcome, Webhook, WebhookChange,
    WebhookChangeOutcome,
};

use super::codes::context;
use super::desk::{company, customer};
use super::stage::Stage;
use super::webhook_fixtures::{
    body, contracted, found, in_trouble, lane, load_webhook, made, point, written,
};

async fn change(stage: &Stage, webhook: &Webhook, change: WebhookChange) -> Webhook {
    match stage.store.change_webhook(webhook.id, None, change).await.unwrap() {
        WebhookChangeOutcome::Changed(changed) => {
            assert_eq!(found(&stage.store, webhook.id).await, changed);
            changed
        }
        other => panic!("it was to be done: {other:?}"),
    }
}

fn renewed(stage: &Stage, lanes: [Lane; 2]) -> Vec<Lane> {
    let now = stage.now();
    let retry = RetryState { attempts: 0, first_failed_at: now, next_at: now };
    lanes.into_iter().map(|lane| Lane { retry, ..lane }).collect()
}

pub(crate) async fn enabling_an_active_one_changes_nothing(stage: Stage) {
    let desk = stage.desk().await;
    let webhook = contracted(&stage, &desk, "a").await;
    assert!(webhook.flags().is_active());
    in_trouble(&stage, &webhook).await;
    desk.accept([company("c1")]).await;
    let before = (
        load_webhook(&stage.store, webhook.id).await,
        stage.store.changed_webhooks(0).await.unwrap().last_change,
    );
    assert_eq!(change(&stage, &webhook, WebhookChange::Enable).await, webhook);
    let after = (
        load_webhook(&stage.store, webhook.id).await,
        stage.store.changed_webhooks(0).await.unwrap().last_change,
    );
    assert_eq!(before, after);
}

pub(crate) async fn who_rested_resumes_from_the_next_event(stage: Stage) {
    let desk = stage.desk().await;
    desk.accept([company("c1")]).await;
    let webhook = contracted(&stage, &desk, "a").await;
    assert_eq!(webhook.cursor, Some(1));
    in_trouble(&stage, &webhook).await;
    let rests = change(&stage, &webhook, WebhookChange::Disable).await;
    assert_eq!((rests.enabled, rests.revision, rests.cursor), (false, 2, Some(1)));
    let kept = load_webhook(&stage.store, webhook.id).await;
    assert!(kept.lanes.is_empty() && kept.replays.is_empty(), "what waited is given up");
    assert_eq!(change(&stage, &webhook, WebhookChange::Disable).await, rests, "twice is once");
    desk.accept([customer("c1", "k1", "Ana")]).await;
    let resumed = change(&stage, &webhook, WebhookChange::Enable).await;
    assert!(resumed.flags().is_active(), "the contract stands");
    assert_eq!((resumed.cursor, resumed.revision, resumed.handshake.number), (Some(2), 3, 1));
    assert_eq!(resumed.initial_cursor, Some(1), "what came before was never meant for it");
}

pub(crate) async fn who_rested_before_its_contract_starts_with_it(stage: Stage) {
    let desk = stage.desk().await;
    desk.accept([company("c1")]).await;
    let webhook = made(&stage.store, body(&stage, &desk, "a")).await;
    change(&stage, &webhook, WebhookChange::Disable).await;
    let enabled = change(&stage, &webhook, WebhookChange::Enable).await;
    assert_eq!((enabled.cursor, enabled.handshake.number), (None, 2));
}

pub(crate) async fn what_was_given_up_resumes_from_what_was_not_delivered(stage: Stage) {
    let desk = stage.desk().await;
    let webhook = contracted(&stage, &desk, "a").await;
    in_trouble(&stage, &webhook).await;
    let mut gives_up = point(&stage.store, &webhook).await;
    gives_up.disabled = Some("24 h".into());
    written(&stage.store, gives_up).await;
    let disabled = found(&stage.store, webhook.id).await;
    assert!(
        disabled.flags().disabled && disabled.revision == webhook.revision,
        "the engine moves no revision"
    );
    desk.accept([company("c1")]).await;
    stage.clock.forward(Duration::from_secs(60));
    let enabled = change(&stage, &webhook, WebhookChange::Enable).await;
    assert!(enabled.flags().is_active());
    assert_eq!((enabled.cursor, enabled.handshake.number), (Some(0), 1));
    let kept = load_webhook(&stage.store, webhook.id).await;
    assert_eq!(kept.lanes, renewed(&stage, [lane(-7, 2, stage.now()), lane(5, 3, stage.now())]));
    assert_eq!(kept.replays.len(), 1);
}

pub(crate) async fn a_new_address_waits_for_a_new_handshake(stage: Stage) {
    let desk = stage.desk().await;
    let webhook = contracted(&stage, &desk, "a").await;
    in_trouble(&stage, &webhook).await;
    desk.accept([company("c1")]).await;
    let now = stage.clock.forward(Duration::from_secs(60));
    let moved = change(&stage, &webhook, WebhookChange::ChangeUrl("https://b.example/".into())).await;
    assert_eq!((moved.url.as_str(), moved.cursor), ("https://b.example/", Some(0)));
    assert!(!moved.flags().is_active());
    assert_eq!((moved.handshake.number, moved.handshake.at, moved.handshake.accepted), (2, now, false));
    let kept = load_webhook(&stage.store, webhook.id).await;
    assert_eq!(kept.lanes, renewed(&stage, [lane(-7, 2, now), lane(5, 3, now)]));
    // The body by which it is found is another now.
    assert_eq!(stage.store.find_identical_webhook(&body(&stage, &desk, "a")).await, Ok(None));
}

pub(crate) async fn a_secret_is_replaced_with_an_overlap(stage: Stage) {
    let desk = stage.desk().await;
    let webhook = made(&stage.store, body(&stage, &desk, "a")).await;
    let until = stage.now() + Duration::from_secs(60);
    let rotate = |text: &str, previous_valid_until| WebhookChange::RotateSecret {
        secret: Secret::new(text),
        previous_valid_until,
    };
    let moved = stage.store.changed_webhooks(0).await.unwrap().last_change;
    let rotated = change(&stage, &webhook, rotate("second", until)).await;
    let old = rotated.previous_secret.as_ref().unwrap();
    assert_eq!((old.secret.reveal(), old.until), (webhook.secret.reveal(), until));
    assert_eq!((rotated.secret.reveal(), rotated.revision), ("second", 1));
    assert_ne!(
        stage.store.changed_webhooks(0).await.unwrap().last_change,
        moved,
        "the engine is told all the same"
    );
    let at_once = change(&stage, &webhook, rotate("third", stage.now())).await;
    assert_eq!(at_once.previous_secret, None);
}

pub(crate) async fn no_two_live_ones_become_alike(stage: Stage) {
    let (desk, store) = (stage.desk().await, &stage.store);
    let one = made(store, body(&stage, &desk, "a")).await;
    let mut same = body(&stage, &desk, "a");
    same.url = "https://b.example/".into();
    let other = made(store, same).await;
    let move_to = WebhookChange::ChangeUrl(one.url.clone());
    assert_eq!(
        store.change_webhook(other.id, None, move_to.clone()).await,
        Ok(WebhookChangeOutcome::Duplicate)
    );
    assert_eq!(found(store, other.id).await, other);
    change(&stage, &one, WebhookChange::ChangeUrl(one.url.clone())).await;
    change(&stage, &one, WebhookChange::Unsubscribe).await;
    change(&stage, &other, move_to).await;
}

pub(crate) async fn an_end_is_final(stage: Stage) {
    let (desk, store) = (stage.desk().await, &stage.store);
    let webhook = contracted(&stage, &desk, "a").await;
    in_trouble(&stage, &webhook).await;
    let over = change(&stage, &webhook, WebhookChange::Unsubscribe).await;
    assert_eq!((over.unsubscribed_at, over.deleted_at), (Some(stage.now()), None));
    assert_eq!(store.load_webhook(webhook.id).await, Ok(None));
    assert_eq!(store.lanes(webhook.id, 10).await, Ok(Vec::new()));
    assert_eq!(store.replays(webhook.id, 10).await, Ok(Vec::new()));
    for late in [WebhookChange::Enable, WebhookChange::Disable, WebhookChange::Unsubscribe] {
        assert_eq!(
            store.change_webhook(webhook.id, None, late).await,
            Ok(WebhookChangeOutcome::Ended(over.clone()))
        );
    }
    let deleted = change(&stage, &webhook, WebhookChange::Delete).await;
    assert_eq!((deleted.unsubscribed_at, deleted.deleted_at), (over.unsubscribed_at, Some(stage.now())));
    let twice = store.change_webhook(webhook.id, None, WebhookChange::Delete).await;
    assert_eq!(twice, Ok(WebhookChangeOutcome::Ended(deleted)));
    assert_eq!(store.request_replay(webhook.id, ReplayKind::Test, 0, 0).await, Ok(None));
}

pub(crate) async fn what_the_audit_is_told_comes_with_the_change_or_not_at_all(stage: Stage) {
    let (desk, store) = (stage.desk().await, &stage.store);
    let entry = |note: &str| {
        Some(AuditEntry::new(AuditKind::WebhookChanged, stage.now(), &context()).note(note.to_owned()))
    };
    let told = async || {
        let query = AuditQuery { rows_max: 100, ..AuditQuery::default() };
        let mut notes: Vec<_> =
            store.audit(&query).await.unwrap().into_iter().map(|one| one.entry.note).collect();
        notes.sort();
        notes
    };
    let new = body(&stage, &desk, "a");
    let Ok(SubscribeOutcome::Created(webhook)) = store.subscribe_audited(new, 1, entry("1 made")).await
    else {
        panic!("it is new");
    };
    let again = store.subscribe_audited(body(&stage, &desk, "a"), 1, entry("found")).await;
    assert!(matches!(again, Ok(SubscribeOutcome::Existing(_))), "{again:?}");
    let more = store.subscribe_audited(body(&stage, &desk, "b"), 1, entry("too many")).await;
    assert_eq!(more, Ok(SubscribeOutcome::LimitReached));
    for (change, note) in [
        (WebhookChange::Disable, "2 disabled"),
        (WebhookChange::Disable, "twice"),
        (WebhookChange::Enable, "3 enabled"),
    ] {
        store.change_webhook_audited(webhook.id, None, change, entry(note)).await.unwrap();
    }
    store.request_replay_audited(webhook.id, ReplayKind::Test, (0, 0), entry("4 asked")).await.unwrap();
    store.change_webhook_audited(webhook.id, None, WebhookChange::Delete, entry("5 deleted")).await.unwrap();
    store.change_webhook_audited(webhook.id, None, WebhookChange::Enable, entry("over")).await.unwrap();
    assert_eq!(
        store.request_replay_audited(webhook.id, ReplayKind::Test, (0, 0), entry("none")).await,
        Ok(None)
    );
    assert_eq!(told().await, ["1 made", "2 disabled", "3 enabled", "4 asked", "5 deleted"]);
}
