//! What is kept. `Store` is the port that everyone else uses, named by intent: one method is one
//! transaction. SQLite, PostgreSQL and memory stand behind it and pass one conformance suite.

mod applications;
pub mod archive;
mod audit;
mod bell;
mod changes;
mod directory;
mod error;
mod grants;
mod keys;
pub mod memory;
mod moves;
mod nodes;
mod payroll;
mod plan;
pub mod postgres;
mod records;
mod sessions;
pub mod sqlite;
mod subscriptions;
mod upkeep;
mod vault;
mod waiting;
mod webhooks;

use std::sync::Arc;

use domain::{Clock, Random};

pub use applications::{Applications, Client, ClientSecret, Consent, Pkce};
pub use archive::{Archive, ArchiveError, Summary, Value};
pub use audit::{Audit, AuditEntry, AuditKind, AuditMark, AuditQuery, AuditRecord, Trace};

pub use bell::{Bell, Resources, Rung};
pub use changes::{
    ChangeBatch, ChangeLog, Checkpoint, ERRORS_LISTED_MAX, Line, LineFault, LogBounds, LogPage, LogQuery,
    Progress, Tally,
};
pub use directory::{Directory, Membership, Seat, Standing, Tenant, User};
pub use domain::log::LogEntry;
pub use error::{Result, StoreError};
pub use grants::{
    Access, Code, CodeTaken, Grant, Grants, Judge, NewGrant, RefreshRotated, RefreshToken, Rotation, Taking,
};
pub use keys::{SigningKey, SigningKeys};
pub use moves::Moves;
pub use nodes::Nodes;
pub use records::{Bodies, CollectionMark, Page, PageQuery, PayrollQuery, Record, Records};
pub use sessions::{Session, Sessions};
pub use subscriptions::{Calls, KeptKey, KeySlot, KeyUse, Subscription, Subscriptions};
pub use upkeep::{Cutoffs, Expired, Health, Upkeep};
pub use vault::{MasterKey, Vault};
pub use webhooks::{
    Attempt, Delivered, Deliveries, Delivery, DeliveryQuery, Disabled, Event, Handshake, HandshakeStep,
    HeldShard, History, Hook, Lane, Lost, Moved, NewWebhook, Occasion, OldSecret, Outlook, Point, Replay,
    ReplayKind, ReplayStep, SHARDS, Spent, Subscribed, Suspended, Tail, Verdict, Webhook, WebhookChange,
    WebhookChanged, WebhookOwner, WebhookQuery, Webhooks, shard_of,
};

/// Everything that is kept, behind one door.
pub trait Store:
    ChangeLog
    + Records
    + Directory
    + Applications
    + Subscriptions
    + Grants
    + Sessions
    + Audit
    + SigningKeys
    + Nodes
    + Upkeep
    + Webhooks
    + Deliveries
    + History
{
}

impl<T> Store for T where
    T: ChangeLog
        + Records
        + Directory
        + Applications
        + Subscriptions
        + Grants
        + Sessions
        + Audit
        + SigningKeys
        + Nodes
        + Upkeep
        + Webhooks
        + Deliveries
        + History
{
}

/// What every store is given from outside.
#[derive(Clone)]
pub struct Ports {
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    pub vault: Arc<Vault>,
}

impl std::fmt::Debug for Ports {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ports")
    }
}
