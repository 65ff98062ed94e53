//! Checkpoints that the delivery engine writes: each has its own result, and all are one transaction.

use std::time::Duration;

use store::{
    AuditEntry, AuditKind, AuditQuery, CheckpointResult, EventGap, HandshakeStep, LeaseRenewal, ReplayKind,
    ReplayStep, WebhookChange, WebhookCheckpoint,
};

use super::codes::context;
use super::fixture::{Fixture, by, concurrently};
use super::test_tenant::{company, customer};
use super::webhook_fixtures::{
    LEASE, accept_handshake, active_webhook, add_lanes_and_replay, create_webhook, failed_attempt,
    find_webhook, guid, lane, load_webhook, new_checkpoint, new_webhook, node, retry, successful_delivery,
    write_checkpoint,
};

pub(crate) async fn cursor_only_moves_forward(fixture: Fixture) {
    let (tenant, store) = (fixture.add_tenant().await, &fixture.store);
    let webhook = active_webhook(&fixture, &tenant, "a").await;
    let mut first = new_checkpoint(store, &webhook).await;
    first.cursor = Some(7);
    first.parked =
        vec![lane(-7, 2, fixture.now()), lane(5, 3, fixture.now()), lane(i64::MIN, 4, fixture.now())];
    write_checkpoint(store, first.clone()).await;
    let mut late = WebhookCheckpoint::new(first.webhook, first.fence, first.revision);
    late.cursor = Some(6);
    late.parked = vec![lane(5, 6, fixture.now())];
    late.cleared = vec![-7, 999];
    write_checkpoint(store, late).await;
    let stored = load_webhook(store, webhook.id).await;
    assert_eq!(stored.webhook.cursor, Some(7));
    let mut lanes = stored.lanes;
    lanes.sort_by_key(|lane| lane.record_key);
    assert_eq!(lanes, [lane(i64::MIN, 4, fixture.now()), lane(5, 6, fixture.now())]);
    assert_eq!(stored.id_key, load_webhook(&fixture.reopen().await.store, webhook.id).await.id_key);
    store.change_webhook(webhook.id, None, WebhookChange::Delete, &by()).await.unwrap();
    assert_eq!(store.outgoing_id_key(webhook.id), stored.id_key, "also after its end");
    assert_eq!(store.checkpoint(Vec::new()).await, Ok(Vec::new()));
}

/// A checkpoint with every field set.
async fn full_checkpoint(fixture: &Fixture, webhook: &store::Webhook, sequence: u64) -> WebhookCheckpoint {
    let now = fixture.now();
    let mut checkpoint = new_checkpoint(&fixture.store, webhook).await;
    checkpoint.cursor = Some(sequence);
    checkpoint.parked = vec![lane(8, sequence, now)];
    checkpoint.disabled = Some("given up".into());
    checkpoint.event_gap = Some(EventGap { at: now, after: 1, through: sequence });
    checkpoint.attempts = vec![failed_attempt(sequence, 1, now)];
    checkpoint.delivered = vec![successful_delivery(sequence, now, 12)];
    let entry = AuditEntry::new(AuditKind::WebhookFailing, now, &context());
    checkpoint.audit = vec![entry.tenant(&webhook.owner.tenant).note("ay\0")];
    checkpoint
}

pub(crate) async fn each_checkpoint_has_its_own_result(fixture: Fixture) {
    let (tenant, store) = (fixture.add_tenant().await, &fixture.store);
    let [current, stale, fenced] = [
        active_webhook(&fixture, &tenant, "a").await,
        active_webhook(&fixture, &tenant, "b").await,
        active_webhook(&fixture, &tenant, "c").await,
    ];
    let mut checkpoints = Vec::new();
    for webhook in [&fenced, &current, &stale] {
        checkpoints.push(full_checkpoint(&fixture, webhook, 5).await);
    }
    checkpoints[0].fence -= 1;
    checkpoints[2].revision += 1;
    checkpoints.push(WebhookCheckpoint::new(guid(3), 1, 1));
    let results = store.checkpoint(checkpoints).await.unwrap();
    assert_eq!(
        results,
        [
            CheckpointResult::Fenced,
            CheckpointResult::Written,
            CheckpointResult::Stale,
            CheckpointResult::Stale
        ]
    );

    let written_webhook = load_webhook(store, current.id).await;
    assert_eq!((written_webhook.webhook.cursor, written_webhook.lanes.len()), (Some(5), 1));
    assert!(written_webhook.webhook.disabled.is_some() && written_webhook.webhook.event_gap.is_some());
    for untouched in [&stale, &fenced] {
        let stored = load_webhook(store, untouched.id).await;
        assert_eq!((&stored.webhook, stored.lanes.len()), (untouched, 0));
    }
    for (webhook, expected) in [(&current, 1), (&stale, 1), (&fenced, 0)] {
        let history = store.delivery_history(webhook.id, 5).await.unwrap();
        assert_eq!((history.attempts.len(), usize::from(history.delivered.is_some())), (expected, expected));
    }
    let failing = AuditQuery { kind: Some(AuditKind::WebhookFailing), rows_max: 9, ..AuditQuery::default() };
    let entries = store.audit(&failing).await.unwrap();
    assert_eq!(entries.len(), 2, "a fenced checkpoint writes no audit entry");
    assert_eq!(entries[0].entry.note, "ay\u{fffd}");
}

