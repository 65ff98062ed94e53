//! What the delivery engine writes: each point judged for itself, all of them in one transaction.

use std::time::Duration;

use store::{
    AuditEntry, AuditKind, AuditQuery, CheckpointResult, EventGap, HandshakeStep, ReplayKind, ReplayStep,
    WebhookChange, WebhookCheckpoint,
};

use super::codes::context;
use super::desk::{company, customer};
use super::stage::{Stage, at_once};
use super::webhook_fixtures::{
    LEASE, accept, body, contracted, delivered, failed, found, guid, in_trouble, lane, load_webhook, made,
    node, point, retry, written,
};

pub(crate) async fn a_cursor_only_ever_moves_forward(stage: Stage) {
    let (desk, store) = (stage.desk().await, &stage.store);
    let webhook = contracted(&stage, &desk, "a").await;
    let mut first = point(store, &webhook).await;
    first.cursor = Some(7);
    first.parked = vec![lane(-7, 2, stage.now()), lane(5, 3, stage.now()), lane(i64::MIN, 4, stage.now())];
    written(store, first.clone()).await;
    let mut late = WebhookCheckpoint::new(first.webhook, first.fence, first.revision);
    late.cursor = Some(6);
    late.parked = vec![lane(5, 6, stage.now())];
    late.cleared = vec![-7, 999];
    written(store, late).await;
    let kept = load_webhook(store, webhook.id).await;
    assert_eq!(kept.webhook.cursor, Some(7));
    let mut lanes = kept.lanes;
    lanes.sort_by_key(|lane| lane.record_key);
    assert_eq!(lanes, [lane(i64::MIN, 4, stage.now()), lane(5, 6, stage.now())]);
    assert_eq!(kept.id_key, load_webhook(&stage.reopen().await.store, webhook.id).await.id_key);
    store.change_webhook(webhook.id, None, WebhookChange::Delete).await.unwrap();
    assert_eq!(store.outgoing_id_key(webhook.id), kept.id_key, "also where it is over");
    assert_eq!(store.checkpoint(Vec::new()).await, Ok(Vec::new()));
}

/// Everything that a point can carry.
async fn full(stage: &Stage, webhook: &store::Webhook, sequence: u64) -> WebhookCheckpoint {
    let now = stage.now();
    let mut point = point(&stage.store, webhook).await;
    point.cursor = Some(sequence);
    point.parked = vec![lane(8, sequence, now)];
    point.disabled = Some("given up".into());
    point.event_gap = Some(EventGap { at: now, after: 1, through: sequence });
    point.attempts = vec![failed(sequence, 1, now)];
    point.delivered = vec![delivered(sequence, now, 12)];
    let entry = AuditEntry::new(AuditKind::WebhookFailing, now, &context());
    point.audit = vec![entry.tenant(&webhook.owner.tenant).note("ay\0")];
    point
}

pub(crate) async fn each_point_is_judged_for_itself(stage: Stage) {
    let (desk, store) = (stage.desk().await, &stage.store);
    let [current, stale, fenced] = [
        contracted(&stage, &desk, "a").await,
        contracted(&stage, &desk, "b").await,
        contracted(&stage, &desk, "c").await,
    ];
    let mut points = Vec::new();
    for webhook in [&fenced, &current, &stale] {
        points.push(full(&stage, webhook, 5).await);
    }
    points[0].fence -= 1;
    points[2].revision += 1;
    points.push(WebhookCheckpoint::new(guid(3), 1, 1));
    let verdicts = store.checkpoint(points).await.unwrap();
    assert_eq!(
        verdicts,
        [
            CheckpointResult::Fenced,
            CheckpointResult::Written,
            CheckpointResult::Stale,
            CheckpointResult::Stale
        ]
    );

    let taken = load_webhook(store, current.id).await;
    assert_eq!((taken.webhook.cursor, taken.lanes.len()), (Some(5), 1));
    assert!(taken.webhook.disabled.is_some() && taken.webhook.event_gap.is_some());
    for untouched in [&stale, &fenced] {
        let kept = load_webhook(store, untouched.id).await;
        assert_eq!((&kept.webhook, kept.lanes.len()), (untouched, 0));
    }
    for (webhook, expected) in [(&current, 1), (&stale, 1), (&fenced, 0)] {
        let told = store.delivery_history(webhook.id, 5).await.unwrap();
        assert_eq!((told.attempts.len(), usize::from(told.delivered.is_some())), (expected, expected));
    }
    let failing = AuditQuery { kind: Some(AuditKind::WebhookFailing), rows_max: 9, ..AuditQuery::default() };
    let told = store.audit(&failing).await.unwrap();
    assert_eq!(told.len(), 2, "nothing of who does not hold the shard");
    assert_eq!(told[0].entry.note, "ay\u{fffd}");
}

