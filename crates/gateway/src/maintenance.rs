//! The gateway's background tasks: one registers this node, divides the rate limit among the live nodes, and writes the
//! counted calls and who read what to the store; the other writes the recorded calls.

use std::sync::Arc;
use std::time::Duration;

use domain::Guid;
use tokio::sync::watch;

use crate::Gateway;

const INTERVAL: Duration = Duration::from_secs(3);
/// How long calls are collected before they are written: short, so that a developer who watches sees a call at once.
const COLLECTION: Duration = Duration::from_millis(20);
/// How long to wait after a write, so that busy subscriptions cost five writes a second.
const PAUSE: Duration = Duration::from_millis(180);
/// How long to wait after the store failed.
const RETRY_AFTER: Duration = Duration::from_secs(1);
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
            self.flush_reads().await;
        }
    }

    /// Writes the recorded calls soon after they were made. Returns only once the shutdown begins.
    pub async fn run_recorder(self: Arc<Self>, mut shutdown: watch::Receiver<bool>) {
        let mut is_writing = true;
        let mut pause = Duration::ZERO;
        loop {
            let collected = async {
                tokio::time::sleep(pause).await;
                self.recorder.wake.notified().await;
                tokio::time::sleep(COLLECTION).await;
            };
            tokio::select! {
                biased;
                _ = shutdown.wait_for(|begun| *begun) => break,
                () = collected => {}
            }
            let written = self.recorder.flush(&*self.store, false).await;
            if let Err(error) = &written
                && is_writing
            {
                tracing::warn!(%error, "recorded calls could not be written to the store; trying again every second");
            }
            is_writing = written.is_ok();
            pause = if is_writing { PAUSE } else { RETRY_AFTER };
        }
    }

    /// Writes the last counts and calls, and removes this node's registration. Call it when no request is in flight any more.
    pub async fn close(&self, node: Guid) {
        self.flush_usage().await;
        self.flush_reads().await;
        while self.recorder.flush(&*self.store, true).await == Ok(true) {}
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

    async fn flush_reads(&self) {
        if let Err(error) = self.reads.flush(&*self.store).await {
            tracing::warn!(%error, "who read what could not be written to the store; it is added next time");
        }
    }
}