/// Attempts of an older revision are recorded; everything else of the checkpoint is discarded.
pub(crate) async fn checkpoint_of_an_older_revision_is_stale(fixture: Fixture) {
    let (tenant, store) = (fixture.add_tenant().await, &fixture.store);
    let webhook = active_webhook(&fixture, &tenant, "a").await;
    let late = full_checkpoint(&fixture, &webhook, 5).await;
    store.change_webhook(webhook.id, None, WebhookChange::Disable, &by()).await.unwrap();
    assert_eq!(store.checkpoint(vec![late.clone()]).await, Ok(vec![CheckpointResult::Stale]));
    let stored = load_webhook(store, webhook.id).await;
    assert_eq!((stored.webhook.cursor, stored.lanes.len(), stored.webhook.disabled), (Some(0), 0, None));
    assert_eq!(store.delivery_history(webhook.id, 5).await.unwrap().attempts, late.attempts);
    // The engine repeats a checkpoint whose result was lost: no attempt is recorded twice.
    assert_eq!(store.checkpoint(vec![late]).await, Ok(vec![CheckpointResult::Stale]));
    assert_eq!(store.delivery_history(webhook.id, 5).await.unwrap().attempts.len(), 1);
}

pub(crate) async fn handshake_is_accepted_once(fixture: Fixture) {
    let (tenant, store) = (fixture.add_tenant().await, &fixture.store);
    tenant.accept([company("c1"), customer("c1", "k1", "Ana")]).await;
    let webhook = create_webhook(store, new_webhook(&fixture, &tenant, "a")).await;
    let step = async |handshake| {
        let mut checkpoint = new_checkpoint(store, &webhook).await;
        checkpoint.handshake = Some(handshake);
        write_checkpoint(store, checkpoint).await;
        find_webhook(store, webhook.id).await
    };
    let failing = retry(2, fixture.now());
    let failed = step(HandshakeStep::Failed { number: 1, retry: failing, answered: None }).await;
    assert_eq!((failed.handshake.retry, failed.handshake.accepted), (Some(failing), false));
    let other = step(HandshakeStep::Accepted { number: 2, head: 1 }).await;
    assert_eq!(other, failed, "the result of another handshake is ignored");
    let accepted = step(HandshakeStep::Accepted { number: 1, head: 1 }).await;
    assert_eq!(
        (accepted.cursor, accepted.initial_cursor, accepted.handshake.retry),
        (Some(1), Some(1), None)
    );
    assert!(accepted.flags().is_active() && accepted.revision == webhook.revision);

    add_lanes_and_replay(&fixture, &webhook).await;
    let lanes = load_webhook(store, webhook.id).await.lanes;
    fixture.clock.advance(Duration::from_secs(60));
    for late in [
        HandshakeStep::Accepted { number: 1, head: 2 },
        HandshakeStep::Failed { number: 1, retry: failing, answered: None },
    ] {
        assert_eq!(step(late).await, accepted);
    }
    assert_eq!(load_webhook(store, webhook.id).await.lanes, lanes);
}

