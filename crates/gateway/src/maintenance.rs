//! The gateway's background task: registers this node, divides the rate limit among the live nodes, and writes the
//! counted calls to the store.

use std::sync::Arc;
use std::time::Duration;

use domain::Guid;
use tokio::sync::watch;

use crate::Gateway;

const INTERVAL: Duration = Duration::from_secs(3);
/// A node that has not registered for this long has no share of the limit any more.
const NODE_TIMEOUT: Duration = Duration::from_secs(10);

impl Gateway {
    /// Returns only once the shutdown begins.
    pub async fn run_maintenance(self: Arc<Self>, node: Guid, mut shutdown: watch::Receiver<bool>) {
        loop {
            if self.store.is_shared() {
                match self.store.register_node(node, NODE_TIMEOUT).await {
                    Ok(nodes) => self.limiter.share_among(nodes),
                    Err(error) => {
                        tracing::warn!(%error, "this node could not be registered; trying again in 3 s");
                    }
                }
            }
            if tokio::time::timeout(INTERVAL, shutdown.wait_for(|begun| *begun)).await.is_ok() {
                break;
            }
            self.flush_usage().await;
        }
    }

    /// Writes the last counts and removes this node's registration. Call it when no request is in flight any more.
    pub async fn close(&self, node: Guid) {
        self.flush_usage().await;
        if self.store.is_shared()
            && let Err(error) = self.store.deregister_node(node).await
        {
            tracing::warn!(%error, "this node could not be deregistered; other nodes drop it after 10 s");
        }
    }

    async fn flush_usage(&self) {
        if let Err(error) = self.keys.flush_usage(self.clock.now(), self.settings.quota_per_day).await {
            tracing::warn!(%error, "the counted calls could not be written to the store");
        }
    }
}
