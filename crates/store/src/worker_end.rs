//! Tells the owner of a store that one of its background workers has ended, by a panic too.

use std::sync::Arc;

use tokio::sync::Notify;

/// The receiving end. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkerEnd(Arc<Notify>);

impl WorkerEnd {
    /// The worker holds the guard while it runs.
    pub(crate) fn guard(&self) -> WorkerGuard {
        WorkerGuard(self.0.clone())
    }

    /// Waits until a worker has ended. One caller at a time.
    pub(crate) async fn ended(&self) {
        self.0.notified().await;
    }
}

#[derive(Debug)]
pub(crate) struct WorkerGuard(Arc<Notify>);

impl Drop for WorkerGuard {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_end_of_a_worker_is_seen_also_after_a_panic() {
        let end = WorkerEnd::default();
        let guard = end.guard();
        let worker = std::thread::spawn(move || {
            let _guard = guard;
            panic!("a test asked for this panic");
        });
        end.ended().await;
        assert!(worker.join().is_err());
    }
}
