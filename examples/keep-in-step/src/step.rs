//! Keeping in step: a snapshot once, the feed from its position on, and deliveries in between.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use aldaba_client::api::Api;
use aldaba_client::receiver::{Event, Inbox};
use aldaba_client::webhooks::Subscription;
use aldaba_client::{Error, Resource, Secret, TryStreamExt as _};
use tokio::sync::{Mutex, Notify};

use crate::Failure;
use crate::copy::{Copy, Taken};

/// Why the copy may be behind: the service's side or ours.
#[derive(Debug)]
pub(crate) enum Behind {
    Service(Error),
    Copy(Failure),
}

impl From<Error> for Behind {
    fn from(error: Error) -> Self {
        Self::Service(error)
    }
}

impl From<Failure> for Behind {
    fn from(failure: Failure) -> Self {
        Self::Copy(failure)
    }
}

impl fmt::Display for Behind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Service(error) => error.fmt(f),
            Self::Copy(failure) => write!(f, "the copy cannot be written: {failure}"),
        }
    }
}

impl std::error::Error for Behind {}

pub(crate) struct Step {
    api: Api,
    copy: Arc<Copy>,
    inbox: Inbox<Taken>,
    subscription: Subscription,
    /// One pass over the feed at a time.
    pass: Mutex<()>,
    wake: Notify,
}

impl Step {
    pub(crate) fn new(api: Api, copy: Arc<Copy>, receiver_url: &str, secret: Secret) -> Self {
        let subscription = Subscription::to_all(Resource::customers(), "Keep in step", receiver_url, secret);
        let inbox = Inbox::new(Taken(copy.clone()));
        Self { api, copy, inbox, subscription, pass: Mutex::new(()), wake: Notify::new() }
    }

    /// Asks for a pass now.
    pub(crate) fn wake(&self) {
        self.wake.notify_one();
    }

    pub(crate) async fn woken(&self) {
        self.wake.notified().await;
    }

    /// Subscribes, and reads what the copy does not have yet.
    ///
    /// The subscription comes first: what happens while the lists are read is then told as well. The same again is the
    /// same webhook, so that nothing has to be remembered.
    pub(crate) async fn catch_up(&self) -> Result<(), Behind> {
        let _turn = self.pass.lock().await;
        self.api.webhooks(Resource::customers()).subscribe(&self.subscription).await?;
        let companies: Vec<String> =
            self.api.companies().stream().map_ok(|company| company.correlation_id).try_collect().await?;
        self.copy.retain(&companies)?;
        for company in &companies {
            self.follow(company).await?;
        }
        Ok(())
    }

    async fn follow(&self, company: &str) -> Result<(), Behind> {
        let position = match self.copy.position(company)? {
            Some(position) => position,
            None => self.snapshot(company).await?,
        };
        match self.read_feed(company, position).await {
            // Away for longer than the service remembers.
            Err(Behind::Service(Error::BelowFloor { .. })) => {
                let position = self.snapshot(company).await?;
                self.read_feed(company, position).await
            }
            done => done,
        }
    }

    async fn snapshot(&self, company: &str) -> Result<u64, Behind> {
        let snapshot = self.api.customers(company).page_size(1000).snapshot().await?;
        self.copy.replace(company, &snapshot)?;
        Ok(snapshot.position)
    }

    async fn read_feed(&self, company: &str, position: u64) -> Result<(), Behind> {
        let mut feed = self.api.changes(Resource::customers(), Some(company), position);
        loop {
            let changes = feed.next_page().await?;
            if changes.is_empty() {
                return Ok(());
            }
            // However often a record has changed, it is read once.
            let ids: BTreeSet<&str> = changes.iter().map(|change| change.correlation_id.as_str()).collect();
            for id in ids {
                self.fetch(company, id).await?;
            }
            self.copy.set_position(company, feed.position())?;
        }
    }

    /// What a delivery tells of. An error is answered 500, and the service tries again.
    pub(crate) async fn take(&self, event: Event) -> Result<(), Failure> {
        let Event::Accounting(change) = &event else { return Ok(()) };
        if !event.is_test() {
            self.inbox.process_once(&event, || self.fetch(&change.company, &change.correlation_id)).await?;
        }
        Ok(())
    }

    /// Brings the copy of one record up to what it is now.
    async fn fetch(&self, company: &str, id: &str) -> Result<(), Behind> {
        match self.api.customer(company, id).await? {
            Some(customer) => Ok(self.copy.put(company, &customer)?),
            None => Ok(self.copy.remove(company, id)?),
        }
    }
}
