//! Tells the store what this node is and how far its webhooks are behind, and gathers what the operator's overview shows, so that
//! pages only read it.

use std::sync::Arc;
use std::time::Duration;

use operator::admin::ServiceAdmin;
use operator::ports::ThisNode;
use store::Store;
use tokio::sync::watch;

const INTERVAL: Duration = Duration::from_secs(5);

/// Returns only once the shutdown begins.
pub(crate) async fn run(
    store: Arc<dyn Store>,
    node: Arc<dyn ThisNode>,
    service: ServiceAdmin,
    mut stopped: watch::Receiver<bool>,
) {
    loop {
        // Who reads a file knows its only node without the file.
        if store.is_shared()
            && let Err(error) = store.describe_node(node.id(), &node.details()).await
        {
            tracing::warn!(%error, "this node could not be described to the others; trying again in 5 s");
        }
        if let Err(error) = service.refresh().await {
            tracing::warn!(%error, "the overview could not be gathered; trying again in 5 s");
        }
        if tokio::time::timeout(INTERVAL, stopped.wait_for(|stop| *stop)).await.is_ok() {
            return;
        }
    }
}
