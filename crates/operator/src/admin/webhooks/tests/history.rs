//! The history port as the operator's API uses it: what it asks, and how it shows views and errors.

use std::sync::Mutex;

use async_trait::async_trait;
use domain::delivery::{
    AttemptMilliseconds, AttemptOccasion, AttemptView, DeliveryCursor, DeliveryName, DeliveryPage,
    DeliveryPageQuery, DeliveryStatus, DeliveryView, HandshakeView, HistoryError, LostEvents, ReplayRequest,
    ReplayView, WebhookHealth,
};
use domain::{Guid, OperatorRole, Ticks, WebhookId, WebhookStatus};
use serde_json::json;
use store::{AuditContext, LogEvent, StoreError, Webhook};

use super::fixture::START;
use super::{Fixture, SECRET, authority, missing, refused};
use crate::admin::{AdminError, Authority};
use crate::ports::{HistoryResult, WebhookHistory};

/// Answers with one fixed view of each kind, or with the error that was set.
#[derive(Default)]
pub(super) struct FakeHistory {
    error: Mutex<Option<HistoryError<StoreError>>>,
    requests: Mutex<Vec<ReplayRequest>>,
}

impl FakeHistory {
    fn answer<T>(&self, view: T) -> HistoryResult<T> {
        self.error.lock().unwrap().take().map_or(Ok(view), Err)
    }

    fn fail_with(&self, error: HistoryError<StoreError>) {
        *self.error.lock().unwrap() = Some(error);
    }
}

fn attempt() -> AttemptView {
    AttemptView {
        occasion: AttemptOccasion::Event,
        at: START,
        number: 1,
        status: Some(500),
        succeeded: false,
        reason: "the response status was 500; expected a 2xx status".into(),
        excerpt: "Oops".into(),
        milliseconds: AttemptMilliseconds { resolve: 1, connect: 2, tls: 3, wait: 4, total: 10 },
    }
}

fn delivery() -> DeliveryView {
    DeliveryView {
        outgoing_id: Some(Guid::from_bytes([8; 16])),
        sequence: 7,
        event: Some("Svc.ACC.Charges.ChargeCreated".into()),
        correlation_id: Some("r1".into()),
        company: Some("c".into()),
        status: DeliveryStatus::Delivered,
        delivered_at: Some(START),
        next_attempt_at: None,
        attempts: vec![attempt()],
        body: None,
    }
}

fn replay(webhook: WebhookId) -> ReplayView {
    ReplayView {
        webhook,
        number: 1,
        is_test: true,
        requested_at: START,
        after: 6,
        through: 7,
        position: 0,
        delivered: 1,
        failed: 0,
        is_done: true,
    }
}

fn health() -> WebhookHealth {
    WebhookHealth {
        status: WebhookStatus::Active,
        since: START,
        delivered: 1,
        failed_attempts: 1,
        success_rate: Some(0.5),
        p95_milliseconds: Some(40),
        last_delivered_at: Some(START),
        failing_since: None,
        suspension: None,
        next_attempt_at: None,
        events_behind: 2,
        lanes: 1,
        handshake: HandshakeView { number: 1, requested_at: START, is_accepted: true, failed_attempts: 0 },
        lost: Some(LostEvents { at: START, after: 1, through: 2 }),
        host_mismatch: None,
        warnings: Vec::new(),
        recent_attempts: vec![attempt()],
        replays: Vec::new(),
    }
}

#[async_trait]
impl WebhookHistory for FakeHistory {
    async fn health(&self, _: WebhookId) -> HistoryResult<WebhookHealth> {
        self.answer(health())
    }

    async fn deliveries(&self, _: WebhookId, _: &DeliveryPageQuery) -> HistoryResult<DeliveryPage> {
        let next = Some(DeliveryCursor { at: Ticks(17), sequence: 3 });
        self.answer(DeliveryPage { deliveries: vec![delivery()], next })
    }

