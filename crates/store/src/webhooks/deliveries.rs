//! The delivery engine's port: shard leases, the webhooks of a shard, the log after their cursors, and
//! checkpoints. A successful delivery only advances the cursor and adds a packed history entry.

use async_trait::async_trait;
use domain::retry::RetryState;
use domain::subscription::Products;
use domain::{ClientId, Guid, Resource, Suspension, TenantId, Ticks, WebhookId};

use super::{AttemptRecord, LeaseRenewal, RenewedLeases, Replay, ReplayStep, SuccessfulDelivery, Webhook};
use crate::{AuditEntry, LogBounds, LogEntry, Result, SandboxClients};

/// Nodes share the webhooks by this many shards.
pub const SHARDS: u16 = 256;

/// The shard of a webhook.
pub fn shard_of(webhook: WebhookId) -> u8 {
    // Ids are random, so any byte will do.
    webhook.as_bytes()[15]
}

/// A shard that this node may deliver, with the fence for its writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShardLease {
    pub shard: u8,
    /// Increases whenever the shard changes hands: writes of a previous holder are refused.
    pub fence: i64,
}

/// A webhook with everything that the engine needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedWebhook {
    pub webhook: Webhook,
    pub lanes: Vec<Lane>,
    /// The open replays.
    pub replays: Vec<Replay>,
    /// The key from which its outgoing ids are derived.
    pub id_key: [u8; 32],
    /// Why no authorization entitles its owner to deliveries, apart from a disabled tenant or client.
    pub authorization_gap: Option<Suspension>,
}

/// A record whose next event could not be delivered yet; its later events wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    /// Identifies (company, record), as in the log.
    pub record_key: i64,
    /// The next event to deliver.
    pub sequence: u64,
    pub retry: RetryState,
}

/// Events that a webhook was entitled to but that the log no longer holds: after `after`, through `through`
/// (inclusive).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventGap {
    pub at: Ticks,
    pub after: u64,
    pub through: u64,
}

/// A log row with its record key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEvent {
    pub entry: LogEntry,
    pub record_key: i64,
}

/// A part of a tenant's log, for one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogTail {
    pub events: Vec<LogEvent>,
    /// The log was read up to here: there is no other event of the resource up to this sequence.
    pub read_to: u64,
    /// Entries up to and including this sequence were pruned.
    pub floor: u64,
}

impl LogTail {
    /// The tail of at most `rows_max` rows; if there are fewer, the log was read to its head.
    pub(crate) fn of(events: Vec<LogEvent>, rows_max: usize, bounds: LogBounds) -> Self {
        let last = events.last().filter(|_| events.len() >= rows_max);
        let read_to = last.map_or(bounds.head, |event| event.entry.sequence);
        Self { events, read_to, floor: bounds.floor }
    }
}

/// Webhooks that were changed or got a replay request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedWebhooks {
    /// The `since` of the next call.
    pub last_change: u64,
    pub webhooks: Vec<WebhookId>,
}

/// Owners whose webhooks are suspended, all of them or those of some areas.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DisabledOwners {
    pub tenants: Vec<TenantId>,
    pub clients: Vec<ClientId>,
    /// Clients that do not have every product, with those that they have.
    pub limited_clients: Vec<(ClientId, Products)>,
    /// Clients whose team has no active subscription to some product, with the products that it has.
    pub team_clients: Vec<(ClientId, Products)>,
    /// All sandbox tenants by id; for them, only the clients named there count, and not `team_clients`.
    pub sandboxes: Vec<SandboxClients>,
}

/// What the engine writes for one webhook, atomically.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookCheckpoint {
    pub webhook: WebhookId,
    /// The fence of the shard lease.
    pub fence: i64,
    /// The webhook revision that this is based on.
    pub revision: u64,
    pub cursor: Option<u64>,
    /// New or changed lanes.
    pub parked: Vec<Lane>,
    /// Records whose lane is empty.
    pub cleared: Vec<i64>,
    pub handshake: Option<HandshakeStep>,
    pub suspension: Option<SuspensionStep>,
    /// The reason, if the service disables the webhook.
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
            suspension: None,
            disabled: None,
            event_gap: None,
            attempts: Vec::new(),
            delivered: Vec::new(),
            replays: Vec::new(),
            audit: Vec::new(),
        }
    }
}

/// The result of a handshake attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandshakeStep {
    /// `head` is the log's head before the accepted request was sent: the webhook's first cursor.
    Accepted { number: u32, head: u64 },
    /// `answered`: the attempt was made because its owner had asked for one at this time, or has made that one superfluous.
    Failed { number: u32, retry: RetryState, answered: Option<Ticks> },
}

/// A webhook is suspended, or its owner's access stands again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuspensionStep {
    Suspended {
        at: Ticks,
    },
    /// Retry windows and schedules start anew.
    Resumed,
}

/// The result of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckpointResult {
    Written,
    /// The webhook has changed meanwhile: only its history was written.
    Stale,
    /// The shard belongs to another node: nothing was written.
    Fenced,
}

#[async_trait]
pub trait Deliveries: Send + Sync + 'static {
    /// Renews this node's leases by the store's clock, gives shards to nodes that asked for them, takes free ones, and asks
    /// for this node's share of those that others hold. Returns what it holds then.
    async fn renew_shard_leases(&self, renewal: &LeaseRenewal) -> Result<RenewedLeases>;

    /// Releases this node's shards for other nodes.
    async fn release_shards(&self, node: Guid) -> Result<()>;

    /// The live webhooks of a shard, after `after` in id order.
    async fn load_webhooks(
        &self,
        shard: u8,
        after: Option<WebhookId>,
        rows_max: usize,
    ) -> Result<Vec<LoadedWebhook>>;

    /// None if the webhook does not exist, or is unsubscribed or deleted.
    async fn load_webhook(&self, webhook: WebhookId) -> Result<Option<LoadedWebhook>>;

    /// Webhooks that were created, changed or got a replay request after change number `since`.
    async fn changed_webhooks(&self, since: u64) -> Result<ChangedWebhooks>;

    /// Disabled tenants and clients.
    async fn disabled_owners(&self) -> Result<DisabledOwners>;

    /// The log heads of all tenants with live webhooks.
    async fn log_heads(&self) -> Result<Vec<(TenantId, u64)>>;

    /// The events of one resource after a sequence, in order; one read serves all its webhooks.
    async fn read_tail(
        &self,
        tenant: &TenantId,
        resource: Resource,
        after: u64,
        rows_max: usize,
    ) -> Result<LogTail>;

    /// The events of one record after a sequence and through another, in order.
    async fn read_record_tail(
        &self,
        tenant: &TenantId,
        resource: Resource,
        record_key: i64,
        after: u64,
        through: u64,
        rows_max: usize,
    ) -> Result<Vec<LogEvent>>;

    /// Writes delivery progress in one transaction; returns one result per checkpoint, in order.
    async fn checkpoint(&self, checkpoints: Vec<WebhookCheckpoint>) -> Result<Vec<CheckpointResult>>;
}
