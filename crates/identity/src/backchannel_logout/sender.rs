//! Delivers the queued logouts. Every node takes part; the store leases each logout to one of them. A logout stays in the queue
//! until the client has answered or its time is over, so that a crash and a client that is down lose nothing.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use store::{Client, LeasedLogout, LogoutEnd, Status, StoreError};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use super::decision::{Answer, Next, decide};
use crate::Identity;
use crate::params::query;

/// How often the queue is looked at.
const POLL: Duration = Duration::from_millis(500);
/// The pause after the store did not answer.
const STORE_PAUSE: Duration = Duration::from_secs(5);
/// For one attempt, all in all.
const TIMEOUT: Duration = Duration::from_secs(10);
/// A lease outlives the attempt by this much, which is for storing the result.
const LEASE_MARGIN: Duration = Duration::from_secs(60);
/// A client that does not answer keeps no other one waiting while there are fewer attempts at the same time.
const IN_FLIGHT_MAX: usize = 64;
/// How long attempts may go on after shutdown has begun.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(3);

/// Sends a form to a client. It dials public addresses alone.
#[async_trait]
pub trait LogoutTransport: Send + Sync + 'static {
    /// POSTs a body of the type `application/x-www-form-urlencoded`. The status of the response, or why there was none.
    async fn post_form(&self, uri: &str, body: String, timeout: Duration) -> Result<u16, String>;
}

/// The task that delivers logouts.
#[derive(Clone)]
pub struct LogoutSender {
    identity: Arc<Identity>,
    transport: Arc<dyn LogoutTransport>,
}

impl std::fmt::Debug for LogoutSender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LogoutSender")
    }
}

impl LogoutSender {
    pub fn new(identity: Arc<Identity>, transport: Arc<dyn LogoutTransport>) -> Self {
        Self { identity, transport }
    }

    /// Delivers logouts as they become due. Returns only at shutdown; the caller spawns and supervises it.
    pub async fn run(self, mut stopped: watch::Receiver<bool>) {
        let mut attempts = JoinSet::new();
        let mut poll = tokio::time::interval(POLL);
        poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = stopped.wait_for(|stop| *stop) => break,
                _ = poll.tick() => {}
                Some(ended) = attempts.join_next() => {
                    propagate(ended);
                    continue;
                }
            }
            if let Err(error) = self.start_due(&mut attempts).await {
                tracing::warn!(%error, "the queue of back-channel logouts cannot be read; trying again");
                poll.reset_after(STORE_PAUSE);
            }
        }
        let finish = async {
            while let Some(ended) = attempts.join_next().await {
                propagate(ended);
            }
        };
        // What is cut off here is due again when its lease ends.
        let _ = tokio::time::timeout(SHUTDOWN_GRACE, finish).await;
    }

    /// Starts an attempt for each logout that is due, as far as there is room.
    async fn start_due(&self, attempts: &mut JoinSet<()>) -> Result<(), StoreError> {
        let room = IN_FLIGHT_MAX.saturating_sub(attempts.len());
        if room == 0 {
            return Ok(());
        }
        let (store, now) = (&self.identity.store, self.identity.clock.now());
        for leased in store.due_logouts(now, TIMEOUT + LEASE_MARGIN, room).await? {
            let sender = self.clone();
            attempts.spawn(async move { sender.deliver(leased).await });
        }
        Ok(())
    }

    /// One attempt, and its result in the store.
    async fn deliver(&self, leased: LeasedLogout) {
        let began = self.identity.clock.now();
        let next = match self.next(&leased, began).await {
            Ok(next) => next,
            Err(error) => {
                tracing::warn!(%error, logout = %leased.logout.id, "a back-channel logout waits for the store");
                return;
            }
        };
        let stored = match &next {
            Next::End(end) => {
                self.identity.store.logout_ended(&leased.logout, end, self.identity.clock.now()).await
            }
            Next::Retry { at, error } => self.identity.store.logout_failed(&leased, error, *at).await,
        };
        let (logout, client) = (leased.logout.id, &leased.logout.client);
        match &next {
            Next::End(LogoutEnd::Delivered) => {
                tracing::info!(%logout, %client, "delivered a back-channel logout");
            }
            Next::End(LogoutEnd::Failed(reason)) => {
                tracing::warn!(%logout, %client, reason, "a back-channel logout has failed for good");
            }
            Next::Retry { at, error } => {
                let retry_at = at.iso();
                tracing::info!(%logout, %client, reason = error, retry_at, "a back-channel logout has failed");
            }
        }
        if let Err(error) = stored {
            // It is due again when its lease ends.
            tracing::warn!(%error, %logout, "cannot store the result of a back-channel logout");
        }
    }

    async fn next(&self, leased: &LeasedLogout, began: domain::Ticks) -> Result<Next, StoreError> {
        let LeasedLogout { logout, attempts, .. } = leased;
        let failed = |why: &str| Ok(Next::End(LogoutEnd::Failed(why.to_owned())));
        if began >= logout.expires_at {
            return failed("given up: it was not delivered within a day");
        }
        let client = self.identity.store.find_client(&logout.client).await?;
        let client = client.filter(|client| client.status == Status::Active);
        let Some(uri) = client.as_ref().and_then(address) else {
            return failed("the application is disabled, or has no back-channel logout address any more");
        };
        let answer = self.attempt(leased, uri).await;
        Ok(decide(answer, *attempts, began, logout.expires_at))
    }

    async fn attempt(&self, leased: &LeasedLogout, uri: &str) -> Answer {
        let token = self.identity.logout_token(&leased.logout).map_err(|error| error.to_string())?;
        self.transport.post_form(uri, query([("logout_token", token.as_str())]), TIMEOUT).await
    }
}

fn address(client: &Client) -> Option<&str> {
    client.backchannel_logout_uri.as_deref()
}

/// A panic of an attempt is one of the task, which its supervisor sees.
fn propagate(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended
        && let Ok(panic) = error.try_into_panic()
    {
        std::panic::resume_unwind(panic);
    }
}
