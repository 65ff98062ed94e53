//! Webhooks for tests: subscriptions, owners, handshakes, checkpoints, lanes and attempts.

use std::sync::Arc;
use std::time::Duration;

use domain::event::EventKind;
use domain::retry::RetryState;
use domain::{AccountId, ClientId, Guid, Resource, Secret, Ticks};
use store::{
    AttemptPurpose, AttemptRecord, AttemptTiming, CheckpointResult, HandshakeStep, Lane, LeaseRenewal,
    LoadedWebhook, NewWebhook, Store, SubscribeOutcome, SuccessfulDelivery, Webhook, WebhookCheckpoint,
    WebhookOwner, shard_of,
};

use super::fixture::{Fixture, by};
use super::test_tenant::TestTenant;

pub(crate) const MAX: usize = 100;
pub(crate) const LEASE: Duration = Duration::from_secs(30);

pub(crate) fn guid(byte: u8) -> Guid {
    Guid::from_bytes([byte; 16])
}

/// The id of this node.
pub(crate) fn node() -> Guid {
    guid(9)
}

pub(crate) fn owner(tenant: &TestTenant) -> WebhookOwner {
    WebhookOwner { tenant: tenant.id.clone(), client: ClientId::new("erp") }
}

/// A subscription with a new id and with characters that a store could damage.
pub(crate) fn new_webhook(fixture: &Fixture, tenant: &TestTenant, name: &str) -> NewWebhook {
    new_webhook_of(fixture, owner(tenant), name)
}

pub(crate) fn new_webhook_of(fixture: &Fixture, owner: WebhookOwner, name: &str) -> NewWebhook {
    use domain::Random as _;
    NewWebhook {
        id: fixture.random.guid(),
        owner,
        user: AccountId::new("maria"),
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

pub(crate) async fn create_webhook(store: &Arc<dyn Store>, body: NewWebhook) -> Webhook {
    match store.subscribe(body, MAX, &by()).await.unwrap() {
        SubscribeOutcome::Created(webhook) => webhook,
        other => panic!("the webhook was not created: {other:?}"),
    }
}

/// The fence with which this node may write for a webhook.
pub(crate) async fn fence(store: &Arc<dyn Store>, webhook: Guid) -> i64 {
    let leases = store.renew_shard_leases(&LeaseRenewal::new(node(), LEASE)).await.unwrap().held;
    leases.iter().find(|lease| lease.shard == shard_of(webhook)).expect("this node holds every shard").fence
}

/// A checkpoint that does not write anything yet.
pub(crate) async fn new_checkpoint(store: &Arc<dyn Store>, webhook: &Webhook) -> WebhookCheckpoint {
    WebhookCheckpoint::new(webhook.id, fence(store, webhook.id).await, webhook.revision)
}

pub(crate) async fn write_checkpoint(store: &Arc<dyn Store>, checkpoint: WebhookCheckpoint) {
    assert_eq!(store.checkpoint(vec![checkpoint]).await, Ok(vec![CheckpointResult::Written]));
}

/// A webhook whose handshake is accepted at the current head of the log.
pub(crate) async fn active_webhook(fixture: &Fixture, tenant: &TestTenant, name: &str) -> Webhook {
    let webhook = create_webhook(&fixture.store, new_webhook(fixture, tenant, name)).await;
    accept_handshake(&fixture.store, &webhook, tenant.head().await).await;
    find_webhook(&fixture.store, webhook.id).await
}

pub(crate) async fn accept_handshake(store: &Arc<dyn Store>, webhook: &Webhook, head: u64) {
    let mut step = new_checkpoint(store, webhook).await;
    step.handshake = Some(HandshakeStep::Accepted { number: webhook.handshake.number, head });
    write_checkpoint(store, step).await;
}

pub(crate) async fn find_webhook(store: &Arc<dyn Store>, id: Guid) -> Webhook {
    store.find_webhook(id).await.unwrap().expect("the webhook exists")
}

pub(crate) async fn load_webhook(store: &Arc<dyn Store>, id: Guid) -> LoadedWebhook {
    store.load_webhook(id).await.unwrap().expect("the webhook has not ended")
}

pub(crate) fn retry(attempts: u32, since: Ticks) -> RetryState {
    RetryState { attempts, first_failed_at: since, next_at: since + Duration::from_secs(5) }
}

pub(crate) fn lane(record_key: i64, sequence: u64, since: Ticks) -> Lane {
    Lane { record_key, sequence, retry: retry(3, since) }
}

/// Parks two lanes and requests a replay.
pub(crate) async fn add_lanes_and_replay(fixture: &Fixture, webhook: &Webhook) {
    let mut parked = new_checkpoint(&fixture.store, webhook).await;
    parked.parked = vec![lane(-7, 2, fixture.now()), lane(5, 3, fixture.now())];
    write_checkpoint(&fixture.store, parked).await;
    let replay =
        fixture.store.request_replay(webhook.id, store::ReplayKind::Events, (1, 4), &by()).await.unwrap();
    assert!(replay.is_some());
}

pub(crate) fn failed_attempt(sequence: u64, number: u32, at: Ticks) -> AttemptRecord {
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

pub(crate) fn successful_delivery(sequence: u64, at: Ticks, duration_ms: u32) -> SuccessfulDelivery {
    SuccessfulDelivery { sequence, at, status: 204, duration_ms }
}
