//! Adds what this node has counted to the ring of figures in the store, about every second. A crash loses the last second.

use std::sync::Arc;
use std::time::Duration;

use domain::Clock;
use gateway::Gateway;
use identity::Identity;
use store::{Store, flush_figures};
use tokio::sync::watch;
use webhooks::engine::Engine;

const INTERVAL: Duration = Duration::from_secs(1);

/// Everything that counts.
#[derive(Clone)]
pub(crate) struct FigureSources {
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) identity: Arc<Identity>,
    pub(crate) engine: Engine,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl FigureSources {
    /// Returns only once the shutdown begins.
    pub(crate) async fn run(self, mut stopped: watch::Receiver<bool>) {
        while tokio::time::timeout(INTERVAL, stopped.wait_for(|stop| *stop)).await.is_err() {
            self.flush().await;
        }
    }

    pub(crate) async fn flush(&self) {
        let buffers = [self.gateway.figures(), self.identity.figures(), self.engine.counts().figures()];
        if let Err(error) = flush_figures(&*self.store, &buffers, self.clock.now()).await {
            tracing::warn!(%error, "figures could not be written to the store; they are added next time");
        }
    }
}