/// What was tried before its owner changed it is told, and changes nothing.
pub(crate) async fn a_change_by_its_owner_outdates_what_the_engine_knew(stage: Stage) {
    let (desk, store) = (stage.desk().await, &stage.store);
    let webhook = contracted(&stage, &desk, "a").await;
    let late = full(&stage, &webhook, 5).await;
    store.change_webhook(webhook.id, None, WebhookChange::Disable).await.unwrap();
    assert_eq!(store.checkpoint(vec![late.clone()]).await, Ok(vec![CheckpointResult::Stale]));
    let kept = load_webhook(store, webhook.id).await;
    assert_eq!((kept.webhook.cursor, kept.lanes.len(), kept.webhook.disabled), (Some(0), 0, None));
    assert_eq!(store.delivery_history(webhook.id, 5).await.unwrap().attempts, late.attempts);
    // Told again, because the answer was lost: nothing is there twice.
    assert_eq!(store.checkpoint(vec![late]).await, Ok(vec![CheckpointResult::Stale]));
    assert_eq!(store.delivery_history(webhook.id, 5).await.unwrap().attempts.len(), 1);
}

pub(crate) async fn a_contract_is_made_once(stage: Stage) {
    let (desk, store) = (stage.desk().await, &stage.store);
    desk.accept([company("c1"), customer("c1", "k1", "Ana")]).await;
    let webhook = made(store, body(&stage, &desk, "a")).await;
    let step = async |handshake| {
        let mut point = point(store, &webhook).await;
        point.handshake = Some(handshake);
        written(store, point).await;
        found(store, webhook.id).await
    };
    let failing = retry(2, stage.now());
    let failed = step(HandshakeStep::Failed { number: 1, retry: failing }).await;
    assert_eq!((failed.handshake.retry, failed.handshake.accepted), (Some(failing), false));
    let other = step(HandshakeStep::Accepted { number: 2, head: 1 }).await;
    assert_eq!(other, failed, "another handshake's answer is none of its business");
    let accepted = step(HandshakeStep::Accepted { number: 1, head: 1 }).await;
    assert_eq!(
        (accepted.cursor, accepted.initial_cursor, accepted.handshake.retry),
        (Some(1), Some(1), None)
    );
    assert!(accepted.flags().is_active() && accepted.revision == webhook.revision);

    in_trouble(&stage, &webhook).await;
    let lanes = load_webhook(store, webhook.id).await.lanes;
    stage.clock.forward(Duration::from_secs(60));
    for late in
        [HandshakeStep::Accepted { number: 1, head: 2 }, HandshakeStep::Failed { number: 1, retry: failing }]
    {
        assert_eq!(step(late).await, accepted);
    }
    assert_eq!(load_webhook(store, webhook.id).await.lanes, lanes);
}

/// A new contract keeps the cursor and has everything that waited tried at once.
pub(crate) async fn a_new_contract_goes_on_where_the_old_one_ended(stage: Stage) {
    let (desk, store) = (stage.desk().await, &stage.store);
    let webhook = contracted(&stage, &desk, "a").await;
    in_trouble(&stage, &webhook).await;
    store
        .change_webhook(webhook.id, None, WebhookChange::ChangeUrl("https://b.example/".into()))
        .await
        .unwrap();
    let moved = found(store, webhook.id).await;
    let now = stage.clock.forward(Duration::from_secs(3600));
    accept(store, &moved, 9).await;
    let kept = load_webhook(store, webhook.id).await;
    assert_eq!((kept.webhook.cursor, kept.webhook.flags().is_active()), (Some(0), true));
    assert!(kept.lanes.iter().all(|lane| lane.retry.next_at == now && lane.retry.attempts == 0));
}

pub(crate) async fn losses_are_joined(stage: Stage) {
    let (desk, store) = (stage.desk().await, &stage.store);
    let webhook = contracted(&stage, &desk, "a").await;
    let now = stage.now();
    for (after, through) in [(3, 9), (1, 4), (20, 30)] {
        let mut point = point(store, &webhook).await;
        point.event_gap = Some(EventGap { at: now, after, through });
        written(store, point).await;
    }
    assert_eq!(found(store, webhook.id).await.event_gap, Some(EventGap { at: now, after: 1, through: 30 }));
}

