//! The port through which crates start their long-running tasks, so that one supervisor sees every one of them end.

use std::pin::Pin;

pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Starts tasks that run until shutdown. A supervisor behind it treats a panic, or an end before shutdown, as fatal: it
/// fails readiness and stops the process. Short-lived work (one request, one delivery attempt) does not belong here.
pub trait Tasks: Send + Sync {
    /// `name` identifies the task in logs and in the reason for a failed readiness check.
    fn spawn(&self, name: &'static str, task: BoxFuture<'static, ()>);
}

/// Spawns tasks that nobody supervises. For tests and benchmarks.
#[derive(Clone, Copy, Debug, Default)]
pub struct DetachedTasks;

impl Tasks for DetachedTasks {
    fn spawn(&self, _name: &'static str, task: BoxFuture<'static, ()>) {
        tokio::spawn(task);
    }
}
