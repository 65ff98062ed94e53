//! A page costs the same number of store calls whatever its size.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use domain::event::EventKind;
use domain::outgoing_id::IdKey;
use domain::{AccountId, ClientId, Guid, Resource, Secret, TenantId, Ticks, WebhookId, WebhookStatus};
use store::{
    AttemptPurpose, AttemptRecord, AttemptTiming, AuditContext, Handshake, Lane, LogEntry, Replay,
    ReplayKind, SuccessfulDelivery, Webhook, WebhookOwner, WebhookStats,
};

use super::*;

const START: Ticks = Ticks(638_000_000_000_000_000);
const EVENTS: u64 = 400;

/// A history of `EVENTS` events, one a second: every fourth failed once and was delivered a second later. Counts the
/// calls of every method.
#[derive(Default)]
struct CountingHistory {
    calls: AtomicUsize,
    /// Deliveries that were looked up.
    looked_up: AtomicUsize,
}

impl CountingHistory {
    fn count(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    fn success(sequence: u64) -> SuccessfulDelivery {
        let at = START + Duration::from_secs(sequence + u64::from(has_failed(sequence)));
        SuccessfulDelivery { sequence, at, status: 204, duration_ms: 5 }
    }

    fn failure(sequence: u64) -> Option<AttemptRecord> {
        has_failed(sequence).then(|| AttemptRecord {
            at: START + Duration::from_secs(sequence),
            purpose: AttemptPurpose::Event { sequence },
            number: 1,
            status: Some(500),
            succeeded: false,
            reason: "the response status was 500; expected a 2xx status".into(),
            excerpt: String::new(),
            timing: AttemptTiming::default(),
        })
    }
}

fn has_failed(sequence: u64) -> bool {
    sequence.is_multiple_of(4)
}

fn is_within(query: &DeliveryQuery, position: (Ticks, u64)) -> bool {
    query.before.is_none_or(|before| position < before)
}

fn event(sequence: u64) -> LogEvent {
    let entry = LogEntry {
        sequence,
        resource: Resource::customers(),
        kind: EventKind::Created,
        company: "c".into(),
        correlation_id: sequence.to_string().into(),
        version: START,
        conversation: Guid::from_bytes([1; 16]),
        process: Guid::from_bytes([2; 16]),
        user: "maria".into(),
        source_interface: "".into(),
        source_action: "".into(),
        changes: None,
        envelope: 1,
    };
    LogEvent { entry, record_key: i64::try_from(sequence).unwrap() }
}

#[async_trait]
impl History for CountingHistory {
    fn outgoing_id_key(&self, _: WebhookId) -> [u8; 32] {
        [7; 32]
    }

    async fn attempts(&self, query: &DeliveryQuery) -> store::Result<Vec<AttemptRecord>> {
        self.count();
        let all = (1..=EVENTS).rev().filter_map(Self::failure);
        Ok(all.filter(|one| is_within(query, one.cursor())).take(query.rows_max).collect())
    }

    async fn successful_deliveries(&self, query: &DeliveryQuery) -> store::Result<Vec<SuccessfulDelivery>> {
        self.count();
        let mut all: Vec<_> = (1..=EVENTS).map(Self::success).collect();
        all.sort_by_key(|one| std::cmp::Reverse((one.at, one.sequence)));
        all.retain(|one| is_within(query, (one.at, one.sequence)));
        all.truncate(query.rows_max);
        Ok(all)
    }

    async fn find_deliveries(&self, _: WebhookId, sequences: &[u64]) -> store::Result<Vec<DeliveryHistory>> {
        self.count();
        self.looked_up.fetch_add(sequences.len(), Ordering::Relaxed);
        let find = |sequence: &u64| DeliveryHistory {
            sequence: *sequence,
            delivered: Some(Self::success(*sequence)),
            attempts: Self::failure(*sequence).into_iter().collect(),
        };
        Ok(sequences.iter().map(find).collect())
    }

    async fn find_events(
        &self,
        _: &TenantId,
        _: Resource,
        sequences: &[u64],
    ) -> store::Result<Vec<LogEvent>> {
        self.count();
        Ok(sequences.iter().copied().map(event).collect())
    }

    async fn lanes(&self, _: WebhookId, _: usize) -> store::Result<Vec<Lane>> {
        self.count();
        Ok(Vec::new())
    }

    async fn webhook_stats(&self, _: WebhookId, _: Ticks) -> store::Result<WebhookStats> {
        self.count();
        Ok(WebhookStats::default())
    }

    async fn request_replay(
        &self,
        _: WebhookId,
        _: ReplayKind,
        _: (u64, u64),
        _: &AuditContext,
    ) -> store::Result<Option<Replay>> {
        self.count();
        Ok(None)
    }

