//! The delivery engine: reads the log, sends each event to the webhooks that subscribe to it, retries failures and
//! checkpoints progress. Its core only decides: facts come in as [`Input`], work goes out as [`Command`], and the caller
//! passes the time. So the same core runs in the service and in the deterministic simulation.

mod attempt;
mod attempts_in_flight;
mod backlog;
mod checkpoint;
mod classify;
mod core;
mod counts;
mod delivery;
mod deterministic;
mod driver;
mod failures;
mod feed;
mod handshake;
mod idle_groups;
mod lanes;
mod log_reader;
mod owner_interner;
mod owner_queues;
mod polling;
mod ports;
mod replay;
mod send_gate;
mod shard_assignment;
mod shard_leases;
mod suspension;
mod tail_cache;
mod webhook_state;

use std::sync::Arc;
use std::time::Duration;

use domain::retry::Schedule;
use domain::{Resource, TenantId, Ticks, WebhookId};
use store::{
    ChangeSet, CheckpointResult, DisabledOwners, LoadedWebhook, LogEvent, LogTail, ShardLease,
    WebhookCheckpoint,
};

pub use self::core::Core;
pub use attempt::{Attempt, Target};
pub use backlog::Backlog;
pub use counts::DeliveryCounts;
pub use driver::Engine;
pub(crate) use failures::{FAILURES_IN_A_ROW_MAX, LANES_MAX};
pub use ports::{EngineStore, Ports, Transport};
pub use send_gate::SendGate;

use crate::egress::Exchange;

/// The time by two clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The wall clock, which may jump.
    pub wall: Ticks,
    /// The monotonic clock, counted from an arbitrary moment of this process.
    pub steady: Duration,
}

#[derive(Clone, Debug)]
pub struct Settings {
    pub schedule: Schedule,
    /// For one whole exchange with a receiver.
    pub timeout: Duration,
    pub in_flight_per_webhook_max: usize,
    pub in_flight_max: usize,
    /// How long progress may stay in memory before it is checkpointed.
    pub checkpoint_every: Duration,
    /// A node asks others for its share of the shards only when it has run for this long.
    pub ask_after: Duration,
    /// How long the log keeps events: a webhook that is suspended for longer is disabled.
    pub retention: Duration,
    /// Whether sandboxes are open: nothing is sent from closed ones.
    pub is_sandbox_open: bool,
    /// Whether other nodes use the same store: then nothing starts on old knowledge. [`Engine::start`] asks the store.
    pub is_store_shared: bool,
}

const RETENTION: Duration = Duration::from_secs(30 * 24 * 60 * 60);

impl Settings {
    pub fn new(schedule: Schedule, timeout: Duration) -> Self {
        Self {
            schedule,
            timeout,
            in_flight_per_webhook_max: 8,
            in_flight_max: 2048,
            checkpoint_every: Duration::from_millis(50),
            ask_after: Duration::from_secs(30),
            retention: RETENTION,
            is_sandbox_open: true,
            is_store_shared: false,
        }
    }
}

/// A fact that the core is given.
#[derive(Clone, Debug)]
pub enum Input {
    /// Time has passed; nothing else happened.
    Tick,
    /// This node holds these shard leases until `until` on the monotonic clock.
    ShardsLeased {
        shards: Vec<ShardLease>,
        until: Duration,
        /// Held shards that another node asks for.
        asked: Vec<u8>,
        /// The shards of earlier [`Command::GiveShards`] that this renewal gave.
        given: Vec<u8>,
    },
    /// A page of a shard's webhooks; `is_last`: the shard has no more.
    ShardLoaded {
        shard: u8,
        fence: i64,
        webhooks: Vec<LoadedWebhook>,
        is_last: bool,
    },
    /// This webhook was changed: the core starts nothing for it until it has reloaded it.
    WebhookChanged(WebhookId),
    /// The webhook as the store has it now; `None`: it is deleted or unsubscribed.
    WebhookLoaded {
        webhook: WebhookId,
        reload: u64,
        loaded: Option<Box<LoadedWebhook>>,
    },
    /// What recent commits changed.
    Committed(ChangeSet),
    /// The last sequence number of each tenant's log.
    HeadsRead(Vec<(TenantId, u64)>),
    /// Disabled tenants and clients, and the version of access in this process before they were read.
    DisabledOwnersRead {
        disabled: DisabledOwners,
        access_version: u64,
    },
    /// Every change of a webhook or of access that was committed before `until`, on the monotonic clock, has arrived as an
    /// input: a poll that began then is complete.
    ChangesRead {
        until: Duration,
    },
    TailRead {
        key: TailKey,
        after: u64,
        serial: u64,
        read: Result<LogTail, ()>,
    },
    RecordRead {
        webhook: WebhookId,
        epoch: u64,
        record_key: i64,
        upto: u64,
        read: Result<Vec<LogEvent>, ()>,
    },
    HeadRead {
        webhook: WebhookId,
        number: u32,
        head: Result<u64, ()>,
    },
    AttemptFinished {
        attempt_id: u64,
        exchange: Exchange,
    },
    /// The attempt was not made, because the [`SendGate`] did not allow it any more: the core decides again.
    AttemptNotSent {
        attempt_id: u64,
    },
    CheckpointWritten(Result<Vec<CheckpointResult>, ()>),
}

/// Work that the core wants done. Each command is answered by exactly one input, also when it fails.
#[derive(Clone, Debug)]
pub enum Command {
    LoadShard {
        shard: u8,
        fence: i64,
        after: Option<WebhookId>,
    },
    /// `reload` increases with every command: only the answer to a webhook's last one counts.
    LoadWebhook {
        webhook: WebhookId,
        reload: u64,
    },
    ReadTail {
        key: TailKey,
        after: u64,
        serial: u64,
        rows_max: usize,
    },
    ReadRecord {
        webhook: WebhookId,
        epoch: u64,
        key: TailKey,
        record_key: i64,
        after: u64,
        upto: u64,
    },
    ReadHead {
        webhook: WebhookId,
        number: u32,
        tenant: TenantId,
    },
    Send {
        attempt_id: u64,
        attempt: Attempt,
    },
    Checkpoint(Vec<WebhookCheckpoint>),
    /// Nothing is in flight in these shards, which another node asked for: the next renewal gives them. The answer is the
    /// [`Input::ShardsLeased`] that names them as given.
    GiveShards(Vec<u8>),
}

impl Command {
    /// The input that reports this store command as failed. `None` for loads, which are repeated until they succeed, and
    /// for [`Command::Send`].
    pub fn failure(&self) -> Option<Input> {
        match self {
            Self::ReadTail { key, after, serial, .. } => {
                Some(Input::TailRead { key: key.clone(), after: *after, serial: *serial, read: Err(()) })
            }
            Self::ReadRecord { webhook, epoch, record_key, upto, .. } => Some(Input::RecordRead {
                webhook: *webhook,
                epoch: *epoch,
                record_key: *record_key,
                upto: *upto,
                read: Err(()),
            }),
            Self::ReadHead { webhook, number, .. } => {
                Some(Input::HeadRead { webhook: *webhook, number: *number, head: Err(()) })
            }
            Self::Checkpoint(_) => Some(Input::CheckpointWritten(Err(()))),
            Self::LoadShard { .. } | Self::LoadWebhook { .. } | Self::Send { .. } | Self::GiveShards(_) => {
                None
            }
        }
    }
}

/// One resource of one tenant: the part of the log that its webhooks read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TailKey {
    pub tenant: TenantId,
    pub resource: Resource,
}

/// One event is shared by all webhooks that receive it.
pub(crate) type SharedEvent = Arc<LogEvent>;
