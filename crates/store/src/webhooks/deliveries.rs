//! What the delivery engine reads and writes: which webhooks are this node's, the log behind their cursors, and
//! checkpoints. Nothing is kept of a delivery that succeeds but the cursor's move and a packed line of history.

use std::time::Duration;

use async_trait::async_trait;
use domain::retry::RetryState;
use domain::{ClientId, Guid, Resource, TenantId, Ticks, WebhookId};

use super::{AttemptRecord, Replay, ReplayStep, SuccessfulDelivery, Webhook};
use crate::{AuditEntry, LogBounds, LogEntry, Result};

/// Nodes share the webhooks out by this many shards, not one by one.
pub const SHARDS: u16 = 256;

/// Which shard a webhook belongs to.
pub fn shard_of(webhook: WebhookId) -> u8 {
    // Ids are random: any byte of theirs is.
    webhook.as_bytes()[15]
}

/// A shard that this node may work on, with the number that its writes carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardLease {
    pub shard: u8,
    /// Moves whenever the shard changes hands: what an earlier holder still writes is refused.
    pub fence: i64,
}

/// A webhook with all that the engine has to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedWebhook {
    pub webhook: Webhook,
    pub lanes: Vec<Lane>,
    /// Those that are not done.
    pub replays: Vec<Replay>,
    /// From which the ids of its deliveries are derived.
    pub id_key: [u8; 32],
}

/// A record whose next event could not be delivered yet; later ones of it wait behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    /// Stands for (company, record), as in the log.
    pub record_key: i64,
    /// The event that is next.
    pub sequence: u64,
    pub retry: RetryState,
}

/// Events that a webhook was entitled to and that the log no longer has: after `after`, up to and with `through`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventGap {
    pub at: Ticks,
    pub after: u64,
    pub through: u64,
}

/// A row of the log, with what stands for its record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEvent {
    pub entry: LogEntry,
    pub record_key: i64,
}

/// A piece of a tenant's log, one resource's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogTail {
    pub events: Vec<LogEvent>,
    /// How far this has looked: there is no other event of the resource up to here.
    pub read_to: u64,
    /// Entries up to this number are gone.
    pub floor: u64,
}

impl LogTail {
    /// What was found of at most `rows_max` rows; where there were fewer, the log was read to its end.
    pub(crate) fn of(events: Vec<LogEvent>, rows_max: usize, bounds: LogBounds) -> Self {
        let last = events.last().filter(|_| events.len() >= rows_max);
        let read_to = last.map_or(bounds.head, |event| event.entry.sequence);
        Self { events, read_to, floor: bounds.floor }
    }
}

/// Webhooks that their owners (or the operator) have changed, or want replayed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedWebhooks {
    /// To be asked from the next time.
    pub last_change: u64,
    pub webhooks: Vec<WebhookId>,
}

/// Whose webhooks rest for now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DisabledOwners {
    pub tenants: Vec<TenantId>,
    pub clients: Vec<ClientId>,
}

/// What the engine writes of one webhook, all of it or nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookCheckpoint {
    pub webhook: WebhookId,
    /// The fence under which its shard is held.
    pub fence: i64,
    /// The webhook's revision that this follows from.
    pub revision: u64,
    pub cursor: Option<u64>,
    /// Lanes that are new or have changed.
    pub parked: Vec<Lane>,
    /// Records whose lane is empty.
    pub cleared: Vec<i64>,
    pub handshake: Option<HandshakeStep>,
    /// The service gives up: why.
    pub disabled: Option<String>,
    pub event_gap: Option<EventGap>,
    pub attempts: Vec<AttemptRecord>,
    pub delivered: Vec<SuccessfulDelivery>,
    pub replays: Vec<ReplayStep>,
    pub audit: Vec<AuditEntry>,
}

impl WebhookCheckpoint {
    pub fn new(webhook: WebhookId, fence: i64, revision: u64) -> Self {
        Self {
            webhook,
            fence,
            revision,
            cursor: None,
            parked: Vec::new(),
            cleared: Vec::new(),
            handshake: None,
            disabled: None,
            event_gap: None,
            attempts: Vec::new(),
            delivered: Vec::new(),
            replays: Vec::new(),
            audit: Vec::new(),
        }
    }
}

/// How the handshake of this number goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandshakeStep {
    /// Accepted. `head`: where the log stood before the accepted request was sent; the first cursor.
    Accepted {
        number: u32,
        head: u64,
    },
    Failed {
        number: u32,
        retry: RetryState,
    },
}

/// What became of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckpointResult {
    Written,
    /// The webhook has changed meanwhile: only its history was written.
    Stale,
    /// The shard is not this node's any more: nothing was written.
    Fenced,
}

#[async_trait]
pub trait Deliveries: Send + Sync + 'static {
    /// Takes and renews this node's part of the shards among `nodes` nodes, for `lease` from now by the store's
    /// clock, and gives back what is above it. Tells all that it holds.
    async fn renew_shard_leases(&self, node: Guid, nodes: u32, lease: Duration) -> Result<Vec<ShardLease>>;

    /// This node goes: others may take its shards at once.
    async fn release_shards(&self, node: Guid) -> Result<()>;

    /// The webhooks of a shard that are not over, behind `after` in the order of their ids.
    async fn load_webhooks(
        &self,
        shard: u8,
        after: Option<WebhookId>,
        rows_max: usize,
    ) -> Result<Vec<LoadedWebhook>>;

    /// None: unknown, or over.
    async fn load_webhook(&self, webhook: WebhookId) -> Result<Option<LoadedWebhook>>;

    /// Which webhooks were made, changed or asked for a replay since `since`.
    async fn changed_webhooks(&self, since: u64) -> Result<ChangedWebhooks>;

    /// Tenants and clients that are disabled.
    async fn disabled_owners(&self) -> Result<DisabledOwners>;

    /// Where the logs of all tenants with live webhooks stand.
    async fn log_heads(&self) -> Result<Vec<(TenantId, u64)>>;

    /// Events of one resource after a number, in order; one look for all its webhooks.
    async fn read_tail(
        &self,
        tenant: &TenantId,
        resource: Resource,
        after: u64,
        rows_max: usize,
    ) -> Result<LogTail>;

    /// Events of one record after a number and up to another, in order.
    async fn read_record_tail(
        &self,
        tenant: &TenantId,
        resource: Resource,
        record_key: i64,
        after: u64,
        through: u64,
        rows_max: usize,
    ) -> Result<Vec<LogEvent>>;

    /// Writes how far deliveries have come; one transaction, a verdict for each point in its order.
    async fn checkpoint(&self, points: Vec<WebhookCheckpoint>) -> Result<Vec<CheckpointResult>>;
}
