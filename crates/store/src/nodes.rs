//! Registration of the nodes that share one store.

use std::time::Duration;

use async_trait::async_trait;
use domain::{Guid, Ticks};

use crate::Result;

/// What a node says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeDetails {
    pub version: String,
    /// The name of its machine.
    pub host: String,
    pub started_at: Ticks,
    /// Webhooks that it delivers to; those of sandboxes do not count in what follows.
    pub webhooks: u64,
    /// Events that they have to deliver, at most.
    pub events_behind: u64,
    /// When the oldest of these events happened.
    pub oldest_undelivered_at: Option<Ticks>,
    pub failing: u64,
    /// Disabled by the service.
    pub disabled: u64,
    pub suspended: u64,
    /// When the certificate of its public listener ends, where it has one.
    pub certificate_ends_at: Option<Ticks>,
    pub operator_certificate_ends_at: Option<Ticks>,
}

/// A node that is alive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisteredNode {
    pub id: Guid,
    pub seen_at: Ticks,
    /// How many shards of the webhooks it holds.
    pub shards: u16,
    pub details: NodeDetails,
}

/// A count from a column.
pub(crate) fn count_of(stored: i64) -> u64 {
    u64::try_from(stored).unwrap_or(0)
}

/// A count for a column.
pub(crate) fn stored_count(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[async_trait]
pub trait Nodes: Send + Sync + 'static {
    /// Whether nodes on several machines can share this store.
    fn is_shared(&self) -> bool;

    /// The time by the store's own clock; `None` where the store uses this node's.
    async fn clock(&self) -> Result<Option<Ticks>>;

    /// Registers this node's heartbeat; returns how many nodes were seen within `silence_max`, including this
    /// one. Times come from the store's clock, so nodes with different clocks agree.
    async fn register_node(&self, node: Guid, silence_max: Duration) -> Result<u32>;

    /// How many nodes were seen within `silence_max`, without registering.
    async fn count_live_nodes(&self, silence_max: Duration) -> Result<u32>;

    /// Registers this node's heartbeat with what it says about itself.
    async fn describe_node(&self, node: Guid, details: &NodeDetails) -> Result<()>;

    /// The nodes that were seen within `silence_max`, in the order in which they started.
    async fn live_nodes(&self, silence_max: Duration) -> Result<Vec<RegisteredNode>>;

    /// Removes this node's registration.
    async fn deregister_node(&self, node: Guid) -> Result<()>;
}