/// A new handshake keeps the cursor and schedules every parked lane at once.
pub(crate) async fn new_handshake_keeps_the_cursor(fixture: Fixture) {
    let (tenant, store) = (fixture.add_tenant().await, &fixture.store);
    let webhook = active_webhook(&fixture, &tenant, "a").await;
    add_lanes_and_replay(&fixture, &webhook).await;
    store
        .change_webhook(webhook.id, None, WebhookChange::ChangeUrl("https://b.example/".into()), &by())
        .await
        .unwrap();
    let changed = find_webhook(store, webhook.id).await;
    let now = fixture.clock.advance(Duration::from_secs(3600));
    accept_handshake(store, &changed, 9).await;
    let stored = load_webhook(store, webhook.id).await;
    assert_eq!((stored.webhook.cursor, stored.webhook.flags().is_active()), (Some(0), true));
    assert!(stored.lanes.iter().all(|lane| lane.retry.next_at == now && lane.retry.attempts == 0));
}

pub(crate) async fn event_gaps_are_merged(fixture: Fixture) {
    let (tenant, store) = (fixture.add_tenant().await, &fixture.store);
    let webhook = active_webhook(&fixture, &tenant, "a").await;
    let now = fixture.now();
    for (after, through) in [(3, 9), (1, 4), (20, 30)] {
        let mut checkpoint = new_checkpoint(store, &webhook).await;
        checkpoint.event_gap = Some(EventGap { at: now, after, through });
        write_checkpoint(store, checkpoint).await;
    }
    assert_eq!(
        find_webhook(store, webhook.id).await.event_gap,
        Some(EventGap { at: now, after: 1, through: 30 })
    );
}

pub(crate) async fn hundreds_of_checkpoints_are_one_transaction(fixture: Fixture) {
    let (tenant, store) = (fixture.add_tenant().await, &fixture.store);
    let mut checkpoints = Vec::new();
    for number in 0..300_u64 {
        let client = domain::ClientId::new(format!("erp{}", number / 50));
        let mut body = new_webhook(&fixture, &tenant, &format!("n{number}"));
        body.owner.client = client;
        let webhook = create_webhook(store, body).await;
        let mut checkpoint = WebhookCheckpoint::new(webhook.id, 0, webhook.revision);
        checkpoint.handshake = Some(HandshakeStep::Accepted { number: 1, head: 3 });
        checkpoint.cursor = Some(number);
        checkpoint.parked = (0..3).map(|key| lane(key, number, fixture.now())).collect();
        checkpoint.attempts = (0..3).map(|key| failed_attempt(key, 1, fixture.now())).collect();
        checkpoint.delivered = (0..20).map(|key| successful_delivery(1000 - key, fixture.now(), 5)).collect();
        checkpoints.push(checkpoint);
    }
    let leases = store.renew_shard_leases(&LeaseRenewal::new(node(), LEASE)).await.unwrap().held;
    for checkpoint in &mut checkpoints {
        checkpoint.fence = leases[usize::from(store::shard_of(checkpoint.webhook))].fence;
    }
    // The second checkpoint of the same webhook is applied after the first.
    let mut second_checkpoint = WebhookCheckpoint::new(checkpoints[299].webhook, checkpoints[299].fence, 1);
    second_checkpoint.cursor = Some(400);
    second_checkpoint.cleared = vec![0];
    checkpoints.push(second_checkpoint);
    let results = store.checkpoint(checkpoints.clone()).await.unwrap();
    assert_eq!(results, vec![CheckpointResult::Written; 301]);
    let (first, last) = (
        load_webhook(store, checkpoints[0].webhook).await,
        load_webhook(store, checkpoints[299].webhook).await,
    );
    assert_eq!((first.webhook.cursor, first.lanes.len()), (Some(3), 3));
    assert_eq!(last.webhook.initial_cursor, Some(3), "the head at the handshake, not the current cursor");
    assert_eq!((last.webhook.cursor, last.lanes.len()), (Some(400), 2));
    assert_eq!(
        store.webhooks(&store::WebhookQuery { rows_max: 400, ..Default::default() }).await.unwrap().len(),
        300
    );
}

