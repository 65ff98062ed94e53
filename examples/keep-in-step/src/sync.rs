//! Keeps the copy in sync: one snapshot, then the change feed from its position, and webhooks in between.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use aldaba_client::api::Api;
use aldaba_client::receiver::{Event, Inbox};
use aldaba_client::webhooks::Subscription;
use aldaba_client::{Error, Resource, Secret, TryStreamExt as _};
use tokio::sync::{Mutex, Notify};

use crate::Failure;
use crate::local_copy::{LocalCopy, ProcessedDeliveries};

/// Why synchronisation failed: an error of the service, or of the local copy.
#[derive(Debug)]
pub(crate) enum SyncError {
    Service(Error),
    LocalCopy(Failure),
}

impl From<Error> for SyncError {
    fn from(error: Error) -> Self {
        Self::Service(error)
    }
}

impl From<Failure> for SyncError {
    fn from(failure: Failure) -> Self {
        Self::LocalCopy(failure)
    }
}

impl fmt::Display for SyncError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Service(error) => error.fmt(f),
            Self::LocalCopy(failure) => write!(f, "the copy cannot be written: {failure}"),
        }
    }
}

impl std::error::Error for SyncError {}

pub(crate) struct Synchronizer {
    api: Api,
    copy: Arc<LocalCopy>,
    inbox: Inbox<ProcessedDeliveries>,
    subscription: Subscription,
    /// Held during a pass, so that only one runs at a time.
    pass: Mutex<()>,
    request_pass: Notify,
}

impl Synchronizer {
    pub(crate) fn new(api: Api, copy: Arc<LocalCopy>, receiver_url: &str, secret: Secret) -> Self {
        let subscription = Subscription::to_all(Resource::customers(), "Keep in step", receiver_url, secret);
        let inbox = Inbox::new(ProcessedDeliveries(copy.clone()));
        Self { api, copy, inbox, subscription, pass: Mutex::new(()), request_pass: Notify::new() }
    }

    /// Requests a pass now.
    pub(crate) fn request_pass(&self) {
        self.request_pass.notify_one();
    }

    pub(crate) async fn pass_requested(&self) {
        self.request_pass.notified().await;
    }

    /// Runs one pass: subscribes, and reads the changes that the copy lacks.
    ///
    /// It subscribes first, so that changes made while it reads the lists are delivered as well. Subscribing is
    /// idempotent, so the application need not store the id of the webhook.
    pub(crate) async fn catch_up(&self) -> Result<(), SyncError> {
        let _guard = self.pass.lock().await;
        self.api.webhooks(Resource::customers()).subscribe(&self.subscription).await?;
        let companies: Vec<String> =
            self.api.companies().stream().map_ok(|company| company.correlation_id).try_collect().await?;
        self.copy.retain_companies(&companies)?;
        for company in &companies {
            self.follow(company).await?;
        }
        Ok(())
    }

    async fn follow(&self, company: &str) -> Result<(), SyncError> {
        let position = match self.copy.position(company)? {
            Some(position) => position,
            None => self.snapshot(company).await?,
        };
        match self.read_feed(company, position).await {
            // The application was offline for longer than the service keeps its log.
            Err(SyncError::Service(Error::BelowFloor { .. })) => {
                let position = self.snapshot(company).await?;
                self.read_feed(company, position).await
            }
            result => result,
        }
    }

    async fn snapshot(&self, company: &str) -> Result<u64, SyncError> {
        let snapshot = self.api.customers(company).page_size(1000).snapshot().await?;
        self.copy.replace(company, &snapshot)?;
        Ok(snapshot.position)
    }

    async fn read_feed(&self, company: &str, position: u64) -> Result<(), SyncError> {
        let mut feed = self.api.changes(Resource::customers(), Some(company), position);
        loop {
            let changes = feed.next_page().await?;
            if changes.is_empty() {
                return Ok(());
            }
            // Read each record once, however often it changed.
            let ids: BTreeSet<&str> = changes.iter().map(|change| change.correlation_id.as_str()).collect();
            for id in ids {
                self.fetch(company, id).await?;
            }
            self.copy.set_position(company, feed.position())?;
        }
    }

    /// Handles a delivered event. The caller answers an error with 500, and the service retries.
    pub(crate) async fn handle_event(&self, event: Event) -> Result<(), Failure> {
        let Event::Accounting(change) = &event else { return Ok(()) };
        if !event.is_test() {
            self.inbox.process_once(&event, || self.fetch(&change.company, &change.correlation_id)).await?;
        }
        Ok(())
    }

    /// Reads a record and updates its copy.
    async fn fetch(&self, company: &str, id: &str) -> Result<(), SyncError> {
        match self.api.customer(company, id).await? {
            Some(customer) => Ok(self.copy.upsert(company, &customer)?),
            None => Ok(self.copy.remove(company, id)?),
        }
    }
}