    async fn replays(&self, _: WebhookId, _: usize) -> store::Result<Vec<Replay>> {
        self.count();
        Ok(Vec::new())
    }

    async fn sequence_range(&self, _: WebhookId, _: Ticks, _: Ticks) -> store::Result<Option<(u64, u64)>> {
        self.count();
        Ok(None)
    }
}

fn webhook() -> Webhook {
    Webhook {
        id: Guid::from_bytes([3; 16]),
        owner: WebhookOwner { tenant: TenantId::new("tenant-a"), client: ClientId::new("app-1") },
        user: AccountId::new("user-1"),
        resource: Resource::customers(),
        kinds: EventKind::ALL.into_iter().collect(),
        name: "App".into(),
        description: String::new(),
        url: "https://receiver.example/hook".into(),
        original_url: "https://receiver.example/hook".into(),
        secret: Secret::new("s"),
        previous_secret: None,
        host_mismatch: String::new(),
        created_at: START,
        enabled: true,
        handshake: Handshake {
            number: 1,
            at: START,
            accepted: true,
            retry: None,
            asked_at: None,
            while_disabled: false,
        },
        disabled: None,
        suspended_at: None,
        unsubscribed_at: None,
        deleted_at: None,
        revision: 0,
        cursor: Some(EVENTS),
        initial_cursor: Some(0),
        event_gap: None,
    }
}

fn views(webhook: &Webhook) -> DeliveryViews<'_> {
    DeliveryViews { webhook, status: WebhookStatus::Active, lanes: Vec::new(), ids: IdKey::new(&[7; 32]) }
}

/// The page, and how many store calls it took.
async fn counted(query: DeliveryPageQuery) -> (DeliveryPage, usize) {
    let (store, webhook) = (CountingHistory::default(), webhook());
    let page = read(&store, &views(&webhook), &query).await.unwrap();
    (page, store.calls.into_inner())
}

#[tokio::test]
async fn store_calls_of_a_page_do_not_grow_with_its_size() {
    for page_size in [1, 5, 25, 60, DELIVERIES_PER_PAGE_MAX] {
        let (page, calls) = counted(DeliveryPageQuery { page_size, ..DeliveryPageQuery::default() }).await;
        assert_eq!((page.deliveries.len(), calls), (page_size, 4), "page size {page_size}");
        assert!(page.next.is_some());
    }
}

#[tokio::test]
async fn store_calls_of_a_page_without_matches_are_bounded() {
    let all = DeliveryPageQuery::default;
    for query in [
        DeliveryPageQuery { status: Some(DeliveryStatus::Waiting), ..all() },
        DeliveryPageQuery { kind: Some(EventKind::Deleted), ..all() },
        DeliveryPageQuery { record: Some("none".into()), ..all() },
    ] {
        let (page, calls) = counted(query).await;
        assert!(page.deliveries.is_empty());
        assert!(calls <= 4 * READS_MAX, "{calls}");
    }
}

/// A scan for a record, an event or what waits reads no delivery that its event rules out.
#[tokio::test]
async fn only_deliveries_that_may_be_selected_are_looked_up() {
    let all = DeliveryPageQuery::default;
    for (query, expected) in [
        (DeliveryPageQuery { record: Some("7".into()), ..all() }, 1),
        (DeliveryPageQuery { record: Some("none".into()), ..all() }, 0),
        (DeliveryPageQuery { kind: Some(EventKind::Deleted), ..all() }, 0),
        (DeliveryPageQuery { status: Some(DeliveryStatus::Waiting), ..all() }, 0),
    ] {
        let (store, webhook) = (CountingHistory::default(), webhook());
        read(&store, &views(&webhook), &query).await.unwrap();
        assert_eq!(store.looked_up.into_inner(), expected, "{query:?}");
    }
}

#[tokio::test]
async fn pages_of_any_size_list_every_event_once_at_its_newest_attempt() {
    let mut expected: Vec<SuccessfulDelivery> = (1..=EVENTS).map(CountingHistory::success).collect();
    expected.sort_by_key(|one| std::cmp::Reverse((one.at, one.sequence)));
    let expected: Vec<u64> = expected.into_iter().map(|one| one.sequence).collect();
    for page_size in [1, 7, 100] {
        let mut query = DeliveryPageQuery { page_size, ..DeliveryPageQuery::default() };
        let mut listed = Vec::new();
        loop {
            let (page, _) = counted(query.clone()).await;
            listed.extend(page.deliveries.iter().map(|delivery| delivery.sequence));
            let Some(next) = page.next else { break };
            query.before = Some(next);
        }
        assert_eq!(listed, expected, "page size {page_size}");
    }
}
