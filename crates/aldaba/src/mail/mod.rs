//! Sends the queued mails over SMTP. Every node takes part; the store leases each mail to one of them. A mail stays in the
//! queue until the server has taken it or it expires, so that a failing server loses nothing and blocks nobody.

mod message;
mod metrics;
mod retry;
mod smtp;

use std::sync::Arc;
use std::time::Duration;

use domain::{Clock, Ticks};
use store::{LeasedMail, MailFailure, Store, StoreError};
use tokio::sync::watch;
use web::{Metrics, Stopwatch};

use crate::config::Config;
use message::Sender;
use metrics::MailMetrics;
use retry::{SendError, next_at};
use smtp::{Session, SmtpServer};

/// How often the queue is looked at.
const POLL: Duration = Duration::from_millis(500);
/// How often waiting mails are counted where nothing is sent.
const COUNT_INTERVAL: Duration = Duration::from_secs(15);
/// The pause after the server could not be reached, so that a long queue does not wait for it mail by mail.
const SERVER_PAUSE: Duration = Duration::from_secs(20);
/// A lease outlives the attempt by this much, which is for storing the result.
const LEASE_MARGIN: Duration = Duration::from_secs(60);
/// How long an attempt may go on after shutdown has begun.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(8);
const RESULT_RETRY: Duration = Duration::from_secs(1);

/// The task that sends mails.
pub(crate) struct Mailer {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    server: SmtpServer,
    sender: Sender,
    timeout: Duration,
    metrics: MailMetrics,
}

/// How a round ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Round {
    /// Nothing was due.
    Idle,
    /// All that was due has been tried.
    Worked,
    /// The server takes nothing now.
    ServerDown,
}

/// What is wrong with the settings of mail; connects to nothing.
pub(crate) fn settings_error(config: &Config) -> Option<String> {
    let server = config.mail.server.as_ref()?;
    SmtpServer::new(config, server).err()
}

impl Mailer {
    /// None if no mail server is configured.
    pub(crate) fn new(
        config: &Config,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        metrics: &Metrics,
    ) -> Result<Option<Self>, String> {
        let mail = &config.mail;
        let (Some(server), Some(from)) = (&mail.server, &mail.from) else { return Ok(None) };
        Ok(Some(Self {
            store,
            clock,
            server: SmtpServer::new(config, server)?,
            sender: Sender { from: from.clone(), reply_to: mail.reply_to.clone() },
            timeout: mail.timeout,
            metrics: MailMetrics::register(metrics),
        }))
    }

    /// Sends mails as they become due, until shutdown.
    pub(crate) async fn run(self, mut stopped: watch::Receiver<bool>) {
        let (mut resume_at, mut counted) = (Ticks(0), None::<Stopwatch>);
        while tokio::time::timeout(POLL, stopped.wait_for(|stop| *stop)).await.is_err() {
            let now = self.clock.now();
            if now < resume_at {
                continue;
            }
            let is_count_old = counted.as_ref().is_none_or(|count| count.elapsed() >= COUNT_INTERVAL);
            let result = match self.round(&stopped).await {
                Ok(round) if round != Round::Idle || is_count_old => {
                    counted = Some(Stopwatch::start());
                    self.count_waiting().await.map(|()| round)
                }
                result => result,
            };
            match result {
                Ok(Round::Idle | Round::Worked) => {}
                Ok(Round::ServerDown) => resume_at = now + SERVER_PAUSE,
                Err(error) => {
                    tracing::warn!(%error, "the queue of mails cannot be read; trying again");
                    resume_at = now + SERVER_PAUSE;
                }
            }
        }
    }

    async fn count_waiting(&self) -> Result<(), StoreError> {
        let waiting = self.store.waiting_mails(self.clock.now()).await?;
        self.metrics.set_waiting(waiting);
        Ok(())
    }

