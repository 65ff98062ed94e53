//! Node registration in memory.

use std::time::Duration;

use async_trait::async_trait;
use domain::{Guid, Ticks};

use super::MemoryStore;
use crate::{NodeDetails, Nodes, RegisteredNode, Result};

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
        state.nodes.retain(|_, (seen_at, _)| *seen_at >= now.minus(silence_max));
        state.nodes.entry(*node.as_bytes()).or_default().0 = now;
        Ok(u32::try_from(state.nodes.len()).unwrap_or(u32::MAX))
    }

    async fn count_live_nodes(&self, silence_max: Duration) -> Result<u32> {
        let earliest = self.ports.clock.now().minus(silence_max);
        let here = self.state().nodes.values().filter(|(seen_at, _)| *seen_at >= earliest).count();
        Ok(u32::try_from(here).unwrap_or(u32::MAX))
    }

    async fn describe_node(&self, node: Guid, details: &NodeDetails) -> Result<()> {
        let now = self.ports.clock.now();
        self.state_mut()?.nodes.insert(*node.as_bytes(), (now, details.clone()));
        Ok(())
    }

    async fn live_nodes(&self, silence_max: Duration) -> Result<Vec<RegisteredNode>> {
        let now = self.ports.clock.now();
        let state = self.state();
        let here = state.nodes.iter().filter(|(_, (seen_at, _))| *seen_at >= now.minus(silence_max));
        let mut nodes: Vec<RegisteredNode> = here
            .map(|(id, (seen_at, details))| {
                let id = Guid::from_bytes(*id);
                let shards = state.webhooks.shards_of(id, now);
                RegisteredNode { id, seen_at: *seen_at, shards, details: details.clone() }
            })
            .collect();
        nodes.sort_by_key(|node| (node.details.started_at, *node.id.as_bytes()));
        Ok(nodes)
    }

    async fn deregister_node(&self, node: Guid) -> Result<()> {
        self.state_mut()?.nodes.remove(node.as_bytes());
        Ok(())
    }
}
