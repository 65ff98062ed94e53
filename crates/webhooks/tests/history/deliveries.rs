//! Pages of deliveries, single deliveries, and their statuses.

use std::time::Duration;

use domain::Guid;
use domain::delivery::{DeliveryName, DeliveryPageQuery, DeliveryStatus, ReplayRequest};
use domain::event::EventKind;
use store::{AttemptPurpose, AuditContext, ChangeLog as _, WebhookChange, Webhooks as _};
use webhooks::history::HistoryError;

use super::disable_tenant;
use crate::fixture::{Fixture, attempt};

fn sequence(sequence: u64) -> DeliveryName {
    DeliveryName::Sequence(sequence)
}

#[tokio::test]
async fn each_event_is_listed_once_at_its_newest_attempt() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.active_webhook().await;
    let mut expected = Vec::new();
    for number in 0..23 {
        let sequence = fixture.charge(&format!("r{number}"), number).await;
        fixture.advance(1);
        if number % 3 == 0 {
            fixture.record_failure(&id, sequence, 1).await;
            fixture.advance(1);
            fixture.record_failure(&id, sequence, 2).await;
        } else {
            fixture.record_delivery(&id, sequence).await;
        }
        expected.push(sequence);
    }
    expected.reverse();
    let webhook = fixture.stored_webhook(&id).await;
    for page_size in [1, 4, 23, 24] {
        let mut query = DeliveryPageQuery { page_size, ..DeliveryPageQuery::default() };
        let mut listed = Vec::new();
        loop {
            let page = fixture.history.deliveries(&webhook, &query).await.unwrap();
            assert!(page.deliveries.len() <= page_size);
            listed.extend(page.deliveries.iter().map(|delivery| delivery.sequence));
            query.before = page.next;
            if page.next.is_none() {
                break;
            }
        }
        assert_eq!(listed, expected, "{page_size}");
    }
    let count = async |query: DeliveryPageQuery| {
        let webhook = fixture.stored_webhook(&id).await;
        fixture.history.deliveries(&webhook, &query).await.unwrap().deliveries
    };
    for (status, expected) in
        [(DeliveryStatus::Delivered, 15), (DeliveryStatus::Waiting, 8), (DeliveryStatus::Failed, 0)]
    {
        let query = DeliveryPageQuery { status: Some(status), ..DeliveryPageQuery::default() };
        assert_eq!(count(query).await.len(), expected, "{status:?}");
    }
    let since = Some(fixture.now().minus(Duration::from_secs(1)));
    assert_eq!(count(DeliveryPageQuery { since, ..DeliveryPageQuery::default() }).await.len(), 2);
    fixture
        .write_checkpoint(&id, |checkpoint| checkpoint.disabled = Some("24 h without success".into()))
        .await;
    let query = DeliveryPageQuery { status: Some(DeliveryStatus::Failed), ..DeliveryPageQuery::default() };
    let failed = count(query).await;
    assert_eq!(failed.len(), 8, "the service has given them up");
    assert!(failed.iter().all(|delivery| delivery.next_attempt_at.is_none() && delivery.attempts.len() == 2));
}

