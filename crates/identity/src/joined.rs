//! Waits for a task that goes on to its end when the caller is cancelled.

use store::StoreError;
use tokio::task::{JoinError, JoinHandle};

/// The task's result; `None` when the runtime is shutting down. A panic of the task continues in the caller.
pub(crate) async fn joined<T>(task: JoinHandle<T>) -> Option<T> {
    match task.await.map_err(JoinError::try_into_panic) {
        Ok(result) => Some(result),
        Err(Ok(panic)) => std::panic::resume_unwind(panic),
        Err(Err(_)) => None,
    }
}

/// As [`joined`], for a task that queries the store.
pub(crate) async fn joined_query<T>(task: JoinHandle<store::Result<T>>) -> store::Result<T> {
    joined(task).await.unwrap_or_else(|| Err(StoreError::Internal("the runtime is shutting down".into())))
}
