//! Replays and test events: what is sent, to which webhooks, and what the audit records.

use std::time::Duration;

use domain::delivery::{DeliveryName, ReplayRequest, ReplayView};
use domain::event::EventKind;
use domain::outgoing_id::IdKey;
use domain::{AccountId, Guid, Suspension, Ticks, WebhookStatus};
use store::{Actor, Audit as _, AuditContext, AuditQuery, ReplayStep, WebhookChange, Webhooks as _};
use webhooks::history::HistoryError;

use super::disable_tenant;
use crate::fixture::{Fixture, START};

type Requested = Result<ReplayView, HistoryError>;

async fn request(fixture: &Fixture, id: &str, request: ReplayRequest) -> Requested {
    let webhook = fixture.stored_webhook(id).await;
    let context =
        AuditContext { actor: Actor::Operator, address: "192.0.2.7".into(), request_id: "request-1".into() };
    fixture.history.request_replay(&webhook, request, &context).await
}

async fn replay_span(fixture: &Fixture, id: &str, from: Ticks, to: Option<Ticks>) -> Requested {
    request(fixture, id, ReplayRequest::Span { from, to }).await
}

fn delivery(sequence: u64) -> ReplayRequest {
    ReplayRequest::Delivery(DeliveryName::Sequence(sequence))
}

#[tokio::test]
async fn only_events_after_the_first_contract_are_replayed() {
    let fixture = Fixture::new().with_tenants().await;
    let before = fixture.charge("r0", 1).await;
    fixture.advance(10);
    let early = fixture.now();
    let id = fixture.active_webhook().await;
    fixture.advance(10);
    let (first, last) = (fixture.charge("r1", 1).await, fixture.charge("r2", 1).await);
    let one = request(&fixture, &id, delivery(first)).await.unwrap();
    assert_eq!((one.number, one.after, one.through), (1, first - 1, first));
    let all = replay_span(&fixture, &id, START, None).await.unwrap();
    assert_eq!((all.after, all.through), (before, last));
    let older = request(&fixture, &id, delivery(before)).await;
    assert!(matches!(older, Err(HistoryError::NoDelivery)), "{older:?}");
    let older = replay_span(&fixture, &id, START, Some(early)).await;
    assert!(matches!(older, Err(HistoryError::NotEntitled)), "{older:?}");
}

#[tokio::test]
async fn delivery_of_another_webhook_is_answered_as_one_that_never_was() {
    let fixture = Fixture::new().with_tenants().await;
    let own = fixture.active_webhook().await;
    let sequence = fixture.charge("r1", 1).await;
    // Every webhook has a key of its own for the ids of its deliveries.
    let theirs = IdKey::new(&[9; 32]).event_id(sequence, Guid::from_bytes([7; 16]));
    for name in [
        DeliveryName::Outgoing(theirs),
        DeliveryName::Outgoing(Guid::parse(&own).unwrap()),
        DeliveryName::Sequence(sequence + 1),
        DeliveryName::Sequence(u64::MAX),
    ] {
        let refused = request(&fixture, &own, ReplayRequest::Delivery(name)).await;
        assert!(matches!(refused, Err(HistoryError::NoDelivery)), "{name:?}: {refused:?}");
    }
}

#[tokio::test]
async fn span_without_an_end_reaches_the_end_of_the_log() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.active_webhook().await;
    let mut last = 0;
    // Each change of the same tick gets a version one tick later, ahead of the clock.
    for number in 0..5 {
        last = fixture.charge(&format!("r{number}"), number).await;
    }
    let all = replay_span(&fixture, &id, START, None).await.unwrap();
    assert_eq!(all.through, last);
    let until_now = replay_span(&fixture, &id, START, Some(fixture.now())).await;
    assert!(!matches!(until_now, Ok(replay) if replay.through == last), "versions run ahead of the clock");
    let future = fixture.now() + Duration::from_secs(3600);
    let nothing = replay_span(&fixture, &id, future, None).await;
    assert!(matches!(nothing, Err(HistoryError::NothingToReplay)), "{nothing:?}");
}

#[tokio::test]
async fn span_must_not_end_before_it_begins() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.active_webhook().await;
    let later = START + Duration::from_secs(1);
    let reversed = replay_span(&fixture, &id, later, Some(START)).await;
    assert!(matches!(reversed, Err(HistoryError::SpanReversed)), "{reversed:?}");
}

