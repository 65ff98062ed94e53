//! Node registration in memory.

use std::time::Duration;

use async_trait::async_trait;
use domain::{Guid, Ticks};

use super::MemoryStore;
use crate::{Nodes, Result};

#[async_trait]
impl Nodes for MemoryStore {
    fn is_shared(&self) -> bool {
        false
    }

    async fn clock(&self) -> Result<Option<Ticks>> {
        Ok(None)
    }

    async fn register_node(&self, node: Guid, silence_max: Duration) -> Result<u32> {
        let now = self.ports.clock.now();
        let mut state = self.state_mut()?;
        state.nodes.retain(|_, seen_at| *seen_at >= now.minus(silence_max));
        state.nodes.insert(*node.as_bytes(), now);
        Ok(u32::try_from(state.nodes.len()).unwrap_or(u32::MAX))
    }

    async fn count_live_nodes(&self, silence_max: Duration) -> Result<u32> {
        let earliest = self.ports.clock.now().minus(silence_max);
        let here = self.state().nodes.values().filter(|seen_at| **seen_at >= earliest).count();
        Ok(u32::try_from(here).unwrap_or(u32::MAX))
    }

    async fn deregister_node(&self, node: Guid) -> Result<()> {
        self.state_mut()?.nodes.remove(node.as_bytes());
        Ok(())
    }
}