#[tokio::test]
async fn deliveries_are_filtered_by_event_record_and_time() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.active_webhook().await;
    let mut times = Vec::new();
    for number in 0..6 {
        // The first charge of a record creates it, the second one updates it.
        let sequence = fixture.charge(&format!("r{}", number % 3), number).await;
        fixture.advance(10);
        fixture.record_delivery(&id, sequence).await;
        times.push(fixture.now());
    }
    let webhook = fixture.stored_webhook(&id).await;
    let list = async |query: DeliveryPageQuery| {
        let page = fixture.history.deliveries(&webhook, &query).await.unwrap();
        assert_eq!(page.next, None);
        let delivered = |time| times.iter().position(|one| Some(*one) == time).unwrap();
        page.deliveries.iter().map(|delivery| delivered(delivery.delivered_at)).collect::<Vec<_>>()
    };
    let all = DeliveryPageQuery::default;
    assert_eq!(list(all()).await, [5, 4, 3, 2, 1, 0]);
    assert_eq!(list(DeliveryPageQuery { record: Some("r1".into()), ..all() }).await, [4, 1]);
    assert_eq!(list(DeliveryPageQuery { record: Some("R1".into()), ..all() }).await, [0; 0]);
    let created = Some(EventKind::Created);
    assert_eq!(list(DeliveryPageQuery { kind: created, ..all() }).await, [2, 1, 0]);
    let record = Some("r2".into());
    assert_eq!(list(DeliveryPageQuery { kind: Some(EventKind::Updated), record, ..all() }).await, [5]);
    let (since, until) = (Some(times[1]), Some(times[4]));
    assert_eq!(list(DeliveryPageQuery { since, until, ..all() }).await, [3, 2, 1]);
    let status = Some(DeliveryStatus::Waiting);
    assert_eq!(list(DeliveryPageQuery { status, until, ..all() }).await, [0; 0]);
}

#[tokio::test]
async fn handshakes_and_tests_are_not_listed_as_deliveries() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.active_webhook().await;
    let at = fixture.now();
    fixture
        .write_checkpoint(&id, |checkpoint| {
            checkpoint.attempts = vec![
                attempt(AttemptPurpose::Handshake { number: 1 }, 1, at),
                attempt(AttemptPurpose::Test, 1, at),
            ];
        })
        .await;
    let webhook = fixture.stored_webhook(&id).await;
    let page = fixture.history.deliveries(&webhook, &DeliveryPageQuery::default()).await.unwrap();
    assert!(page.deliveries.is_empty() && page.next.is_none());
}

#[tokio::test]
async fn delivery_is_found_by_outgoing_id_and_by_sequence() {
    let fixture = Fixture::new().with_tenants().await;
    let before = fixture.charge("r0", 1).await;
    let id = fixture.active_webhook().await;
    let first = fixture.charge("r1", 1).await;
    fixture.record_failure(&id, first, 1).await;
    let webhook = fixture.stored_webhook(&id).await;
    let by_sequence = fixture.history.delivery(&webhook, sequence(first)).await.unwrap();
    let outgoing = by_sequence.outgoing_id.unwrap();
    let by_id = fixture.history.delivery(&webhook, DeliveryName::Outgoing(outgoing)).await.unwrap();
    assert_eq!(by_id, by_sequence);
    assert!(by_id.body.unwrap().contains(&format!("\"OutgoingId\":\"{outgoing}\"")));
    let unknown = [
        sequence(0),
        sequence(before),
        sequence(99_999),
        DeliveryName::Outgoing(webhook.id),
        DeliveryName::Outgoing(Guid::from_bytes([0; 16])),
    ];
    for name in unknown {
        let found = fixture.history.delivery(&webhook, name).await;
        assert!(matches!(found, Err(HistoryError::NoDelivery)), "{name:?}: {found:?}");
    }
}

#[tokio::test]
async fn deliveries_of_a_deleted_webhook_can_still_be_read() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.active_webhook().await;
    let (delivered, failed) = (fixture.charge("r1", 1).await, fixture.charge("r2", 1).await);
    fixture.record_delivery(&id, delivered).await;
    fixture.record_failure(&id, failed, 1).await;
    let webhook = fixture.stored_webhook(&id).await;
    fixture
        .store
        .change_webhook(webhook.id, None, WebhookChange::Delete, &AuditContext::default())
        .await
        .unwrap();
    let webhook = fixture.stored_webhook(&id).await;
    let page = fixture.history.deliveries(&webhook, &DeliveryPageQuery::default()).await.unwrap();
    assert_eq!(page.deliveries.len(), 2);
    let status = async |name| fixture.history.delivery(&webhook, sequence(name)).await.unwrap().status;
    assert_eq!(status(delivered).await, DeliveryStatus::Delivered);
    assert_eq!(status(failed).await, DeliveryStatus::Failed);
}

