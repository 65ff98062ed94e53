//! The health of a webhook: counts, schedule and warnings.

use std::time::Duration;

use domain::WebhookStatus;
use store::EventGap;

use super::disable_tenant;
use crate::fixture::{Fixture, START};

#[tokio::test]
async fn health_counts_deliveries_failures_and_waiting_events() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.active_webhook().await;
    let (first, second) = (fixture.charge("r1", 1).await, fixture.charge("r2", 1).await);
    fixture.charge("r3", 1).await;
    fixture.advance(60);
    fixture.record_delivery(&id, first).await;
    fixture.record_failure(&id, second, 1).await;
    let webhook = fixture.stored_webhook(&id).await;
    let health = fixture.history.health(&webhook, None).await.unwrap();
    assert_eq!(health.since, fixture.now().minus(Duration::from_secs(24 * 3600)));
    assert_eq!((health.delivered, health.failed_attempts, health.success_rate), (1, 1, Some(0.5)));
    assert_eq!((health.p95_milliseconds, health.lanes, health.events_behind), (Some(40), 1, 2));
    assert_eq!(health.failing_since, Some(START));
    assert_eq!(health.next_attempt_at, Some(fixture.now() + Duration::from_secs(5)));
    assert_eq!(health.last_delivered_at, Some(fixture.now()));
    assert!(health.handshake.is_accepted && health.lost.is_none());
    assert_eq!(health.recent_attempts[0].reason, "the response status was 500; expected a 2xx status");
    let later = Some(fixture.now() + Duration::from_secs(1));
    let health = fixture.history.health(&webhook, later).await.unwrap();
    assert_eq!((health.delivered, health.failed_attempts, health.success_rate), (0, 0, None));
}

#[tokio::test]
async fn suspended_webhook_has_a_warning_and_no_next_attempt() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.active_webhook().await;
    let sequence = fixture.charge("r1", 1).await;
    fixture.record_failure(&id, sequence, 1).await;
    let webhook = fixture.stored_webhook(&id).await;
    let active = fixture.history.health(&webhook, None).await.unwrap();
    assert!(active.warnings[0].contains("have failed since"), "{:?}", active.warnings);
    disable_tenant(&fixture).await;
    let suspended = fixture.history.health(&webhook, None).await.unwrap();
    assert_eq!((suspended.status, suspended.next_attempt_at), (WebhookStatus::Suspended, None));
    assert!(suspended.warnings[0].contains("disabled"), "{:?}", suspended.warnings);
    assert_eq!(suspended.warnings.len(), 1, "a suspended webhook's window does not run out");
}

#[tokio::test]
async fn lost_events_and_disabling_by_the_service_are_warnings() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.active_webhook().await;
    let lost = EventGap { at: fixture.now(), after: 1, through: 2 };
    fixture
        .write_checkpoint(&id, |checkpoint| {
            checkpoint.event_gap = Some(lost);
            checkpoint.disabled = Some("no delivery succeeded for 24 h".into());
        })
        .await;
    let webhook = fixture.stored_webhook(&id).await;
    let health = fixture.history.health(&webhook, None).await.unwrap();
    assert_eq!(health.lost.map(|lost| (lost.after, lost.through)), Some((1, 2)));
    assert_eq!(health.warnings.len(), 2);
    assert!(health.warnings[0].contains("no delivery succeeded for 24 h"), "{:?}", health.warnings);
    assert!(health.warnings[1].contains("never be delivered"), "{:?}", health.warnings);
}