    /// Tries every mail that is due, over one connection.
    async fn round(&self, stopped: &watch::Receiver<bool>) -> Result<Round, StoreError> {
        let (mut session, mut round) = (None, Round::Idle);
        while round != Round::ServerDown && !*stopped.borrow() {
            let lease = self.timeout + LEASE_MARGIN;
            // One at a time: if this node fails, one mail waits for the end of a lease.
            let now = self.clock.now();
            let Some(leased) = self.store.due_mails(now, lease, 1).await?.pop() else { break };
            round = self.send(&mut session, &leased, now, stopped.clone()).await;
        }
        if let Some(session) = session {
            let _ = tokio::time::timeout(self.timeout, session.close()).await;
        }
        Ok(round)
    }

    /// One attempt, and its result in the store.
    async fn send(
        &self,
        session: &mut Option<Session>,
        leased: &LeasedMail,
        now: Ticks,
        stopped: watch::Receiver<bool>,
    ) -> Round {
        let used = session.take();
        let outcome = tokio::select! {
            outcome = tokio::time::timeout(self.timeout, self.attempt(used, leased)) => {
                outcome.unwrap_or_else(|_| Err(SendError::Server(self.timeout_message())))
            }
            () = grace_over(stopped) => return Round::ServerDown,
        };
        match outcome {
            Ok(open) => {
                *session = Some(open);
                tracing::info!(mail = %leased.mail.id, kind = leased.mail.kind, "sent a mail");
                self.store_sent(leased).await;
                self.metrics.sent();
                Round::Worked
            }
            Err(error) => {
                self.store_failure(leased, &error, now).await;
                self.metrics.failed();
                if matches!(error, SendError::Server(_)) { Round::ServerDown } else { Round::Worked }
            }
        }
    }

    /// Hands the mail to the server, over the session if it is still open. Returns the open session.
    async fn attempt(&self, used: Option<Session>, leased: &LeasedMail) -> Result<Session, SendError> {
        let message = message::message(&self.sender, &leased.mail).map_err(SendError::Refused)?;
        let open = match used {
            Some(mut session) => session.is_open().await.then_some(session),
            None => None,
        };
        let mut session = match open {
            Some(session) => session,
            None => self.server.connect().await?,
        };
        session.send(&message).await.map(|()| session)
    }

    fn timeout_message(&self) -> String {
        format!("the mail server did not answer within mail.timeout ({} s)", self.timeout.as_secs())
    }

    /// Stores that the mail is sent. While the store does not answer it tries again, as long as the lease keeps other nodes
    /// from sending the mail a second time.
    async fn store_sent(&self, leased: &LeasedMail) {
        loop {
            let now = self.clock.now();
            match self.store.mail_sent(leased.mail.id, now).await {
                Ok(_) => return,
                Err(error) if now < leased.leased_until => {
                    tracing::warn!(mail = %leased.mail.id, %error, "cannot store that a mail was sent; trying again");
                    tokio::time::sleep(RESULT_RETRY).await;
                }
                Err(error) => {
                    tracing::error!(
                        mail = %leased.mail.id, %error,
                        "could not store that a mail was sent; the recipient may get it twice"
                    );
                    return;
                }
            }
        }
    }

    /// Stores when the mail is due again. Where that fails, it is due when its lease ends.
    async fn store_failure(&self, leased: &LeasedMail, error: &SendError, began: Ticks) {
        let LeasedMail { mail, attempts, .. } = leased;
        let next_at = next_at(error, *attempts, began);
        let (id, kind, reason) = (mail.id, mail.kind.as_str(), error.message());
        if next_at >= mail.expires_at {
            tracing::error!(mail = %id, kind, attempts, reason, "a mail was not sent before it expired");
        } else {
            let retry_at = next_at.iso();
            tracing::warn!(mail = %id, kind, attempts, reason, retry_at, "a mail was not sent; trying again later");
        }
        let failure = MailFailure { error: reason.to_owned(), next_at };
        if let Err(error) = self.store.mail_failed(leased, &failure).await {
            tracing::warn!(mail = %id, %error, "cannot store that a mail was not sent");
        }
    }
}

/// Ends some time after shutdown has begun.
async fn grace_over(mut stopped: watch::Receiver<bool>) {
    let _ = stopped.wait_for(|stop| *stop).await;
    tokio::time::sleep(SHUTDOWN_GRACE).await;
}
