//! What the gateway does beside its calls: says that this node is there, shares the limit with those that are, and
//! tells the store what was counted.

use std::sync::Arc;
use std::time::Duration;

use domain::Guid;
use tokio::sync::watch;

use crate::Gateway;

const EVERY: Duration = Duration::from_secs(3);
/// A node that was silent for this long has no share of the limit any more.
const SILENCE_MAX: Duration = Duration::from_secs(10);

impl Gateway {
    /// Runs until the end is called.
    pub async fn tend(self: Arc<Self>, node: Guid, mut stopped: watch::Receiver<bool>) {
        loop {
            if self.shares() {
                match self.store.register_node(node, SILENCE_MAX).await {
                    Ok(nodes) => self.limiter.share_among(nodes),
                    Err(error) => tracing::warn!(%error, "other nodes may not know that this one is there"),
                }
            }
            if tokio::time::timeout(EVERY, stopped.wait_for(|stop| *stop)).await.is_ok() {
                break;
            }
            self.tell().await;
        }
    }

    /// Keeps what was counted last, once no call is under way any more, and gives this node's share back.
    pub async fn close(&self, node: Guid) {
        self.tell().await;
        if self.shares()
            && let Err(error) = self.store.deregister_node(node).await
        {
            tracing::warn!(%error, "other nodes will notice by themselves that this one is gone");
        }
    }

    fn shares(&self) -> bool {
        self.limiter.is_on() && self.store.is_shared()
    }

    async fn tell(&self) {
        if let Err(error) = self.keys.tell(self.clock.now(), self.settings.quota_per_day).await {
            tracing::warn!(%error, "what was counted will be kept with the next round");
        }
    }
}