pub(crate) async fn replays_are_tracked_until_they_are_done(fixture: Fixture) {
    let (tenant, store) = (fixture.add_tenant().await, &fixture.store);
    let webhook = active_webhook(&fixture, &tenant, "a").await;
    let request_replay = async |kind, through| {
        store.request_replay(webhook.id, kind, (2, through), &by()).await.unwrap().unwrap()
    };
    let before = store.changed_webhooks(0).await.unwrap().last_change;
    let first = request_replay(ReplayKind::Events, 9).await;
    let second = request_replay(ReplayKind::Test, 2).await;
    assert_eq!((first.number, first.position, first.requested_at), (1, 2, fixture.now()));
    assert_eq!((second.number, second.kind), (2, ReplayKind::Test));
    assert_eq!(
        store.changed_webhooks(before).await.unwrap().webhooks,
        [webhook.id],
        "the engine is notified"
    );
    assert_eq!(load_webhook(store, webhook.id).await.replays, [first, second]);
    assert_eq!(load_webhook(store, webhook.id).await.webhook.revision, webhook.revision);

    let step = async |number, position, is_done| {
        let mut checkpoint = new_checkpoint(store, &webhook).await;
        checkpoint.replays = vec![ReplayStep { number, position, delivered: 3, failed: 1, is_done }];
        write_checkpoint(store, checkpoint).await;
    };
    step(1, 5, false).await;
    step(1, 4, false).await;
    step(2, 2, true).await;
    step(77, 2, true).await;
    let under_way = store::Replay { position: 5, delivered: 3, failed: 1, ..first };
    assert_eq!(load_webhook(store, webhook.id).await.replays, [under_way]);
    let done = store::Replay { delivered: 3, failed: 1, is_done: true, ..second };
    assert_eq!(store.replays(webhook.id, 10).await, Ok(vec![done, under_way]));
    assert_eq!(store.replays(webhook.id, 1).await, Ok(vec![done]));
    store.change_webhook(webhook.id, None, WebhookChange::Disable, &by()).await.unwrap();
    assert_eq!(
        store.replays(webhook.id, 10).await,
        Ok(vec![done]),
        "open replays are cancelled with the lanes"
    );
    assert_eq!(request_replay(ReplayKind::Events, 9).await.number, 3, "numbers are not reused");
    assert_eq!(store.request_replay(guid(3), ReplayKind::Events, (0, 1), &by()).await, Ok(None));
}

/// Concurrent checkpoints, changes and replay requests through two open stores do not deadlock.
pub(crate) async fn concurrent_checkpoints_are_all_written(fixture: Fixture) {
    let (tenant, second_store) = (fixture.add_tenant().await, fixture.reopen().await.store);
    let mut webhooks = Vec::new();
    for number in 0..12 {
        webhooks.push(active_webhook(&fixture, &tenant, &format!("n{number}")).await);
    }
    let leases = fixture.store.renew_shard_leases(&LeaseRenewal::new(node(), LEASE)).await.unwrap().held;
    let checkpoint_of = |webhook: &store::Webhook, cursor| {
        let fence = leases[usize::from(store::shard_of(webhook.id))].fence;
        let mut checkpoint = WebhookCheckpoint::new(webhook.id, fence, webhook.revision);
        checkpoint.cursor = Some(cursor);
        checkpoint.parked = vec![lane(1, cursor, fixture.now())];
        checkpoint.attempts = vec![failed_attempt(cursor, 1, fixture.now())];
        checkpoint
    };
    for round in 0..3 {
        concurrently(24, &[&fixture.store, &second_store], |number, store| {
            let webhook = webhooks[number / 2].clone();
            let mut checkpoints: Vec<WebhookCheckpoint> =
                webhooks.iter().map(|webhook| checkpoint_of(webhook, round * 100 + number as u64)).collect();
            checkpoints.rotate_left(number / 2);
            async move {
                match number % 4 {
                    0 | 1 => {
                        let results = store.checkpoint(checkpoints).await.unwrap();
                        assert!(!results.contains(&CheckpointResult::Fenced));
                    }
                    2 => {
                        let secret = domain::Secret::new(format!("{round} {number}"));
                        let rotate =
                            WebhookChange::RotateSecret { secret, previous_valid_until: webhook.created_at };
                        store.change_webhook(webhook.id, None, rotate, &by()).await.unwrap();
                        store.renew_shard_leases(&LeaseRenewal::new(node(), LEASE)).await.unwrap();
                    }
                    _ => {
                        store
                            .request_replay(webhook.id, ReplayKind::Events, (0, 1), &by())
                            .await
                            .unwrap()
                            .unwrap();
                    }
                }
            }
        })
        .await;
    }
    for webhook in &webhooks {
        assert_eq!(find_webhook(&fixture.store, webhook.id).await.cursor, Some(221));
    }
}
