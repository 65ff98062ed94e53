//! The programs that work on one store: each says that it is there, and learns how many there are.

use std::time::Duration;

use async_trait::async_trait;
use domain::Guid;

use crate::Result;

#[async_trait]
pub trait Nodes: Send + Sync + 'static {
    /// Whether programs on several machines can work on this store.
    fn is_shared(&self) -> bool;

    /// Says that this node is there; tells how many have said so within `silence_max`, this one included. Times
    /// are the store's own, so that nodes whose clocks differ agree.
    async fn register_node(&self, node: Guid, silence_max: Duration) -> Result<u32>;

    /// How many have said so within `silence_max`; asking leaves no trace.
    async fn count_live_nodes(&self, silence_max: Duration) -> Result<u32>;

    /// This node goes.
    async fn deregister_node(&self, node: Guid) -> Result<()>;
}
