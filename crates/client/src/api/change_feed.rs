//! The pull feed: what happened after a position, in order. The pull twin of webhooks, to catch up after an outage.

use std::collections::VecDeque;
use std::time::Duration;

use domain::event::EventKind;
use futures_util::{StreamExt as _, stream};
use serde::{Deserialize, Serialize};

use super::BoxStream;
use super::client::{Api, Call};
use super::records::number;
use crate::Error;
use crate::url::encode_query;

const PAGE_SIZE_DEFAULT: u32 = 500;

/// One change, as the feed tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FeedChange {
    /// Where the feed goes on once this change was worked on: keep it with the work.
    #[serde(with = "number")]
    pub sequence_version: u64,
    /// `Svc.ACC.Customers.CustomerCreated`, or `Bank.Created` of invoicing.
    pub event: String,
    pub correlation_id: String,
    pub version: String,
    pub user: String,
    pub process_id: String,
}

impl FeedChange {
    /// What happened; None for a word that this version of the client does not know.
    pub fn kind(&self) -> Option<EventKind> {
        EventKind::ALL.into_iter().find(|kind| self.event.ends_with(kind.as_str()))
    }

    /// As an arrival for the [`Inbox`](crate::receiver::Inbox), which deliveries of the same records go through.
    #[cfg(feature = "receiver")]
    pub fn to_received_event(&self, tenant: &str, company: &str) -> crate::receiver::ReceivedEvent {
        use crate::receiver::{ReceivedEvent, RecordKey, resource_of};
        let record = RecordKey {
            tenant: tenant.to_owned(),
            resource: resource_of(&self.event),
            company: company.to_owned(),
            id: self.correlation_id.clone(),
        };
        ReceivedEvent { outgoing_id: None, record, sequence_version: Some(self.sequence_version) }
    }
}

/// The feed from a position on.
///
/// ```no_run
/// # use aldaba_client::{Error, Resource, TryStreamExt, api::Api};
/// # async fn example(api: Api, position: u64) -> Result<(), Error> {
/// let mut changes = api.changes(Resource::customers(), Some("company"), position).stream();
/// loop {
///     match changes.try_next().await {
///         Ok(Some(change)) => { /* read the record, write it and change.sequence_version down */ }
///         Ok(None) => break, // caught up
///         Err(Error::BelowFloor { .. }) => { /* away for too long: read the list anew */ break }
///         Err(error) => return Err(error),
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Feed {
    api: Api,
    path: String,
    company: Option<String>,
    position: u64,
    page_size: u32,
}

impl Feed {
    pub(super) fn new(api: &Api, path: String, company: Option<&str>, after: u64) -> Self {
        let company = company.map(ToOwned::to_owned);
        Self { api: api.clone(), path, company, position: after, page_size: PAGE_SIZE_DEFAULT }
    }

    /// How many changes come at a time: 1 to 1,000, and 500 where nothing is said.
    pub fn page_size(mut self, changes: u32) -> Self {
        self.page_size = changes;
        self
    }

    /// The number of the last change that was read, or where the feed began.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The next changes; none where there are none yet. Moves the position.
    pub async fn next_page(&mut self) -> Result<Vec<FeedChange>, Error> {
        let (after, size) = (self.position.to_string(), self.page_size.to_string());
        let query = encode_query([("after", after.as_str()), ("pageSize", &size)]);
        let call = Call::get(format!("{}/changes?{query}", self.path)).context(self.company.as_deref());
        let changes: Vec<FeedChange> = self.api.typed(call).await.map_err(below_floor)?;
        if let Some(last) = changes.last() {
            self.position = last.sequence_version;
        }
        Ok(changes)
    }

    /// Everything up to now, and then the end.
    pub fn stream(self) -> BoxStream<FeedChange> {
        self.run(None)
    }

    /// Everything, without an end: looks again after each pause once it has caught up.
    pub fn follow(self, pause: Duration) -> BoxStream<FeedChange> {
        self.run(Some(pause))
    }

    fn run(self, pause: Option<Duration>) -> BoxStream<FeedChange> {
        stream::try_unfold((self, VecDeque::new()), move |(mut feed, mut buffer)| async move {
            loop {
                if let Some(change) = buffer.pop_front() {
                    return Ok(Some((change, (feed, buffer))));
                }
                buffer = feed.next_page().await?.into();
                match pause {
                    None if buffer.is_empty() => return Ok(None),
                    Some(pause) if buffer.is_empty() => tokio::time::sleep(pause).await,
                    _ => {}
                }
            }
        })
        .boxed()
    }
}

/// 410 names where the feed begins, in words.
fn below_floor(error: Error) -> Error {
    let floor = error.api_error().filter(|refused| refused.status == 410).map(|refused| {
        let named = refused.message.split("begins after ").nth(1).unwrap_or_default();
        named.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap_or(0)
    });
    floor.map_or(error, |floor| Error::BelowFloor { floor })
}
