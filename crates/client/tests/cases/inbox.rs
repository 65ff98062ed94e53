//! The inbox processes each event once, retries failed ones, and runs the events of a record one after the other.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use aldaba_client::receiver::{
    Inbox, InboxError, InboxOutcome, InboxStore, MemoryInboxStore, ReceivedEvent, RecordKey,
};
use aldaba_client::{Guid, async_trait};
use tokio::sync::Notify;

fn event(id: u8, record: &str, number: u64) -> ReceivedEvent {
    let text = str::to_owned;
    let record = RecordKey {
        tenant: text("t"),
        resource: text("ACC.Customers"),
        company: text("c"),
        id: text(record),
    };
    ReceivedEvent { outgoing_id: Some(Guid::random_from([id; 16])), record, sequence_version: Some(number) }
}

async fn process(inbox: &Inbox<MemoryInboxStore>, event: ReceivedEvent) -> InboxOutcome<()> {
    inbox.process_once(event, || async { Ok::<_, Infallible>(()) }).await.unwrap()
}

#[tokio::test]
async fn duplicates_and_older_events_are_skipped() {
    let inbox = Inbox::new(MemoryInboxStore::default());
    assert_eq!(process(&inbox, event(1, "a", 7)).await, InboxOutcome::Processed(()));
    assert_eq!(process(&inbox, event(1, "a", 7)).await, InboxOutcome::Duplicate);
    assert_eq!(process(&inbox, event(2, "a", 5)).await, InboxOutcome::Superseded);
    assert_eq!(
        process(&inbox, event(3, "b", 5)).await,
        InboxOutcome::Processed(()),
        "another record has an order of its own"
    );
    assert_eq!(process(&inbox, event(4, "a", 8)).await, InboxOutcome::Processed(()));
    let from_the_feed = ReceivedEvent { outgoing_id: None, ..event(0, "a", 8) };
    assert_eq!(
        process(&inbox, from_the_feed).await,
        InboxOutcome::Superseded,
        "the same number is the same change"
    );
}

#[tokio::test]
async fn inbox_by_id_only_skips_duplicates_only() {
    let inbox = Inbox::by_id_only(MemoryInboxStore::default());
    assert_eq!(process(&inbox, event(1, "a", 7)).await, InboxOutcome::Processed(()));
    assert_eq!(process(&inbox, event(2, "a", 5)).await, InboxOutcome::Processed(()));
    assert_eq!(process(&inbox, event(2, "a", 5)).await, InboxOutcome::Duplicate);
}

#[tokio::test]
async fn failed_event_can_be_processed_again() {
    let inbox = Inbox::new(MemoryInboxStore::default());
    let failed = inbox.process_once(event(1, "a", 1), || async { Err::<(), _>("no disk") }).await;
    assert!(matches!(failed, Err(InboxError::Handler("no disk"))), "{failed:?}");
    assert_eq!(process(&inbox, event(1, "a", 1)).await, InboxOutcome::Processed(()));
}

#[tokio::test]
async fn concurrent_attempts_run_the_handler_once() {
    let inbox = Arc::new(Inbox::new(MemoryInboxStore::default()));
    let (began, goes_on, works) =
        (Arc::new(Notify::new()), Arc::new(Notify::new()), Arc::new(AtomicUsize::new(0)));
    let first = {
        let (inbox, began, goes_on, works) = (inbox.clone(), began.clone(), goes_on.clone(), works.clone());
        tokio::spawn(async move {
            let work = || async {
                works.fetch_add(1, Ordering::SeqCst);
                began.notify_one();
                goes_on.notified().await;
                Ok::<_, Infallible>(())
            };
            inbox.process_once(event(1, "a", 1), work).await.unwrap()
        })
    };
    began.notified().await;
    let second = {
        let (inbox, works) = (inbox.clone(), works.clone());
        tokio::spawn(async move {
            let work = || async {
                works.fetch_add(1, Ordering::SeqCst);
                Ok::<_, Infallible>(())
            };
            inbox.process_once(event(1, "a", 1), work).await.unwrap()
        })
    };
    tokio::task::yield_now().await;
    goes_on.notify_one();
    assert_eq!(
        (first.await.unwrap(), second.await.unwrap()),
        (InboxOutcome::Processed(()), InboxOutcome::Duplicate)
    );
    assert_eq!(works.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn memory_store_evicts_only_the_oldest() {
    let store = MemoryInboxStore::default();
    let id = |number: u32| {
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&number.to_be_bytes());
        Guid::from_bytes(bytes)
    };
    for number in 0..=100_000 {
        let one = ReceivedEvent { outgoing_id: Some(id(number)), sequence_version: None, ..event(0, "a", 0) };
        store.mark_processed(&one).await.unwrap();
    }
    assert!(!store.is_processed(id(0)).await.unwrap());
    assert!(store.is_processed(id(1)).await.unwrap() && store.is_processed(id(100_000)).await.unwrap());
}

/// A store that always fails.
struct Down;

#[async_trait]
impl InboxStore for Down {
    async fn is_processed(&self, _: Guid) -> Result<bool, Box<dyn std::error::Error + Send + Sync>> {
        Err("down".into())
    }

    async fn latest_sequence(
        &self,
        _: &RecordKey,
    ) -> Result<Option<u64>, Box<dyn std::error::Error + Send + Sync>> {
        Err("down".into())
    }

    async fn mark_processed(
        &self,
        _: &ReceivedEvent,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        Err("down".into())
    }
}

#[tokio::test]
async fn handler_does_not_run_if_the_store_fails() {
    let worked = AtomicUsize::new(0);
    let work = || async {
        worked.fetch_add(1, Ordering::SeqCst);
        Ok::<_, Infallible>(())
    };
    let result = Inbox::new(Down).process_once(event(1, "a", 1), work).await;
    assert!(matches!(result, Err(InboxError::Store(_))));
    assert_eq!(worked.load(Ordering::SeqCst), 0);
}
