//! Compares the node's clock with the store's: at the start, before anything is served, and every few seconds.

use std::sync::Arc;
use std::time::Duration;

use store::Store;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::wiring::{ClockDifference, NodeClock};

const FIRST_ATTEMPTS: usize = 3;
const EVERY: Duration = Duration::from_secs(2);
/// The answer to a slower request says too little.
const REQUEST_MAX: Duration = Duration::from_secs(1);

/// Compares the clocks once. `None`: the store has no clock of its own, or did not answer in time.
pub(crate) async fn compare(store: &dyn Store, clock: &NodeClock) -> Option<ClockDifference> {
    let asked_at = Instant::now();
    let shown = store.clock().await.ok()??;
    let took = asked_at.elapsed();
    if took > REQUEST_MAX {
        return None;
    }
    let before = clock.difference().is_some_and(|difference| difference.is_corrected);
    let difference = clock.compare(shown, took);
    let seconds = difference.seconds;
    match (before, difference.is_corrected) {
        (false, true) => tracing::warn!(
            difference_seconds = seconds,
            "this machine's clock differs from the database's; this node uses the database's time; set the clock (NTP)"
        ),
        (true, false) => {
            tracing::info!(
                difference_seconds = seconds,
                "this machine's clock agrees with the database's again"
            );
        }
        _ => {}
    }
    Some(difference)
}

/// Compares the clocks before anything is served; tries a few times where the store is slow.
pub(crate) async fn compare_first(store: &dyn Store, clock: &NodeClock) {
    for _ in 0..FIRST_ATTEMPTS {
        if !store.is_shared() || compare(store, clock).await.is_some() {
            break;
        }
    }
    clock.begin_use();
}

/// Returns only at shutdown.
pub(crate) async fn run(store: Arc<dyn Store>, clock: Arc<NodeClock>, mut stopped: watch::Receiver<bool>) {
    let comparing = async {
        loop {
            tokio::time::sleep(EVERY).await;
            compare(&*store, &clock).await;
        }
    };
    tokio::select! {
        _ = stopped.wait_for(|stop| *stop) => {}
        () = comparing => {}
    }
}
