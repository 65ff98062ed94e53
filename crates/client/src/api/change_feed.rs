//! The change feed: all changes after a log position, in order. It has the same events as webhooks, to catch up after an
//! outage.

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

/// One change in the feed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FeedChange {
    /// The log position of the change. Store it with your work, and continue the feed after it.
    #[serde(with = "number")]
    pub sequence_version: u64,
    /// The semantic name: `Svc.ACC.Customers.CustomerCreated`, or `Bank.Created` for invoicing.
    pub event: String,
    /// The id of the record that changed.
    pub correlation_id: String,
    /// The version of the record after the change: ISO 8601, UTC, 7 digits of a second.
    pub version: String,
    /// The user who made the change.
    pub user: String,
    /// The id of the write request that the change came with.
    pub process_id: String,
}

impl FeedChange {
    /// The kind of event; `None` for one that this version of the client does not know.
    pub fn kind(&self) -> Option<EventKind> {
        EventKind::ALL.into_iter().find(|kind| self.event.ends_with(kind.as_str()))
    }

    /// Converts the change for the [`Inbox`](crate::receiver::Inbox) that also processes the webhooks of these records.
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

/// The change feed, starting after a log position.
///
/// ```no_run
/// # use aldaba_client::{Error, Resource, TryStreamExt, api::Api};
/// # async fn example(api: Api, position: u64) -> Result<(), Error> {
/// let mut changes = api.changes(Resource::customers(), Some("company"), position).stream();
/// loop {
///     match changes.try_next().await {
///         Ok(Some(change)) => { /* read the record, store it with change.sequence_version */ }
///         Ok(None) => break, // caught up
///         Err(Error::BelowFloor { .. }) => { /* offline for too long: read the list again */ break }
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

    /// The number of changes per page: 1 to 1,000. The default is 500.
    pub fn page_size(mut self, changes: u32) -> Self {
        self.page_size = changes;
        self
    }

    /// The log position of the last change that was read, or the start position.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Reads the next page and moves the position, which an error leaves as it was. Empty if there are no new changes.
    pub async fn next_page(&mut self) -> Result<Vec<FeedChange>, Error> {
        let (after, size) = (self.position.to_string(), self.page_size.to_string());
        let query = encode_query([("after", after.as_str()), ("pageSize", &size)]);
        let call = Call::get(format!("{}/changes?{query}", self.path)).context(self.company.as_deref());
        let changes: Vec<FeedChange> = self.api.typed(call).await.map_err(below_floor)?;
        let mut last = self.position;
        for change in &changes {
            // A feed that repeats itself would be read for ever.
            if change.sequence_version <= last {
                return Err(Error::InvalidResponse {
                    call: format!("GET {}/changes", self.path),
                    reason: format!("change {} comes after change {last}", change.sequence_version),
                });
            }
            last = change.sequence_version;
        }
        // Not earlier: the caller does not get the changes of a page that is refused, so a retry has to read them again.
        self.position = last;
        Ok(changes)
    }

    /// All changes up to now; the stream ends when it has caught up.
    pub fn stream(self) -> BoxStream<FeedChange> {
        self.run(None)
    }

    /// All changes, without end: once it has caught up, the stream polls after each `pause`.
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

/// Turns 410 into [`Error::BelowFloor`]. The start of the feed is only in the text of the message.
fn below_floor(error: Error) -> Error {
    let floor = error.api_error().filter(|api_error| api_error.status == 410).map(|api_error| {
        let start = api_error.message.split("begins after ").nth(1).unwrap_or_default();
        start.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap_or(0)
    });
    floor.map_or(error, |floor| Error::BelowFloor { floor })
}