    async fn delivery(&self, _: WebhookId, _: DeliveryName) -> HistoryResult<DeliveryView> {
        self.answer(DeliveryView { body: Some("{}".into()), ..delivery() })
    }

    async fn deliveries_of(
        &self,
        _: &Webhook,
        _: WebhookStatus,
        _: &[LogEvent],
    ) -> HistoryResult<Vec<DeliveryView>> {
        self.answer(vec![delivery()])
    }

    async fn replays(&self, webhook: WebhookId) -> HistoryResult<Vec<ReplayView>> {
        self.answer(vec![replay(webhook)])
    }

    async fn request_replay(
        &self,
        webhook: WebhookId,
        request: ReplayRequest,
        _: &AuditContext,
    ) -> HistoryResult<ReplayView> {
        self.requests.lock().unwrap().push(request);
        self.answer(replay(webhook))
    }
}

#[tokio::test]
async fn webhook_is_shown_with_its_health_and_without_its_secret() {
    let fixture = Fixture::new().await;
    let id = fixture.active_webhook().await;
    let webhook = fixture.webhooks.show(&id).await.unwrap();
    assert_eq!((webhook.status, webhook.resource), (WebhookStatus::Active, "charges"));
    assert_eq!(webhook.events[0], "Svc.ACC.Charges.ChargeCreated");
    let json = serde_json::to_value(&webhook).unwrap();
    let health = &json["health"];
    assert_eq!((&health["delivered"], &health["successRate"]), (&json!(1), &json!(0.5)));
    assert_eq!((&health["lanes"], &health["eventsBehind"]), (&json!(1), &json!(2)));
    assert_eq!(health["lost"], json!({"at": START.iso(), "after": "1", "upto": "2"}));
    assert_eq!(health["recentAttempts"][0]["occasion"], "event");
    assert!(!json.to_string().contains(SECRET));
    missing(fixture.webhooks.show("nobody").await);
    missing(fixture.webhooks.show(&Guid::from_bytes([0; 16]).to_string()).await);
}

#[tokio::test]
async fn deliveries_and_replays_have_the_documented_form() {
    let fixture = Fixture::new().await;
    let id = fixture.active_webhook().await;
    let page = fixture.webhooks.deliveries(&id, DeliveryPageQuery::default(), None).await.unwrap();
    let expected = json!({
        "outgoingId": "08080808-0808-0808-0808-080808080808", "sequenceVersion": "7",
        "event": "Svc.ACC.Charges.ChargeCreated", "correlationId": "r1", "company": "c", "status": "delivered",
        "deliveredAt": START.iso(), "nextAttemptAt": null,
        "attempts": [{
            "occasion": "event", "at": START.iso(), "number": 1, "status": 500, "succeeded": false,
            "reason": "the response status was 500; expected a 2xx status", "excerpt": "Oops",
            "milliseconds": {"resolve": 1, "connect": 2, "tls": 3, "wait": 4, "total": 10},
        }],
    });
    assert_eq!(serde_json::to_value(&page).unwrap(), json!({"deliveries": [expected], "next": "17-3"}));
    assert_eq!(fixture.webhooks.delivery(&id, "7").await.unwrap().body.as_deref(), Some("{}"));
    let replays = fixture.webhooks.replays(&id).await.unwrap();
    let expected = json!({
        "webhook": id, "number": 1, "kind": "test", "askedAt": START.iso(), "after": "6", "upto": "7",
        "delivered": 1, "failed": 0, "isDone": true,
    });
    assert_eq!(serde_json::to_value(&replays).unwrap(), json!({"replays": [expected]}));
}

