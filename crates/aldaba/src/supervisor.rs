//! Owns every background task of the service. A task runs until shutdown; one that panics or ends earlier is a failure
//! that makes the service not ready and ends the process.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

/// The first task that failed, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskFailure {
    pub task: &'static str,
    pub cause: FailureCause,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailureCause {
    Panicked(String),
    EndedEarly,
}

impl fmt::Display for TaskFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            FailureCause::Panicked(message) => {
                write!(f, "the background task `{}` panicked: {message}", self.task)
            }
            FailureCause::EndedEarly => write!(f, "the background task `{}` ended unexpectedly", self.task),
        }
    }
}

/// Spawns tasks and watches them. Clones share the tasks.
#[derive(Clone, Debug)]
pub struct Supervisor {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    tasks: Mutex<BTreeMap<&'static str, Supervised>>,
    /// The first failure.
    failure: watch::Sender<Option<TaskFailure>>,
    shutdown: watch::Receiver<bool>,
}

#[derive(Debug)]
struct Supervised {
    monitor: JoinHandle<()>,
    /// Tests make the task panic through this.
    panic: Arc<Notify>,
}

impl Supervisor {
    /// `shutdown` turns true when the service stops: from then on tasks may end.
    pub fn new(shutdown: watch::Receiver<bool>) -> Self {
        let tasks = Mutex::new(BTreeMap::new());
        Self { shared: Arc::new(Shared { tasks, failure: watch::Sender::new(None), shutdown }) }
    }

    /// Runs a task until shutdown. Names are unique.
    pub fn spawn(&self, name: &'static str, task: impl Future<Output = ()> + Send + 'static) {
        let panic = Arc::new(Notify::new());
        let injected = panic.clone();
        let handle = tokio::spawn(async move {
            tokio::select! {
                () = task => {}
                () = injected.notified() => inject_panic(),
            }
        });
        let shared = Arc::downgrade(&self.shared);
        let monitor = tokio::spawn(async move {
            let ended = handle.await;
            let Some(shared) = shared.upgrade() else { return };
            let cause = match ended {
                Err(error) if error.is_panic() => FailureCause::Panicked(panic_message(&*error.into_panic())),
                Ok(()) if !*shared.shutdown.borrow() => FailureCause::EndedEarly,
                Ok(()) | Err(_) => return,
            };
            shared.report(TaskFailure { task: name, cause });
        });
        let replaced = self.shared.tasks.lock().insert(name, Supervised { monitor, panic });
        debug_assert!(replaced.is_none(), "two background tasks are named {name}");
    }

    /// The names of the running tasks, in order.
    pub fn names(&self) -> Vec<&'static str> {
        self.shared.tasks.lock().keys().copied().collect()
    }

    /// The first failure, where there is one.
    pub fn failure(&self) -> Option<TaskFailure> {
        self.shared.failure.borrow().clone()
    }

    /// Waits for the first failure.
    pub async fn failed(&self) -> TaskFailure {
        let mut failure = self.shared.failure.subscribe();
        loop {
            if let Some(failure) = failure.borrow_and_update().clone() {
                return failure;
            }
            // The sender lives as long as `self`.
            if failure.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Waits until all tasks have ended, for at most `time_max`. Returns whether they have. Call it after shutdown.
    pub async fn join(&self, time_max: Duration) -> bool {
        let tasks = std::mem::take(&mut *self.shared.tasks.lock());
        let deadline = tokio::time::Instant::now() + time_max;
        let mut all_ended = true;
        for (name, task) in tasks {
            if tokio::time::timeout_at(deadline, task.monitor).await.is_err() {
                tracing::warn!(task = name, "a background task did not end in time");
                all_ended = false;
            }
        }
        all_ended
    }

    /// Makes a task panic. For tests.
    pub fn panic_task(&self, name: &str) {
        if let Some(task) = self.shared.tasks.lock().get(name) {
            task.panic.notify_one();
        }
    }
}

impl web::Tasks for Supervisor {
    fn spawn(&self, name: &'static str, task: web::BoxFuture<'static, ()>) {
        Self::spawn(self, name, task);
    }
}

impl Shared {
    fn report(&self, failure: TaskFailure) {
        tracing::error!(task = failure.task, "{failure}");
        self.failure.send_if_modified(|first| {
            let is_first = first.is_none();
            first.get_or_insert(failure);
            is_first
        });
    }
}

#[allow(clippy::panic, reason = "tests ask for it")]
fn inject_panic() {
    panic!("a test asked for this panic");
}

fn panic_message(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn supervisor() -> (watch::Sender<bool>, Supervisor) {
        let (stop, shutdown) = watch::channel(false);
        (stop, Supervisor::new(shutdown))
    }

    #[tokio::test]
    async fn a_panic_is_reported_with_the_tasks_name_and_message() {
        let (_stop, supervisor) = supervisor();
        supervisor.spawn("steady", std::future::pending());
        supervisor.spawn("broken", async { panic!("boom") });
        let failure = supervisor.failed().await;
        assert_eq!(failure, TaskFailure { task: "broken", cause: FailureCause::Panicked("boom".into()) });
        assert_eq!(supervisor.failure(), Some(failure));
    }

    #[tokio::test]
    async fn a_task_that_ends_before_shutdown_is_a_failure() {
        let (_stop, supervisor) = supervisor();
        supervisor.spawn("short", async {});
        let failure = supervisor.failed().await;
        assert_eq!(failure, TaskFailure { task: "short", cause: FailureCause::EndedEarly });
        assert_eq!(failure.to_string(), "the background task `short` ended unexpectedly");
    }

    #[tokio::test]
    async fn tasks_may_end_after_shutdown() {
        let (stop, supervisor) = supervisor();
        let mut shutdown = stop.subscribe();
        supervisor.spawn("orderly", async move {
            let _ = shutdown.wait_for(|stop| *stop).await;
        });
        stop.send_replace(true);
        supervisor.join(Duration::from_secs(10)).await;
        assert_eq!(supervisor.failure(), None);
    }

    #[tokio::test]
    async fn the_first_failure_is_the_one_reported() {
        let (_stop, supervisor) = supervisor();
        supervisor.spawn("first", std::future::pending());
        supervisor.spawn("second", std::future::pending());
        supervisor.panic_task("first");
        assert_eq!(supervisor.failed().await.task, "first");
        supervisor.panic_task("second");
        supervisor.join(Duration::from_secs(10)).await;
        assert_eq!(supervisor.failed().await.task, "first");
    }
}
