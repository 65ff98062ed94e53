//! Registration of the nodes that share one store.

use std::time::Duration;

use async_trait::async_trait;
use domain::{Guid, Ticks};

use crate::Result;

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

    /// Removes this node's registration.
    async fn deregister_node(&self, node: Guid) -> Result<()>;
}
