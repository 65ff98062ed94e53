//! The background tasks that tell the core what changed in the store: a commit listener, and a poll for signals that were
//! lost. A complete poll also tells the core how recent its knowledge is.

use std::sync::Arc;
use std::time::Duration;

use store::StoreError;
use tokio::sync::{Mutex, Notify, watch};
use tokio::time::{Instant, sleep, timeout};

use super::Input;
use super::driver::{InputSender, log_store_error};
use super::ports::EngineStore;

/// From the beginning of a poll to that of the next one. What it reads is too old for the core after two seconds.
const POLL_EVERY: Duration = Duration::from_secs(1);
/// The least pause between two polls, and the pause after one that failed.
const PAUSE_MIN: Duration = Duration::from_millis(500);
/// A read that takes longer is repeated, on another connection.
const READ_TIMEOUT: Duration = Duration::from_secs(2);

pub(super) struct Poll<S: ?Sized> {
    store: Arc<S>,
    inputs: InputSender,
    started: Instant,
    /// The last change of a webhook that was read. `None` at first: a shard's load reads every webhook as it is, so that only
    /// later changes count. Held while changes and disabled owners are read: an earlier read must not arrive after a later one.
    changes_after: Mutex<Option<u64>>,
    /// Whether `changes_after` is known.
    begun: watch::Sender<bool>,
}

impl<S: EngineStore + ?Sized> Poll<S> {
    pub(super) fn new(store: Arc<S>, inputs: InputSender, started: Instant) -> Self {
        Self { store, inputs, started, changes_after: Mutex::default(), begun: watch::channel(false).0 }
    }

    /// Turns true when every later change of a webhook will be found. Nothing may be loaded before.
    pub(super) fn begun(&self) -> watch::Receiver<bool> {
        self.begun.subscribe()
    }

    /// Reads changed webhooks, disabled owners and log heads every second.
    pub(super) async fn run(self: Arc<Self>) {
        loop {
            let begun = Instant::now();
            self.poll_once().await;
            sleep(POLL_EVERY.saturating_sub(begun.elapsed()).max(PAUSE_MIN)).await;
        }
    }

    /// Passes commit signals on at once; [`Engine::start`](super::Engine::start) has begun to collect them. Signals that
    /// come while the core is busy are joined into one.
    pub(super) async fn listen(self: Arc<Self>, renew_soon: Arc<Notify>) {
        let commit_signal = self.store.invalidation().commit_signal();
        loop {
            let changes = commit_signal.wait().await;
            let (access, all) = (changes.access, changes.all);
            if changes.shards || all {
                renew_soon.notify_one();
            }
            let applied = self.inputs.send_confirmed(Input::Committed(changes));
            if all {
                self.poll_once().await;
            } else if access {
                let _one_at_a_time = self.changes_after.lock().await;
                report(self.read_disabled_owners().await);
            }
            applied.await;
        }
    }

    async fn poll_once(&self) {
        let changes = self.read_changes().await;
        if changes.is_ok() {
            report(self.read_heads().await);
        }
        report(changes);
    }

    async fn read_changes(&self) -> Result<(), StoreError> {
        let mut changes_after = self.changes_after.lock().await;
        // Before the reads, so that they know every change that was committed before.
        let until = self.started.elapsed();
        let since = changes_after.unwrap_or(u64::MAX >> 1);
        let changed = in_time(self.store.changed_webhooks(since)).await?;
        for webhook in changed.webhooks {
            self.inputs.send(Input::WebhookChanged(webhook));
        }
        *changes_after = Some(changed.last_change);
        self.begun.send_replace(true);
        self.read_disabled_owners().await?;
        self.inputs.send(Input::ChangesRead { until });
        Ok(())
    }

    async fn read_disabled_owners(&self) -> Result<(), StoreError> {
        // Before the read, so that no later change is missed.
        let access_version = self.store.invalidation().access_version();
        let disabled = in_time(self.store.disabled_owners()).await?;
        self.inputs.send(Input::DisabledOwnersRead { disabled, access_version });
        Ok(())
    }

    async fn read_heads(&self) -> Result<(), StoreError> {
        self.inputs.send(Input::HeadsRead(in_time(self.store.log_heads()).await?));
        Ok(())
    }
}

async fn in_time<T>(read: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    let unavailable = || StoreError::Unavailable("no answer to a poll of the delivery engine".into());
    timeout(READ_TIMEOUT, read).await.unwrap_or_else(|_| Err(unavailable()))
}

fn report(result: Result<(), StoreError>) {
    if let Err(error) = result {
        log_store_error(&error);
    }
}
