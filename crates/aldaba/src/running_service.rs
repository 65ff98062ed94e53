//! The service at work: it serves until a signal or the failure of a task, then stops in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use domain::Guid;
use web::{ShutdownTrigger, Stopwatch};

use crate::exit::Failure;
use crate::figures::FigureSources;
use crate::signals::ShutdownSignals;
use crate::supervisor::{Supervisor, TaskFailure};

/// The service at work.
pub(crate) struct RunningService {
    pub(super) supervisor: Supervisor,
    pub(super) shutdown: ShutdownTrigger,
    pub(super) draining: Arc<AtomicBool>,
    /// With the gateway, the engine and the store, which end last.
    pub(super) figures: FigureSources,
    pub(super) node: Guid,
    pub(super) stopping: Stopping,
}

/// How long an orderly stop may take.
pub(super) struct Stopping {
    /// `/readyz` fails for this long before the listeners close.
    pub(super) drain_delay: Duration,
    pub(super) join_time_max: Duration,
}

impl RunningService {
    pub(crate) fn supervisor(&self) -> &Supervisor {
        &self.supervisor
    }

    /// Serves until a signal or the failure of a background task, then stops in order.
    pub(crate) async fn run(self, mut signals: ShutdownSignals) -> Result<(), Failure> {
        let failure = tokio::select! {
            () = signals.received() => None,
            failure = self.supervisor.failed() => Some(failure),
        };
        let watch = Stopwatch::start();
        if failure.is_none() {
            tracing::info!("shutting down: not ready any more; requests are served for server.drain_delay");
            self.announce_stop(signals).await;
            tracing::info!("shutting down: no new requests; requests in progress finish");
        } else {
            tracing::error!("shutting down because a background task failed");
        }
        let failure = self.stop().await;
        let seconds = watch.elapsed().as_secs_f64();
        if failure.is_none() {
            tracing::info!(seconds, "stopped in order");
        } else {
            tracing::error!(seconds, "stopped after the failure of a background task");
        }
        failure.map_or(Ok(()), |failure| Err(Failure::TaskFailed(failure)))
    }

    /// Fails `/readyz` for a while before the listeners close, so that load balancers and clients with open
    /// connections go elsewhere in time. A second signal ends the wait.
    async fn announce_stop(&self, mut signals: ShutdownSignals) {
        self.draining.store(true, Ordering::Relaxed);
        tokio::select! {
            () = tokio::time::sleep(self.stopping.drain_delay) => {}
            () = signals.received() => {}
            _ = self.supervisor.failed() => {}
        }
    }

    /// Stops in order: finishes requests, releases the webhooks' shards, writes what is in memory. Returns the task
    /// failure, where there was one.
    pub(crate) async fn stop(self) -> Option<TaskFailure> {
        self.draining.store(true, Ordering::Relaxed);
        self.shutdown.trigger();
        let all_ended = self.supervisor.join(self.stopping.join_time_max).await;
        if !all_ended || self.supervisor.failure().is_some() {
            // The engine may not have done this itself.
            self.figures.engine.release_shards().await;
        }
        self.figures.gateway.close(self.node).await;
        self.figures.flush().await;
        self.figures.store.close().await;
        self.supervisor.failure()
    }
}
