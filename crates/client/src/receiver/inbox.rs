//! The inbox processes each event once and skips events older than the latest one of their record. The service delivers
//! at least once, and in order per record except for replays.

use std::future::Future;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use async_trait::async_trait;
use domain::Guid;
use tokio::sync::Mutex;

use super::event::Event;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The number of lock stripes. Events of the same record are processed one after the other.
const LOCKS: usize = 64;

/// The identity of a record.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordKey {
    /// The tenant that owns the record.
    pub tenant: String,
    /// The resource as in the semantic name (`ACC.Customers`), or the name of an invoicing entity.
    pub resource: String,
    /// The company that owns the record; empty if the tenant owns it.
    pub company: String,
    /// The id of the record within its resource and company.
    pub id: String,
}

/// An event from a webhook delivery or from the change feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedEvent {
    /// The id of the delivery; `None` for events from the feed.
    pub outgoing_id: Option<Guid>,
    /// The record that changed.
    pub record: RecordKey,
    /// The log position; `None` for invoicing notifications, which lack it, and for test events.
    pub sequence_version: Option<u64>,
}

impl From<&Event> for ReceivedEvent {
    fn from(event: &Event) -> Self {
        let (resource, company) = match event {
            Event::Accounting(change) => (resource_of(&change.event.semantic_name), change.company.clone()),
            Event::Invoicing(change) => (change.entity.clone(), String::new()),
        };
        let sequence_version = match event {
            Event::Accounting(change) => Some(change.sequence_version).filter(|number| *number > 0),
            Event::Invoicing(_) => None,
        };
        let (tenant, id) = (event.tenant_id().to_owned(), event.record_id().to_owned());
        Self {
            outgoing_id: event.outgoing_id(),
            record: RecordKey { tenant, resource, company, id },
            sequence_version,
        }
    }
}

/// `Svc.ACC.Customers.CustomerCreated` → `ACC.Customers`; `Bank.Created` → `Bank`
pub(crate) fn resource_of(semantic_name: &str) -> String {
    let parts: Vec<&str> = semantic_name.split('.').collect();
    match parts.as_slice() {
        [_, domain, resource, _] => format!("{domain}.{resource}"),
        [entity, _] => (*entity).to_owned(),
        _ => semantic_name.to_owned(),
    }
}

/// The storage of an inbox: usually two tables in the application's database.
///
/// Ideally `mark_processed` runs in the same transaction as your own writes: then no crash makes an event run twice. Ids
/// can be deleted after 30 days, the time that the service keeps its log.
#[async_trait]
pub trait InboxStore: Send + Sync + 'static {
    /// Whether a delivery with this id was processed.
    async fn is_processed(&self, outgoing_id: Guid) -> Result<bool, BoxError>;

    /// The highest log position that was processed for this record.
    async fn latest_sequence(&self, record: &RecordKey) -> Result<Option<u64>, BoxError>;

    /// Stores the id, and the log position if it is higher than the stored one.
    async fn mark_processed(&self, event: &ReceivedEvent) -> Result<(), BoxError>;
}

/// What the inbox did with an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InboxOutcome<T> {
    /// The handler ran, for the first time; with its result.
    Processed(T),
    /// This event was processed before.
    Duplicate,
    /// A newer event of the same record was processed before, or this one was.
    Superseded,
}

/// Why [`Inbox::process_once`] failed.
#[derive(Debug, thiserror::Error)]
pub enum InboxError<E> {
    /// The store failed. The event is not marked as processed: answer 500, and the service delivers it again.
    #[error("the inbox store failed: {0}; the event is not marked as processed and will be delivered again")]
    Store(BoxError),
    /// The handler failed. The event is not marked as processed: answer 500, and the service delivers it again.
    #[error("{0}")]
    Handler(E),
}

/// Processes each event once.
///
/// ```
/// use aldaba_client::receiver::{ReceivedEvent, Inbox, InboxError, MemoryInboxStore, InboxOutcome, RecordKey};
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let inbox = Inbox::new(MemoryInboxStore::default());
/// let record = RecordKey { tenant: "t".into(), resource: "ACC.Customers".into(), company: "c".into(), id: "1".into() };
/// let event = |number| ReceivedEvent { outgoing_id: None, record: record.clone(), sequence_version: Some(number) };
/// let handler = || async { Ok::<_, std::io::Error>("read the record and store it") };
///
/// assert!(matches!(inbox.process_once(event(7), handler).await?, InboxOutcome::Processed(_)));
/// assert_eq!(inbox.process_once(event(7), handler).await?, InboxOutcome::Superseded); // a duplicate
/// assert_eq!(inbox.process_once(event(5), handler).await?, InboxOutcome::Superseded); // a replay of an older event
/// # Ok::<(), InboxError<std::io::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Inbox<S> {
    store: S,
    is_ordered: bool,
    locks: [Mutex<()>; LOCKS],
}

impl<S: InboxStore> Inbox<S> {
    /// For applications that keep a copy of the records: skips duplicates, and events older than the latest one of their
    /// record.
    pub fn new(store: S) -> Self {
        Self { store, is_ordered: true, locks: std::array::from_fn(|_| Mutex::default()) }
    }

    /// For applications that count or forward events: skips only duplicates, so that replays of old events that were
    /// never processed still run.
    pub fn by_id_only(store: S) -> Self {
        Self { is_ordered: false, ..Self::new(store) }
    }

    /// The store of this inbox.
    pub fn store(&self) -> &S {
        &self.store
    }

    /// Runs `handler` unless the event was processed before. If the handler fails, the event can be processed again.
    ///
    /// Events of the same record run one after the other, for example when the service retries while the first attempt
    /// is still running. This holds within one process; across processes, the transaction of the store must decide.
    pub async fn process_once<T, E, Fut>(
        &self,
        event: impl Into<ReceivedEvent>,
        handler: impl FnOnce() -> Fut,
    ) -> Result<InboxOutcome<T>, InboxError<E>>
    where
        Fut: Future<Output = Result<T, E>>,
    {
        let event = event.into();
        let _guard = self.lock(&event).lock().await;
        if let Some(id) = event.outgoing_id
            && self.store.is_processed(id).await.map_err(InboxError::Store)?
        {
            return Ok(InboxOutcome::Duplicate);
        }
        if self.is_ordered
            && let Some(number) = event.sequence_version
            && let Some(latest_sequence) =
                self.store.latest_sequence(&event.record).await.map_err(InboxError::Store)?
            && latest_sequence >= number
        {
            return Ok(InboxOutcome::Superseded);
        }
        let done = handler().await.map_err(InboxError::Handler)?;
        self.store.mark_processed(&event).await.map_err(InboxError::Store)?;
        Ok(InboxOutcome::Processed(done))
    }

    fn lock(&self, event: &ReceivedEvent) -> &Mutex<()> {
        let mut hasher = DefaultHasher::new();
        event.record.hash(&mut hasher);
        let index = usize::try_from(hasher.finish() % LOCKS as u64).unwrap_or(0);
        &self.locks[index]
    }
}