#[tokio::test]
async fn replays_are_refused_unless_the_webhook_is_active() {
    let fixture = Fixture::new().with_tenants().await;
    let awaiting = fixture.subscribe_to_customers().await;
    let refused = request(&fixture, &awaiting, ReplayRequest::TestEvent).await;
    assert!(matches!(refused, Err(HistoryError::Inactive(WebhookStatus::AwaitingContract))), "{refused:?}");
    let id = fixture.active_webhook().await;
    let sequence = fixture.charge("r1", 1).await;
    let webhook = fixture.stored_webhook(&id).await.id;
    fixture
        .store
        .change_webhook(webhook, None, WebhookChange::Disable, &AuditContext::default())
        .await
        .unwrap();
    for wanted in
        [ReplayRequest::TestEvent, delivery(sequence), ReplayRequest::Span { from: START, to: None }]
    {
        let refused = request(&fixture, &id, wanted).await;
        assert!(matches!(refused, Err(HistoryError::Inactive(WebhookStatus::Disabled))), "{refused:?}");
    }
    fixture
        .store
        .change_webhook(webhook, None, WebhookChange::Enable, &AuditContext::default())
        .await
        .unwrap();
    disable_tenant(&fixture).await;
    let refused = request(&fixture, &id, ReplayRequest::TestEvent).await;
    assert!(matches!(refused, Err(HistoryError::Suspended(Suspension::TenantDisabled))), "{refused:?}");
    fixture
        .store
        .change_webhook(webhook, None, WebhookChange::Delete, &AuditContext::default())
        .await
        .unwrap();
    let refused = request(&fixture, &id, ReplayRequest::TestEvent).await;
    assert!(matches!(refused, Err(HistoryError::Inactive(WebhookStatus::Deleted))), "{refused:?}");
}

#[tokio::test]
async fn ten_replays_may_be_open_and_each_wakes_the_engine() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.active_webhook().await;
    let notified = fixture.notified.0.lock().len();
    for number in 1..=10 {
        let replay = request(&fixture, &id, ReplayRequest::TestEvent).await.unwrap();
        assert_eq!((replay.number, replay.is_test), (number, true));
    }
    assert_eq!(fixture.notified.0.lock().len(), notified + 10);
    let refused = request(&fixture, &id, ReplayRequest::TestEvent).await;
    assert!(matches!(refused, Err(HistoryError::TooManyReplays(10))), "{refused:?}");
    let step = ReplayStep { number: 1, position: 0, delivered: 1, failed: 0, is_done: true };
    fixture.write_checkpoint(&id, |checkpoint| checkpoint.replays = vec![step]).await;
    request(&fixture, &id, ReplayRequest::TestEvent).await.unwrap();
    let webhook = fixture.stored_webhook(&id).await;
    let replays = fixture.history.replays(&webhook).await.unwrap();
    assert_eq!(
        replays.iter().map(|replay| replay.number).collect::<Vec<_>>(),
        (1..=11).rev().collect::<Vec<_>>()
    );
    assert!(replays.iter().all(|replay| replay.is_done == (replay.number == 1)));
}

#[tokio::test]
async fn test_event_is_of_a_kind_that_the_webhook_subscribes_to() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.active_webhook().await;
    let subscribed = fixture.stored_webhook(&id).await.kinds;
    let mut requested = 0;
    for kind in EventKind::ALL {
        let replay = request(&fixture, &id, ReplayRequest::TestEventOf(kind)).await;
        if subscribed.contains(kind) {
            requested += 1;
            let replay = replay.unwrap();
            assert_eq!((replay.is_test, replay.after, replay.through), (true, 0, 0));
        } else {
            assert!(matches!(replay, Err(HistoryError::NotSubscribed)), "{kind:?}: {replay:?}");
        }
    }
    assert!((1..EventKind::ALL.len()).contains(&requested), "{requested}");
}

#[tokio::test]
async fn audit_names_the_requester_of_replays_and_tests() {
    let fixture = Fixture::new().with_tenants().await;
    let id = fixture.active_webhook().await;
    let sequence = fixture.charge("r1", 1).await;
    let webhook = fixture.stored_webhook(&id).await;
    for actor in [Actor::User(AccountId::new("user-1")), Actor::Operator] {
        let context = AuditContext { actor, ..AuditContext::default() };
        for wanted in [delivery(sequence), ReplayRequest::TestEvent] {
            fixture.advance(1);
            fixture.history.request_replay(&webhook, wanted, &context).await.unwrap();
        }
    }
    let query = AuditQuery { rows_max: 4, ..AuditQuery::default() };
    let mut entries = fixture.store.audit(&query).await.unwrap();
    entries.reverse();
    let notes: Vec<_> =
        entries.iter().map(|record| (record.entry.kind.as_str(), record.entry.note.clone())).collect();
    let replayed = format!("webhook {id}: replay of events {sequence} to {sequence} requested");
    let both =
        [("webhook_replayed", replayed), ("webhook_changed", format!("webhook {id}: test event requested"))];
    assert_eq!(notes, [both.clone(), both].concat());
    let actors: Vec<_> = entries.iter().map(|record| record.entry.context.actor.to_string()).collect();
    assert_eq!(actors, ["user:user-1", "user:user-1", "operator", "operator"]);
    assert_eq!(entries[0].entry.object, Some(format!("webhook:{id}")));
    assert!(entries[0].entry.user.is_some() && entries[2].entry.user.is_none());
}