#[tokio::test]
async fn replays_are_requested_by_delivery_by_span_and_as_a_test() {
    let fixture = Fixture::new().await;
    let (id, by) = (fixture.active_webhook().await, authority());
    let outgoing = Guid::from_bytes([8; 16]);
    fixture.webhooks.replay_delivery(&id, "7", &by).await.unwrap();
    fixture.webhooks.replay_delivery(&id, &outgoing.to_string(), &by).await.unwrap();
    fixture.webhooks.replay_span(&id, START, None, &by).await.unwrap();
    fixture.webhooks.send_test_event(&id, &by).await.unwrap();
    let expected = [
        ReplayRequest::Delivery(DeliveryName::Sequence(7)),
        ReplayRequest::Delivery(DeliveryName::Outgoing(outgoing)),
        ReplayRequest::Span { from: START, to: None },
        ReplayRequest::TestEvent,
    ];
    assert_eq!(*fixture.history.requests.lock().unwrap(), expected);
}

#[tokio::test]
async fn errors_of_the_history_name_the_webhook() {
    let fixture = Fixture::new().await;
    let (id, by) = (fixture.active_webhook().await, authority());
    let replay_after = async |error| {
        fixture.history.fail_with(error);
        fixture.webhooks.replay_delivery(&id, "7", &by).await
    };
    let inactive = replay_after(HistoryError::Suspended(domain::Suspension::Withdrawn)).await;
    assert!(refused(inactive, "suspended").contains("withdrawn"));
    assert!(
        refused(replay_after(HistoryError::TooManyReplays(10)).await, "too_many_replays").contains("wait")
    );
    assert!(refused(replay_after(HistoryError::NotEntitled).await, "not_entitled").contains(&id));
    for error in [
        HistoryError::NoWebhook,
        HistoryError::NoDelivery,
        HistoryError::EventPruned,
        HistoryError::NothingToReplay,
    ] {
        missing(replay_after(error).await);
    }
    let reversed = replay_after(HistoryError::SpanReversed).await;
    assert!(matches!(reversed, Err(AdminError::Invalid(why)) if why == "from must not be later than to"));
    let unavailable = replay_after(HistoryError::Store(StoreError::Unavailable("gone".into()))).await;
    assert!(matches!(unavailable, Err(AdminError::Store(StoreError::Unavailable(_)))));
    for name in ["", "nothing", "-1"] {
        missing(fixture.webhooks.delivery(&id, name).await);
    }
    for event in [None, Some("Svc.ACC.Charges.ChargeCreated")] {
        missing(fixture.webhooks.deliveries("nobody", DeliveryPageQuery::default(), event).await);
    }
    let unknown = fixture.webhooks.deliveries(&id, DeliveryPageQuery::default(), Some("created")).await;
    assert!(
        matches!(unknown, Err(AdminError::Invalid(why)) if why.contains("Created") && why.starts_with("event"))
    );
    missing(fixture.webhooks.replays("nobody").await);
    let too_large = DeliveryPageQuery { page_size: 101, ..DeliveryPageQuery::default() };
    assert!(matches!(fixture.webhooks.deliveries(&id, too_large, None).await, Err(AdminError::Invalid(_))));
}

#[tokio::test]
async fn viewer_changes_no_webhook() {
    let fixture = Fixture::new().await;
    let id = fixture.active_webhook().await;
    let by = Authority::new(AuditContext::default(), OperatorRole::Viewer);
    let before = fixture.audit().await;
    for (what, result) in [
        ("enable", fixture.webhooks.enable(&id, &by).await.map(drop)),
        ("disable", fixture.webhooks.disable(&id, &by).await.map(drop)),
        ("delete", fixture.webhooks.delete(&id, &by).await.map(drop)),
        ("test", fixture.webhooks.send_test_event(&id, &by).await.map(drop)),
        ("replay a delivery", fixture.webhooks.replay_delivery(&id, "7", &by).await.map(drop)),
        ("replay a span", fixture.webhooks.replay_span(&id, START, None, &by).await.map(drop)),
    ] {
        assert!(matches!(result, Err(AdminError::Forbidden(_))), "{what}: {result:?}");
    }
    assert!(fixture.history.requests.lock().unwrap().is_empty());
    assert_eq!(fixture.audit().await, before);
    let support = Authority::new(AuditContext::default(), OperatorRole::Support);
    assert!(fixture.webhooks.send_test_event(&id, &support).await.is_ok());
}
