//! What was tried and how it went: rows for failures, packs for successes, both read back newest first.

use std::time::Duration;

use domain::{Guid, Ticks};
use store::{
    AttemptPurpose, AttemptRecord, DeliveryHistory, DeliveryQuery, ReplayKind, ReplayStep, RetentionCutoffs,
    SuccessfulDelivery, Webhook, WebhookStats,
};

use super::desk::{Desk, company, customer, disable, journal};
use super::stage::Stage;
use super::webhook_fixtures::{contracted, delivered, failed, guid, lane, point, retry, written};

fn all(webhook: Guid) -> DeliveryQuery {
    DeliveryQuery { webhook, before: None, since: None, only_failed: false, rows_max: 1000 }
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

async fn remember(
    stage: &Stage,
    webhook: &Webhook,
    attempts: &[AttemptRecord],
    delivered: &[SuccessfulDelivery],
) {
    let mut point = point(&stage.store, webhook).await;
    point.attempts = attempts.to_vec();
    point.delivered = delivered.to_vec();
    written(&stage.store, point).await;
}

pub(crate) async fn attempts_are_kept_as_given_newest_first(stage: Stage) {
    let (desk, store, start) = (stage.desk().await, &stage.store, stage.now());
    let webhook = contracted(&stage, &desk, "a").await;
    let other = contracted(&stage, &desk, "b").await;
    let mut attempts: Vec<AttemptRecord> =
        (0..10).map(|number| failed(number + 1, 1, start + seconds(number / 3))).collect();
    attempts[1].status = None;
    attempts[2].purpose = AttemptPurpose::Handshake { number: 7 };
    attempts[3].purpose = AttemptPurpose::Replay { sequence: 3 };
    attempts[3].succeeded = true;
    attempts[4].purpose = AttemptPurpose::Test;
    attempts[5].excerpt = "a\0b".into();
    attempts[5].timing.total = Duration::ZERO;
    remember(&stage, &webhook, &attempts, &[]).await;
    remember(&stage, &other, &attempts[..1], &[]).await;
    attempts[5].excerpt = "a\u{fffd}b".into();
    attempts.sort_by_key(|one| std::cmp::Reverse(one.cursor()));
    assert_eq!(store.attempts(&all(webhook.id)).await, Ok(attempts.clone()));
    assert_eq!(store.attempts(&all(other.id)).await.unwrap().len(), 1);
    assert_eq!(store.attempts(&all(guid(3))).await, Ok(Vec::new()));

    let failures = DeliveryQuery { only_failed: true, ..all(webhook.id) };
    assert_eq!(store.attempts(&failures).await.unwrap().len(), 9);
    let since = DeliveryQuery { since: Some(start + seconds(2)), ..all(webhook.id) };
    assert_eq!(store.attempts(&since).await, Ok(attempts[..4].to_vec()));
    let mut paged: Vec<AttemptRecord> = Vec::new();
    loop {
        let before = paged.last().map(AttemptRecord::cursor);
        let page = store.attempts(&DeliveryQuery { before, rows_max: 3, ..all(webhook.id) }).await.unwrap();
        if page.is_empty() {
            break;
        }
        paged.extend(page);
    }
    assert_eq!(paged, attempts);
}

/// Far apart in time and number, out of order, many at once: all come back.
pub(crate) async fn deliveries_are_packed_and_read_back(stage: Stage) {
    let (desk, store, start) = (stage.desk().await, &stage.store, stage.now());
    let webhook = contracted(&stage, &desk, "a").await;
    let mut expected = Vec::new();
    for batch in 0..6_u64 {
        let batch: Vec<SuccessfulDelivery> = (0..300_u64)
            .map(|number| {
                let sequence = 1 + batch * 300 + number * if number > 280 { 1_000_000 } else { 1 };
                let at =
                    Ticks(start.0 + i64::try_from((batch * 300 + number * 7 % 300) * 1_000_003).unwrap());
                delivered(sequence, at, u32::try_from(number).unwrap() * 77_777)
            })
            .collect();
        remember(&stage, &webhook, &[], &batch).await;
        expected.extend(batch);
    }
    expected.sort_by_key(|one| std::cmp::Reverse((one.at, one.sequence)));
    let query = DeliveryQuery { rows_max: 5000, ..all(webhook.id) };
    assert_eq!(store.successful_deliveries(&query).await, Ok(expected.clone()));
    assert_eq!(
        store.successful_deliveries(&DeliveryQuery { rows_max: 7, ..query.clone() }).await.unwrap(),
        expected[..7]
    );
    let since = expected[100].at;
    let newer =
        store.successful_deliveries(&DeliveryQuery { since: Some(since), ..query.clone() }).await.unwrap();
    assert_eq!(newer, expected[..101]);
    assert_eq!(
        store.successful_deliveries(&DeliveryQuery { only_failed: true, ..query.clone() }).await,
        Ok(Vec::new())
    );
    let mut paged: Vec<SuccessfulDelivery> = Vec::new();
    loop {
        let before = paged.last().map(|one| (one.at, one.sequence));
        let page = store
            .successful_deliveries(&DeliveryQuery { before, rows_max: 250, ..query.clone() })
            .await
            .unwrap();
        if page.is_empty() {
            break;
        }
        paged.extend(page);
    }
    assert_eq!(paged, expected);
    for one in expected.iter().step_by(97) {
        assert_eq!(store.delivery_history(webhook.id, one.sequence).await.unwrap().delivered, Some(*one));
    }
}

pub(crate) async fn all_is_known_of_one_events_delivery(stage: Stage) {
    let (desk, store, start) = (stage.desk().await, &stage.store, stage.now());
    let webhook = contracted(&stage, &desk, "a").await;
    let tries: Vec<AttemptRecord> =
        (1..4).map(|number| failed(5, number, start + seconds(number.into()))).collect();
    let mut replayed = failed(5, 1, start + seconds(60));
    replayed.purpose = AttemptPurpose::Replay { sequence: 5 };
    let mut handshake = failed(5, 1, start);
    handshake.purpose = AttemptPurpose::Handshake { number: 5 };
    let others = [failed(6, 1, start), handshake];
    let kept = [&tries[..], &[replayed.clone()], &others].concat();
    let came = delivered(5, start + seconds(30), 9);
    remember(&stage, &webhook, &kept, &[delivered(4, start, 1), came, delivered(6, start, 1)]).await;
    let expected = [&tries[..], &[replayed]].concat();
    let told = store.delivery_history(webhook.id, 5).await;
    assert_eq!(told, Ok(DeliveryHistory { sequence: 5, delivered: Some(came), attempts: expected }));
    let nothing = |sequence| DeliveryHistory { sequence, delivered: None, attempts: Vec::new() };
    assert_eq!(store.delivery_history(webhook.id, 7).await, Ok(nothing(7)));
    assert_eq!(store.delivery_history(webhook.id, 0).await, Ok(nothing(0)));
    assert_eq!(store.delivery_history(guid(3), 5).await, Ok(nothing(5)));
    // It came again, later.
    let again = delivered(5, start + seconds(90), 4);
    remember(&stage, &webhook, &[], &[again]).await;
    assert_eq!(store.delivery_history(webhook.id, 5).await.unwrap().delivered, Some(again));
}

async fn busy(desk: &Desk) {
    desk.accept([company("c1"), customer("c1", "k1", "Ana"), customer("c1", "k2", "Eva")]).await;
    desk.accept([journal("c1", "j1", "{}"), customer("c1", "k1", "Berta"), customer("c1", "k3", "Luz")])
        .await;
    desk.accept([disable(customer("c1", "k1", "")), customer("c1", "k2", "Iria")]).await;
}

pub(crate) async fn an_outlook_tells_how_a_webhook_does(stage: Stage) {
    let (desk, store, start) = (stage.desk().await, &stage.store, stage.now());
    assert_eq!(store.webhook_stats(guid(3), start).await, Ok(WebhookStats::default()));
    let webhook = contracted(&stage, &desk, "a").await;
    assert_eq!(store.webhook_stats(webhook.id, start).await, Ok(WebhookStats::default()));
    busy(&desk).await;
    let key = store.read_tail(&desk.tenant, webhook.resource, 0, 1).await.unwrap().events[0].record_key;
    let late = start + seconds(40);
    let mut point = point(store, &webhook).await;
    point.cursor = Some(6);
    let renewed = store::Lane { retry: retry(0, start), ..lane(77, 3, start) };
    point.parked = vec![lane(key, 5, late), renewed];
    point.attempts = vec![failed(2, 1, start), failed(5, 1, late), failed(5, 2, late + seconds(1))];
    let mut test = failed(0, 1, late);
    test.purpose = AttemptPurpose::Test;
    point.attempts.push(test);
    let ms = |number: u64| u32::try_from(number).unwrap();
    let before = (0..10).map(|number| delivered(1 + number, start + seconds(number), 9000));
    let after = (0..100).map(|number| delivered(100 + number, late + seconds(number % 20), ms(number) + 1));
    point.delivered = before.chain(after).collect();
    written(store, point).await;
    let webhook_stats = store.webhook_stats(webhook.id, late).await.unwrap();
    let expected = WebhookStats {
        delivered: 100,
        failed: 2,
        p95_ms: Some(95),
        last_delivered_at: Some(late + seconds(19)),
        lanes: 2,
        failing_since: Some(late),
        next_attempt_at: Some(start + seconds(5)),
        // Two behind the cursor, one in the lane.
        behind: 3,
    };
    assert_eq!(webhook_stats, expected);
    let all = store.webhook_stats(webhook.id, start).await.unwrap();
    assert_eq!((all.delivered, all.failed, all.p95_ms), (110, 3, Some(9000)));
    let lanes = store.lanes(webhook.id, 10).await.unwrap();
    assert_eq!(lanes.iter().map(|lane| lane.sequence).collect::<Vec<_>>(), [3, 5]);
    assert_eq!(store.lanes(webhook.id, 1).await.unwrap().len(), 1);
}

pub(crate) async fn a_span_of_time_is_a_span_of_numbers(stage: Stage) {
    let (desk, store) = (stage.desk().await, &stage.store);
    let webhook = contracted(&stage, &desk, "a").await;
    assert_eq!(store.sequence_range(webhook.id, Ticks(0), Ticks(i64::MAX)).await, Ok(None));
    for minute in 0..5_u64 {
        desk.accept([company(&format!("c{minute}"))]).await;
        desk.accept([customer(&format!("c{minute}"), "k1", "Ana")]).await;
        desk.accept([journal(&format!("c{minute}"), "j1", "{}")]).await;
        stage.clock.forward(seconds(60));
    }
    let log = desk.log().await;
    let at = |sequence: usize| log[sequence - 1].version;
    let span = async |from, to| store.sequence_range(webhook.id, from, to).await.unwrap();
    // Customers are 2, 5, 8, 11 and 14.
    assert_eq!(span(Ticks(0), Ticks(i64::MAX)).await, Some((1, 14)));
    assert_eq!(span(at(4), at(9)).await, Some((4, 8)));
    assert_eq!(span(at(5), at(5)).await, Some((4, 5)));
    assert_eq!(span(at(6), at(7)).await, None);
    assert_eq!(span(at(9), at(5)).await, None);
    assert_eq!(span(at(15).next(), Ticks(i64::MAX)).await, None);
    assert_eq!(desk.prune(at(6), 100).await, 5);
    assert_eq!(span(Ticks(0), at(11)).await, Some((7, 11)));
    assert_eq!(store.sequence_range(guid(3), Ticks(0), Ticks(1)).await, Ok(None));
}

pub(crate) async fn history_has_its_time(stage: Stage) {
    let (desk, store, start) = (stage.desk().await, &stage.store, stage.now());
    let webhook = contracted(&stage, &desk, "a").await;
    let hour = |number: u64| start + seconds(3600 * number);
    for number in 0..4 {
        let come = delivered(number, hour(number), 1);
        remember(&stage, &webhook, &[failed(number, 1, hour(number))], &[come]).await;
    }
    let [open, done] = [1, 2].map(|through| (ReplayKind::Events, through));
    store.request_replay(webhook.id, open.0, 0, open.1).await.unwrap();
    let asked = store.request_replay(webhook.id, done.0, 0, done.1).await.unwrap().unwrap();
    let mut step = point(store, &webhook).await;
    step.replays =
        vec![ReplayStep { number: asked.number, position: 2, delivered: 2, failed: 0, is_done: true }];
    written(store, step).await;
    let never = Ticks(0);
    let cutoffs = |deliveries| RetentionCutoffs {
        now: never,
        processes: never,
        audit: never,
        calls: never,
        deliveries,
    };
    assert_eq!(store.expire(cutoffs(start), 100).await.unwrap().total(), 0);
    let mut gone = 0;
    loop {
        let some = store.expire(cutoffs(hour(2)), 1).await.unwrap();
        assert_eq!(some.total(), some.deliveries);
        assert!(some.deliveries <= 3, "a few at a time");
        gone += some.deliveries;
        if some.deliveries == 0 {
            break;
        }
    }
    // Two attempts, two deliveries, and the replay that was done.
    assert_eq!(gone, 5);
    assert_eq!(store.attempts(&all(webhook.id)).await.unwrap().len(), 2);
    assert_eq!(store.successful_deliveries(&all(webhook.id)).await.unwrap().len(), 2);
    let replays = store.replays(webhook.id, 10).await.unwrap();
    assert_eq!(replays.iter().map(|one| one.is_done).collect::<Vec<_>>(), [false]);
}
