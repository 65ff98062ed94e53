//! This node's shard leases: renews them while the engine runs and gives them back at its end.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use domain::Guid;
use store::{ShardLease, StoreError};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::Input;
use super::driver::{InputSender, log_store_error};
use super::ports::EngineStore;

const RENEW_EVERY: Duration = Duration::from_millis(1500);
/// A lease outlives an attempt's timeout by this much.
const LEASE_BEYOND_TIMEOUT: Duration = Duration::from_secs(5);
/// A node that has not registered for this long gets no share of the shards.
const NODE_SILENCE_MAX: Duration = Duration::from_secs(10);

pub(super) struct ShardLeases<S: ?Sized> {
    store: Arc<S>,
    node: Guid,
    lease: Duration,
    started: Instant,
    is_released: watch::Sender<bool>,
    /// Closed when the renewal has ended.
    renewals: watch::Receiver<()>,
}

/// [`ShardLeases`] without the type of its store.
#[async_trait]
pub(super) trait ReleaseShards: Send + Sync {
    async fn release(&self);
}

impl<S: EngineStore + ?Sized> ShardLeases<S> {
    /// The second value goes to [`ShardLeases::renew`], whose end it marks.
    pub(super) fn new(
        store: Arc<S>,
        node: Guid,
        timeout: Duration,
        started: Instant,
    ) -> (Self, watch::Sender<()>) {
        let (guard, renewals) = watch::channel(());
        let (is_released, _) = watch::channel(false);
        (Self { store, node, lease: timeout + LEASE_BEYOND_TIMEOUT, started, is_released, renewals }, guard)
    }

    /// Renews the leases of this node's share of the shards until shutdown or release.
    pub(super) async fn renew(
        self: Arc<Self>,
        inputs: InputSender,
        _guard: watch::Sender<()>,
        mut stopped: watch::Receiver<bool>,
    ) {
        let mut released = self.is_released.subscribe();
        tokio::select! {
            biased;
            _ = stopped.wait_for(|stop| *stop) => {}
            _ = released.wait_for(|is_released| *is_released) => {}
            () = self.renew_forever(&inputs) => {}
        }
    }

    async fn renew_forever(&self, inputs: &InputSender) {
        loop {
            // Counted from before the renewal, so that the core never relies on a lease that the store has ended.
            let from = self.started.elapsed();
            match self.renew_once().await {
                Ok(shards) => inputs.send(Input::ShardsLeased { shards, until: from + self.lease }),
                Err(error) => log_store_error(&error),
            }
            sleep(RENEW_EVERY).await;
        }
    }

    async fn renew_once(&self) -> Result<Vec<ShardLease>, StoreError> {
        let nodes = if self.store.is_shared() {
            self.store.register_node(self.node, NODE_SILENCE_MAX).await?
        } else {
            1
        };
        self.store.renew_shard_leases(self.node, nodes, self.lease).await
    }
}

#[async_trait]
impl<S: EngineStore + ?Sized> ReleaseShards for ShardLeases<S> {
    /// Ends the renewal first: one that is under way could lease the shards again after their release.
    async fn release(&self) {
        self.is_released.send_replace(true);
        let _ = self.renewals.clone().changed().await;
        if let Err(error) = self.store.release_shards(self.node).await {
            tracing::warn!(%error, "could not release the shard leases; other nodes take over when they expire");
        }
    }
}