#[tokio::test]
async fn event_waits_in_its_lane_behind_its_record_and_before_its_first_attempt() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.active_webhook().await;
    let (first, behind, ahead) =
        (fixture.charge("r1", 1).await, fixture.charge("r1", 2).await, fixture.charge("r2", 1).await);
    fixture.record_failure(&id, first, 1).await;
    fixture.write_checkpoint(&id, |checkpoint| checkpoint.cursor = Some(behind)).await;
    let webhook = fixture.stored_webhook(&id).await;
    let view = async |name| fixture.history.delivery(&webhook, sequence(name)).await.unwrap();
    let next = view(first).await;
    assert_eq!((next.status, next.attempts.len()), (DeliveryStatus::Waiting, 1));
    assert_eq!(next.next_attempt_at, Some(fixture.now() + Duration::from_secs(5)));
    for name in [behind, ahead] {
        let waiting = view(name).await;
        assert_eq!((waiting.status, waiting.next_attempt_at), (DeliveryStatus::Waiting, None));
        assert!(waiting.attempts.is_empty());
    }
}

#[tokio::test]
async fn event_of_a_suspended_webhook_waits_without_a_next_attempt() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.active_webhook().await;
    let first = fixture.charge("r1", 1).await;
    fixture.record_failure(&id, first, 1).await;
    disable_tenant(&fixture).await;
    let webhook = fixture.stored_webhook(&id).await;
    let view = fixture.history.delivery(&webhook, sequence(first)).await.unwrap();
    assert_eq!((view.status, view.next_attempt_at), (DeliveryStatus::Waiting, None));
}

#[tokio::test]
async fn event_that_passed_while_the_webhook_was_disabled_is_unknown() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.active_webhook().await;
    let webhook = fixture.stored_webhook(&id).await.id;
    fixture
        .store
        .change_webhook(webhook, None, WebhookChange::Disable, &AuditContext::default())
        .await
        .unwrap();
    let passed = fixture.charge("r1", 1).await;
    fixture
        .store
        .change_webhook(webhook, None, WebhookChange::Enable, &AuditContext::default())
        .await
        .unwrap();
    let webhook = fixture.stored_webhook(&id).await;
    let view = fixture.history.delivery(&webhook, sequence(passed)).await.unwrap();
    assert_eq!((view.status, view.attempts.len()), (DeliveryStatus::Unknown, 0));
    let shown = fixture
        .charges(webhooks::management::Operation::Delivery)
        .webhook(&id)
        .outgoing(&view.outgoing_id.unwrap().to_string())
        .send()
        .await;
    assert_eq!(shown.body["status"], "failed", "owners know three statuses");
}

#[tokio::test]
async fn delivery_whose_event_was_pruned_is_shown_without_it_and_cannot_be_replayed() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.active_webhook().await;
    let first = fixture.charge("r1", 1).await;
    fixture.record_delivery(&id, first).await;
    let webhook = fixture.stored_webhook(&id).await;
    let outgoing = fixture.history.delivery(&webhook, sequence(first)).await.unwrap().outgoing_id.unwrap();
    fixture.advance(3600);
    fixture.store.prune_log(&webhook.owner.tenant, fixture.now(), 100).await.unwrap();
    for name in [sequence(first), DeliveryName::Outgoing(outgoing)] {
        let view = fixture.history.delivery(&webhook, name).await.unwrap();
        assert_eq!((view.status, view.outgoing_id, view.body), (DeliveryStatus::Delivered, None, None));
        let replay = ReplayRequest::Delivery(name);
        let context = AuditContext::default();
        let refused = fixture.history.request_replay(&webhook, replay, &context).await;
        assert!(matches!(refused, Err(HistoryError::EventPruned)), "{refused:?}");
    }
    let page = fixture.history.deliveries(&webhook, &DeliveryPageQuery::default()).await.unwrap();
    assert_eq!((page.deliveries.len(), page.deliveries[0].event.as_deref()), (1, None));
}
