//! The background tasks that tell the core what changed in the store: a commit listener, and a poll for signals that
//! were lost.

use std::sync::Arc;
use std::time::Duration;

use store::StoreError;
use tokio::sync::Notify;
use tokio::time::sleep;

use super::Input;
use super::driver::{InputSender, log_store_error};
use super::ports::EngineStore;

const POLL_EVERY: Duration = Duration::from_secs(1);

/// Reads changed webhooks, disabled owners and log heads every second.
pub(super) async fn poll<S: EngineStore + ?Sized>(store: Arc<S>, inputs: InputSender) {
    let mut changes_after = None;
    loop {
        poll_once(&*store, &inputs, &mut changes_after).await;
        sleep(POLL_EVERY).await;
    }
}

/// Passes commit signals on at once; [`Engine::start`](super::Engine::start) has begun to collect them. Signals that
/// come while the core is busy are joined into one.
pub(super) async fn listen<S: EngineStore + ?Sized>(
    store: Arc<S>,
    inputs: InputSender,
    renew_soon: Arc<Notify>,
) {
    let commit_signal = store.invalidation().commit_signal();
    let mut changes_after = None;
    loop {
        let changes = commit_signal.wait().await;
        let (access, all) = (changes.access, changes.all);
        if changes.shards || all {
            renew_soon.notify_one();
        }
        let applied = inputs.send_confirmed(Input::Committed(changes));
        if access {
            report(read_disabled_owners(&*store, &inputs).await);
        }
        if all {
            poll_once(&*store, &inputs, &mut changes_after).await;
        }
        applied.await;
    }
}

/// `changes_after`: the last change that was read. `None` at first: a shard's load reads every webhook as it is, so that
/// only later changes count.
async fn poll_once<S: EngineStore + ?Sized>(
    store: &S,
    inputs: &InputSender,
    changes_after: &mut Option<u64>,
) {
    report(read_changed_webhooks(store, inputs, changes_after).await);
    report(read_disabled_owners(store, inputs).await);
    report(read_heads(store, inputs).await);
}

async fn read_changed_webhooks<S: EngineStore + ?Sized>(
    store: &S,
    inputs: &InputSender,
    changes_after: &mut Option<u64>,
) -> Result<(), StoreError> {
    let changed = store.changed_webhooks(changes_after.unwrap_or(u64::MAX >> 1)).await?;
    for webhook in changed.webhooks {
        inputs.send(Input::WebhookChanged(webhook));
    }
    *changes_after = Some(changed.last_change);
    Ok(())
}

async fn read_disabled_owners<S: EngineStore + ?Sized>(
    store: &S,
    inputs: &InputSender,
) -> Result<(), StoreError> {
    // Before the read, so that no later change is missed.
    let access_version = store.invalidation().access_version();
    let disabled = store.disabled_owners().await?;
    inputs.send(Input::DisabledOwnersRead { disabled, access_version });
    Ok(())
}

async fn read_heads<S: EngineStore + ?Sized>(store: &S, inputs: &InputSender) -> Result<(), StoreError> {
    inputs.send(Input::HeadsRead(store.log_heads().await?));
    Ok(())
}

fn report(result: Result<(), StoreError>) {
    if let Err(error) = result {
        log_store_error(&error);
    }
}
