//! Each event once, and of each record only what is newer than what was seen: what makes of "at least once" and
//! "in order per record, but for replays" something that an application need not think about.

use std::future::Future;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use async_trait::async_trait;
use domain::Guid;
use tokio::sync::Mutex;

use super::event::Event;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// So many records at a time, at most; two arrivals of one record wait for each other.
const LOCKS: usize = 64;

/// Which record is meant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordKey {
    pub tenant: String,
    /// As the semantic name has it (`ACC.Customers`), or the name of an invoicing entity.
    pub resource: String,
    /// Empty for what belongs to the tenant.
    pub company: String,
    pub id: String,
}

/// Something that came, by a delivery or by the pull feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedEvent {
    /// None from the feed.
    pub outgoing_id: Option<Guid>,
    pub record: RecordKey,
    /// None where it is not told: invoicing's notifications do not have it, and tests are of no record.
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

/// Where an inbox remembers: a table or two in the application's own database.
///
/// Best kept where the work itself is kept, and written in the same transaction: then an event whose work was done is
/// never done again, whatever crashes. Ids may be forgotten after 30 days, as long as the service keeps its log.
#[async_trait]
pub trait InboxStore: Send + Sync + 'static {
    /// Whether a delivery of this id was kept.
    async fn is_processed(&self, outgoing_id: Guid) -> Result<bool, BoxError>;

    /// The highest number of this record that was kept.
    async fn latest_sequence(&self, record: &RecordKey) -> Result<Option<u64>, BoxError>;

    /// Remembers the id, and the number where it is higher than the one that is kept.
    async fn mark_processed(&self, event: &ReceivedEvent) -> Result<(), BoxError>;
}

/// What became of an arrival.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InboxOutcome<T> {
    /// The work was done, for the first time.
    Processed(T),
    /// This very event was done before.
    Duplicate,
    /// Something newer of the same record was done before.
    Superseded,
}

#[derive(Debug, thiserror::Error)]
pub enum InboxError<E> {
    /// The event is not kept: answer 500, and it comes again.
    #[error("the inbox's store failed: {0}; the event was not kept and comes again")]
    Store(BoxError),
    /// The work's own error; the event is not kept and comes again.
    #[error("{0}")]
    Handler(E),
}

/// Lets each event through once.
///
/// ```
/// use aldaba_client::receiver::{ReceivedEvent, Inbox, InboxError, MemoryInboxStore, InboxOutcome, RecordKey};
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let inbox = Inbox::new(MemoryInboxStore::default());
/// let record = RecordKey { tenant: "t".into(), resource: "ACC.Customers".into(), company: "c".into(), id: "1".into() };
/// let arrival = |number| ReceivedEvent { outgoing_id: None, record: record.clone(), sequence_version: Some(number) };
/// let work = || async { Ok::<_, std::io::Error>("read the record, write it down") };
///
/// assert!(matches!(inbox.process_once(arrival(7), work).await?, InboxOutcome::Processed(_)));
/// assert_eq!(inbox.process_once(arrival(7), work).await?, InboxOutcome::Superseded); // the same again
/// assert_eq!(inbox.process_once(arrival(5), work).await?, InboxOutcome::Superseded); // a replay of what came before
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
    /// For who keeps a copy: an event that is older than what was seen of its record is passed over.
    pub fn new(store: S) -> Self {
        Self { store, is_ordered: true, locks: std::array::from_fn(|_| Mutex::default()) }
    }

    /// For who counts or forwards: every event once, old ones that are replayed too.
    pub fn by_id_only(store: S) -> Self {
        Self { is_ordered: false, ..Self::new(store) }
    }

    pub fn store(&self) -> &S {
        &self.store
    }

    /// Does the work, unless it was done before. What fails is not kept, and may come again.
    ///
    /// Two arrivals of one record wait for each other, as when the service tries again while the first attempt is
    /// still being worked on. That holds within one process; between several it is the store's transaction that
    /// decides.
    pub async fn process_once<T, E, Fut>(
        &self,
        event: impl Into<ReceivedEvent>,
        handler: impl FnOnce() -> Fut,
    ) -> Result<InboxOutcome<T>, InboxError<E>>
    where
        Fut: Future<Output = Result<T, E>>,
    {
        let event = event.into();
        let _turn = self.lock(&event).lock().await;
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
        let place = usize::try_from(hasher.finish() % LOCKS as u64).unwrap_or(0);
        &self.locks[place]
    }
}
