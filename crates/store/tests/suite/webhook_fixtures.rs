//! Webhooks for stories: bodies, owners, contracts, and points of a checkpoint.

use std::sync::Arc;
use std::time::Duration;

use domain::event::EventKind;
use domain::retry::RetryState;
use domain::{ClientId, Guid, Resource, Secret, Ticks, UserId};
use store::{
    AttemptPurpose, AttemptRecord, AttemptTiming, CheckpointResult, HandshakeStep, Lane, LoadedWebhook,
    NewWebhook, Store, SubscribeOutcome, SuccessfulDelivery, Webhook, WebhookCheckpoint, WebhookOwner,
    shard_of,
};

use super::desk::Desk;
use super::stage::Stage;

pub(crate) const MAX: usize = 100;
pub(crate) const LEASE: Duration = Duration::from_secs(30);

pub(crate) fn guid(byte: u8) -> Guid {
    Guid::from_bytes([byte; 16])
}

/// This node's name.
pub(crate) fn node() -> Guid {
    guid(9)
}

pub(crate) fn owner(desk: &Desk) -> WebhookOwner {
    WebhookOwner { tenant: desk.tenant.clone(), client: ClientId::new("erp") }
}

/// A body with a new id and texts that are easily broken.
pub(crate) fn body(stage: &Stage, desk: &Desk, name: &str) -> NewWebhook {
    use domain::Random as _;
    NewWebhook {
        id: stage.random.guid(),
        owner: owner(desk),
        user: UserId::new("maria"),
        resource: Resource::customers(),
        kinds: EventKind::ALL.into_iter().collect(),
        name: name.into(),
        description: "Clientes \"ñ\" 🗝️".into(),
        url: format!("https://erp.example/{name}?a=%20"),
        secret: Secret::new(format!("webhook-secret {name}")),
        host_mismatch: String::new(),
        enabled: true,
    }
}

pub(crate) async fn made(store: &Arc<dyn Store>, body: NewWebhook) -> Webhook {
    match store.subscribe(body, MAX).await.unwrap() {
        SubscribeOutcome::Created(webhook) => webhook,
        other => panic!("a new one was to be made: {other:?}"),
    }
}

/// The number under which this node may write for a webhook.
pub(crate) async fn fence(store: &Arc<dyn Store>, webhook: Guid) -> i64 {
    let held = store.renew_shard_leases(node(), 1, LEASE).await.unwrap();
    held.iter().find(|one| one.shard == shard_of(webhook)).expect("all shards are held").fence
}

/// A point that writes nothing yet.
pub(crate) async fn point(store: &Arc<dyn Store>, webhook: &Webhook) -> WebhookCheckpoint {
    WebhookCheckpoint::new(webhook.id, fence(store, webhook.id).await, webhook.revision)
}

pub(crate) async fn written(store: &Arc<dyn Store>, point: WebhookCheckpoint) {
    assert_eq!(store.checkpoint(vec![point]).await, Ok(vec![CheckpointResult::Written]));
}

/// A webhook whose handshake was accepted when the log stood at its head.
pub(crate) async fn contracted(stage: &Stage, desk: &Desk, name: &str) -> Webhook {
    let webhook = made(&stage.store, body(stage, desk, name)).await;
    accept(&stage.store, &webhook, desk.head().await).await;
    found(&stage.store, webhook.id).await
}

pub(crate) async fn accept(store: &Arc<dyn Store>, webhook: &Webhook, head: u64) {
    let mut step = point(store, webhook).await;
    step.handshake = Some(HandshakeStep::Accepted { number: webhook.handshake.number, head });
    written(store, step).await;
}

pub(crate) async fn found(store: &Arc<dyn Store>, id: Guid) -> Webhook {
    store.find_webhook(id).await.unwrap().expect("the webhook is there")
}

pub(crate) async fn load_webhook(store: &Arc<dyn Store>, id: Guid) -> LoadedWebhook {
    store.load_webhook(id).await.unwrap().expect("the webhook is not over")
}

pub(crate) fn retry(attempts: u32, since: Ticks) -> RetryState {
    RetryState { attempts, first_failed_at: since, next_at: since + Duration::from_secs(5) }
}

pub(crate) fn lane(record_key: i64, sequence: u64, since: Ticks) -> Lane {
    Lane { record_key, sequence, retry: retry(3, since) }
}

/// Parks lanes and asks for a replay.
pub(crate) async fn in_trouble(stage: &Stage, webhook: &Webhook) {
    let mut parked = point(&stage.store, webhook).await;
    parked.parked = vec![lane(-7, 2, stage.now()), lane(5, 3, stage.now())];
    written(&stage.store, parked).await;
    let asked = stage.store.request_replay(webhook.id, store::ReplayKind::Events, 1, 4).await.unwrap();
    assert!(asked.is_some());
}

pub(crate) fn failed(sequence: u64, number: u32, at: Ticks) -> AttemptRecord {
    AttemptRecord {
        at,
        purpose: AttemptPurpose::Event { sequence },
        number,
        status: Some(503),
        succeeded: false,
        reason: "the receiver answered 503".into(),
        excerpt: "<h1>Ocupado ñ</h1>".into(),
        timing: AttemptTiming {
            resolve: Duration::from_nanos(1),
            connect: Duration::from_micros(2),
            tls: Duration::from_millis(3),
            wait: Duration::from_millis(4),
            total: Duration::from_secs(5),
        },
    }
}

pub(crate) fn delivered(sequence: u64, at: Ticks, duration_ms: u32) -> SuccessfulDelivery {
    SuccessfulDelivery { sequence, at, status: 204, duration_ms }
}
