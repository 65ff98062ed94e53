//! The delivery engine. Its core decides and does nothing else: what happens comes in (`Input`), what is to be done
//! goes out (`Command`), and the time is told to it; so the same core runs in the service and in the simulation.

mod carrier;
mod core;
mod counts;
mod deliver;
mod driver;
mod feed;
mod handshake;
mod holding;
mod judge;
mod lanes;
mod points;
mod replay;
mod state;
mod target;
mod work;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use domain::retry::Schedule;
use domain::{Resource, TenantId, Ticks, WebhookId};
use store::{
    AttemptTiming, ChangeSet, CheckpointResult, DisabledOwners, LoadedWebhook, LogEvent, LogTail, ShardLease,
    StoreError, WebhookCheckpoint,
};

pub use self::core::Core;
pub use carrier::Carrier;
pub use counts::Counts;
pub use driver::{Engine, EngineStore, Ports, Transport};
pub use target::{Knock, Letter, Target};

/// The time, twice: as clocks show it, which may jump, and as it passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    pub wall: Ticks,
    /// Since some moment of this process.
    pub steady: Duration,
}

#[derive(Clone, Debug)]
pub struct Settings {
    pub schedule: Schedule,
    /// Over a whole exchange with a receiver.
    pub timeout: Duration,
    pub in_flight_per_webhook_max: usize,
    pub in_flight_max: usize,
    /// How long progress may stay in memory.
    pub checkpoint_every: Duration,
}

impl Settings {
    pub fn new(schedule: Schedule, timeout: Duration) -> Self {
        Self {
            schedule,
            timeout,
            in_flight_per_webhook_max: 8,
            in_flight_max: 2048,
            checkpoint_every: Duration::from_millis(50),
        }
    }
}

/// What happens.
#[derive(Clone, Debug)]
pub enum Input {
    /// Nothing but that time has passed.
    Tick,
    /// The shards that this node holds, until then as time passes.
    Held {
        shards: Vec<ShardLease>,
        until: Duration,
    },
    /// Webhooks of a shard; `is_last`: there are no more.
    Shard {
        shard: u8,
        fence: i64,
        hooks: Vec<LoadedWebhook>,
        is_last: bool,
    },
    /// Somebody has changed this webhook: nothing is started for it until it is known anew.
    Touched(WebhookId),
    /// A webhook, known anew; none: it is over.
    LoadedWebhook {
        webhook: WebhookId,
        load: u64,
        hook: Option<Box<LoadedWebhook>>,
    },
    Rang(ChangeSet),
    Heads(Vec<(TenantId, u64)>),
    DisabledOwners(DisabledOwners),
    LogTail {
        feed: FeedKey,
        after: u64,
        serial: u64,
        read: Result<LogTail, ()>,
    },
    Record {
        webhook: WebhookId,
        epoch: u64,
        record_key: i64,
        upto: u64,
        read: Result<Vec<LogEvent>, ()>,
    },
    Head {
        webhook: WebhookId,
        number: u32,
        head: Result<u64, ()>,
    },
    Reply {
        flight: u64,
        reply: Reply,
    },
    Checkpointed(Result<Vec<CheckpointResult>, ()>),
}

/// What is to be done. Each is answered by an input sooner or later; a read that fails is answered too.
#[derive(Clone, Debug)]
pub enum Command {
    LoadShard {
        shard: u8,
        fence: i64,
        after: Option<WebhookId>,
    },
    /// `load` counts up: only the answer to the last one counts.
    LoadHook {
        webhook: WebhookId,
        load: u64,
    },
    ReadTail {
        feed: FeedKey,
        after: u64,
        serial: u64,
        rows_max: usize,
    },
    ReadRecord {
        webhook: WebhookId,
        epoch: u64,
        feed: FeedKey,
        record_key: i64,
        after: u64,
        upto: u64,
    },
    ReadHead {
        webhook: WebhookId,
        number: u32,
        tenant: TenantId,
    },
    Knock {
        flight: u64,
        knock: Knock,
    },
    Checkpoint(Vec<WebhookCheckpoint>),
}

/// What a tail belongs to: one resource of one tenant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FeedKey {
    pub tenant: TenantId,
    pub resource: Resource,
}

/// What came of an exchange with a receiver.
#[derive(Clone, Debug)]
pub struct Reply {
    pub result: Result<Answer, Silence>,
    pub spent: AttemptTiming,
}

/// An answer that came whole and in time.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub sets_cookie: bool,
    pub retry_after: Option<Duration>,
    pub body: Bytes,
}

/// No answer came.
#[derive(Clone, Debug)]
pub struct Silence {
    pub timed_out: bool,
    /// The fault is on this side: the receiver is not to blame.
    pub is_ours: bool,
    pub reason: String,
}

/// Events are shared between the webhooks that they go to.
pub(crate) type SharedEvent = Arc<LogEvent>;

/// What of a store's answer the core has to know: that there is none. The driver has told why.
pub(crate) fn told<T>(answer: Result<T, StoreError>) -> Result<T, ()> {
    answer.map_err(|error| tracing::warn!(%error, "the delivery engine could not reach the store"))
}