pub(crate) async fn hundreds_of_points_are_one_checkpoint(stage: Stage) {
    let (desk, store) = (stage.desk().await, &stage.store);
    let mut points = Vec::new();
    for number in 0..300_u64 {
        let client = domain::ClientId::new(format!("erp{}", number / 50));
        let mut body = body(&stage, &desk, &format!("n{number}"));
        body.owner.client = client;
        let webhook = made(store, body).await;
        let mut point = WebhookCheckpoint::new(webhook.id, 0, webhook.revision);
        point.handshake = Some(HandshakeStep::Accepted { number: 1, head: 3 });
        point.cursor = Some(number);
        point.parked = (0..3).map(|key| lane(key, number, stage.now())).collect();
        point.attempts = (0..3).map(|key| failed(key, 1, stage.now())).collect();
        point.delivered = (0..20).map(|key| delivered(1000 - key, stage.now(), 5)).collect();
        points.push(point);
    }
    let held = store.renew_shard_leases(node(), 1, LEASE).await.unwrap();
    for point in &mut points {
        point.fence = held[usize::from(store::shard_of(point.webhook))].fence;
    }
    // The second word about the same webhook follows the first.
    let mut more = WebhookCheckpoint::new(points[299].webhook, points[299].fence, 1);
    more.cursor = Some(400);
    more.cleared = vec![0];
    points.push(more);
    let verdicts = store.checkpoint(points.clone()).await.unwrap();
    assert_eq!(verdicts, vec![CheckpointResult::Written; 301]);
    let (first, last) =
        (load_webhook(store, points[0].webhook).await, load_webhook(store, points[299].webhook).await);
    assert_eq!((first.webhook.cursor, first.lanes.len()), (Some(3), 3));
    assert_eq!(
        last.webhook.initial_cursor,
        Some(3),
        "where the contract was made, not how far it came since"
    );
    assert_eq!((last.webhook.cursor, last.lanes.len()), (Some(400), 2));
    assert_eq!(
        store.webhooks(&store::WebhookQuery { rows_max: 400, ..Default::default() }).await.unwrap().len(),
        300
    );
}

pub(crate) async fn replays_are_followed_to_their_end(stage: Stage) {
    let (desk, store) = (stage.desk().await, &stage.store);
    let webhook = contracted(&stage, &desk, "a").await;
    let ask =
        async |kind, through| store.request_replay(webhook.id, kind, 2, through).await.unwrap().unwrap();
    let before = store.changed_webhooks(0).await.unwrap().last_change;
    let first = ask(ReplayKind::Events, 9).await;
    let second = ask(ReplayKind::Test, 2).await;
    assert_eq!((first.number, first.position, first.requested_at), (1, 2, stage.now()));
    assert_eq!((second.number, second.kind), (2, ReplayKind::Test));
    assert_eq!(store.changed_webhooks(before).await.unwrap().webhooks, [webhook.id], "the engine is told");
    assert_eq!(load_webhook(store, webhook.id).await.replays, [first, second]);
    assert_eq!(load_webhook(store, webhook.id).await.webhook.revision, webhook.revision);

    let step = async |number, position, is_done| {
        let mut point = point(store, &webhook).await;
        point.replays = vec![ReplayStep { number, position, delivered: 3, failed: 1, is_done }];
        written(store, point).await;
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
    store.change_webhook(webhook.id, None, WebhookChange::Disable).await.unwrap();
    assert_eq!(store.replays(webhook.id, 10).await, Ok(vec![done]), "open ones go with the lanes");
    assert_eq!(ask(ReplayKind::Events, 9).await.number, 3, "no number is given twice");
    assert_eq!(store.request_replay(guid(3), ReplayKind::Events, 0, 1).await, Ok(None));
}

/// However many write, change and ask at once, at both handles: nobody waits for one who waits for him.
pub(crate) async fn what_many_write_at_once_is_all_written(stage: Stage) {
    let (desk, there) = (stage.desk().await, stage.reopen().await.store);
    let mut webhooks = Vec::new();
    for number in 0..12 {
        webhooks.push(contracted(&stage, &desk, &format!("n{number}")).await);
    }
    let held = stage.store.renew_shard_leases(node(), 1, LEASE).await.unwrap();
    let point = |webhook: &store::Webhook, cursor| {
        let fence = held[usize::from(store::shard_of(webhook.id))].fence;
        let mut point = WebhookCheckpoint::new(webhook.id, fence, webhook.revision);
        point.cursor = Some(cursor);
        point.parked = vec![lane(1, cursor, stage.now())];
        point.attempts = vec![failed(cursor, 1, stage.now())];
        point
    };
    for round in 0..3 {
        at_once(24, &[&stage.store, &there], |number, store| {
            let one = webhooks[number / 2].clone();
            let mut points: Vec<WebhookCheckpoint> =
                webhooks.iter().map(|webhook| point(webhook, round * 100 + number as u64)).collect();
            points.rotate_left(number / 2);
            async move {
                match number % 4 {
                    0 | 1 => {
                        let verdicts = store.checkpoint(points).await.unwrap();
                        assert!(!verdicts.contains(&CheckpointResult::Fenced));
                    }
                    2 => {
                        let secret = domain::Secret::new(format!("{round} {number}"));
                        let rotate =
                            WebhookChange::RotateSecret { secret, previous_valid_until: one.created_at };
                        store.change_webhook(one.id, None, rotate).await.unwrap();
                        store.renew_shard_leases(node(), 1, LEASE).await.unwrap();
                    }
                    _ => {
                        store.request_replay(one.id, ReplayKind::Events, 0, 1).await.unwrap().unwrap();
                    }
                }
            }
        })
        .await;
    }
    for webhook in &webhooks {
        assert_eq!(found(&stage.store, webhook.id).await.cursor, Some(221));
    }
}
