//! This node's shard leases: renews them while the engine runs, gives shards to other nodes that ask for them, and gives all
//! of them back at its end.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use domain::Guid;
use parking_lot::Mutex;
use store::{LeaseRenewal, RenewedLeases, StoreError};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, timeout};

use super::driver::{InputSender, log_store_error};
use super::ports::EngineStore;
use super::{Input, Settings};

const RENEW_EVERY: Duration = Duration::from_millis(500);
/// The pause before a renewal that does not wait for its interval. Several reasons for one join.
const RENEW_SOON: Duration = Duration::from_millis(10);
/// A renewal that has no answer for this long is repeated on another connection.
const RENEWAL_TIMEOUT: Duration = Duration::from_secs(2);
/// A lease outlives an attempt's timeout by this much. Attempts start only while it outlives it by a second, so that a
/// renewal may fail or take a second before deliveries pause; and when a node dies, its webhooks are silent for the lease.
const LEASE_BEYOND_TIMEOUT: Duration = Duration::from_millis(2500);

impl Settings {
    /// How long a shard lease lasts without a renewal.
    pub fn lease(&self) -> Duration {
        self.timeout + LEASE_BEYOND_TIMEOUT
    }
}

pub(super) struct ShardLeases<S: ?Sized> {
    store: Arc<S>,
    node: Guid,
    lease: Duration,
    ask_after: Duration,
    started: Instant,
    /// Shards that the core has given up for nodes that asked; the next renewal gives them.
    gives: Mutex<BTreeSet<u8>>,
    /// Ends the pause before the next renewal.
    renew_soon: Arc<Notify>,
    is_released: watch::Sender<bool>,
    /// Closed when the renewal has ended.
    renewals: watch::Receiver<()>,
}

/// [`ShardLeases`] without the type of its store.
#[async_trait]
pub(super) trait ReleaseShards: Send + Sync {
    async fn release(&self);
}

impl<S: EngineStore + ?Sized> ShardLeases<S> {
    /// The second value goes to [`ShardLeases::renew`], whose end it marks.
    pub(super) fn new(
        store: Arc<S>,
        node: Guid,
        settings: &Settings,
        started: Instant,
    ) -> (Self, watch::Sender<()>) {
        let (guard, renewals) = watch::channel(());
        let (is_released, _) = watch::channel(false);
        let leases = Self {
            store,
            node,
            lease: settings.lease(),
            ask_after: settings.ask_after,
            started,
            gives: Mutex::default(),
            renew_soon: Arc::default(),
            is_released,
            renewals,
        };
        (leases, guard)
    }

    /// A renewal follows soon after a notification.
    pub(super) fn renew_soon(&self) -> Arc<Notify> {
        self.renew_soon.clone()
    }

    /// Gives the shards with the next renewal, which follows soon. The core has nothing in flight in them.
    pub(super) fn give(&self, shards: impl IntoIterator<Item = u8>) {
        self.gives.lock().extend(shards);
        self.renew_soon.notify_one();
    }

    /// Renews the leases, once `may_begin`, until shutdown or release. A renewal that is under way then ends first: it could lease the shards
    /// again after their release.
    pub(super) async fn renew(
        self: Arc<Self>,
        inputs: InputSender,
        mut may_begin: watch::Receiver<bool>,
        _guard: watch::Sender<()>,
        mut stopped: watch::Receiver<bool>,
    ) {
        let mut released = self.is_released.subscribe();
        let mut held = 0;
        tokio::select! {
            biased;
            _ = stopped.wait_for(|stop| *stop) => {}
            _ = released.wait_for(|is_released| *is_released) => {}
            _ = may_begin.wait_for(|begun| *begun) => {}
        }
        while !*stopped.borrow() && !*released.borrow() {
            let next = self.renew_and_report(&inputs, &mut held).await;
            let pause = async {
                tokio::select! {
                    () = sleep(next) => {}
                    () = self.renew_soon.notified() => sleep(RENEW_SOON).await,
                }
            };
            tokio::select! {
                biased;
                _ = stopped.wait_for(|stop| *stop) => {}
                _ = released.wait_for(|is_released| *is_released) => {}
                () = pause => {}
            }
        }
    }

    /// Returns when to renew next: in time to take over from a node that has stopped to renew.
    async fn renew_and_report(&self, inputs: &InputSender, held: &mut usize) -> Duration {
        // Counted from before the renewal, so that the core never relies on a lease that the store has ended.
        let from = self.started.elapsed();
        let gives: Vec<u8> = self.gives.lock().iter().copied().collect();
        match self.renew_once(gives.clone()).await {
            Ok(renewed) => {
                self.gives.lock().retain(|shard| !gives.contains(shard));
                log_changes(&renewed, *held);
                *held = renewed.held.len();
                let next = renewed.next_expiry.map(|expiry| expiry + RENEW_SOON);
                inputs.send(Input::ShardsLeased {
                    shards: renewed.held,
                    until: from + self.lease,
                    asked: renewed.asked,
                    given: gives,
                });
                next.map_or(RENEW_EVERY, |next| next.min(RENEW_EVERY))
            }
            Err(error) => {
                log_store_error(&error);
                RENEW_EVERY
            }
        }
    }

    async fn renew_once(&self, gives: Vec<u8>) -> Result<RenewedLeases, StoreError> {
        let is_established = self.started.elapsed() >= self.ask_after;
        let waits = !gives.is_empty();
        let renewal = LeaseRenewal { node: self.node, lease: self.lease, gives, is_established };
        let renewing = self.store.renew_shard_leases(&renewal);
        if waits {
            // It must not take effect later: the core may use the shards again after the next renewal.
            return renewing.await;
        }
        let unavailable = || StoreError::Unavailable("no answer to the renewal of the shard leases".into());
        timeout(RENEWAL_TIMEOUT, renewing).await.unwrap_or_else(|_| Err(unavailable()))
    }
}

fn log_changes(renewed: &RenewedLeases, held_before: usize) {
    let (held, given) = (renewed.held.len(), renewed.given);
    if renewed.taken_over > 0 {
        tracing::warn!(
            shards = renewed.taken_over,
            held,
            "took over shards from a node that no longer renews them"
        );
    }
    let taken = (held + given).saturating_sub(held_before + renewed.taken_over);
    if taken > 0 {
        tracing::info!(shards = taken, held, "took free shards");
    }
    if given > 0 {
        tracing::info!(shards = given, held, "gave shards to a node that asked for its share");
    }
    let lost = held_before.saturating_sub(held + given);
    if lost > 0 {
        tracing::warn!(shards = lost, held, "lost shards: their leases ended and other nodes took them");
    }
}

#[async_trait]
impl<S: EngineStore + ?Sized> ReleaseShards for ShardLeases<S> {
    /// Ends the renewal first: one that is under way could lease the shards again after their release.
    async fn release(&self) {
        self.is_released.send_replace(true);
        let _ = self.renewals.clone().changed().await;
        match self.store.release_shards(self.node).await {
            Ok(()) => tracing::info!("released all shards for other nodes"),
            Err(error) => {
                tracing::warn!(%error, "could not release the shard leases; other nodes take over when they expire");
            }
        }
    }
}
