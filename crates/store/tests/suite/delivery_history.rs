//! Delivery history: failed attempts are rows, successful deliveries are packed; both are read newest first.

use std::time::Duration;

use domain::figures::{FigureCounts, Outcome, Resolution, Series};
use domain::{Guid, Ticks};
use store::{
    AttemptPurpose, AttemptRecord, DeliveryHistory, DeliveryQuery, FigureDelta, ReplayKind, ReplayStep,
    RetentionCutoffs, SuccessfulDelivery, Webhook, WebhookStats, read_webhook_stats,
};

use super::fixture::{Fixture, StoreKind, by};
use super::test_tenant::{TestTenant, company, customer, disable, journal};
use super::webhook_fixtures::{
    active_webhook, failed_attempt, guid, lane, new_checkpoint, retry, successful_delivery, write_checkpoint,
};

fn all(webhook: Guid) -> DeliveryQuery {
    DeliveryQuery { webhook, before: None, since: None, only_failed: false, rows_max: 1000 }
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

async fn write_history(
    fixture: &Fixture,
    webhook: &Webhook,
    attempts: &[AttemptRecord],
    delivered: &[SuccessfulDelivery],
) {
    let mut checkpoint = new_checkpoint(&fixture.store, webhook).await;
    checkpoint.attempts = attempts.to_vec();
    checkpoint.delivered = delivered.to_vec();
    write_checkpoint(&fixture.store, checkpoint).await;
}

pub(crate) async fn attempts_are_stored_unchanged_and_read_newest_first(fixture: Fixture) {
    let (tenant, store, start) = (fixture.add_tenant().await, &fixture.store, fixture.now());
    let webhook = active_webhook(&fixture, &tenant, "a").await;
    let other = active_webhook(&fixture, &tenant, "b").await;
    let mut attempts: Vec<AttemptRecord> =
        (0..10).map(|number| failed_attempt(number + 1, 1, start + seconds(number / 3))).collect();
    attempts[1].status = None;
    attempts[2].purpose = AttemptPurpose::Handshake { number: 7 };
    attempts[3].purpose = AttemptPurpose::Replay { sequence: 3 };
    attempts[3].succeeded = true;
    attempts[4].purpose = AttemptPurpose::Test;
    attempts[5].excerpt = "a\0b".into();
    attempts[5].timing.total = Duration::ZERO;
    write_history(&fixture, &webhook, &attempts, &[]).await;
    write_history(&fixture, &other, &attempts[..1], &[]).await;
    attempts[5].excerpt = "a\u{fffd}b".into();
    attempts.sort_by_key(|row| std::cmp::Reverse(row.cursor()));
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

/// Deliveries far apart in time and sequence, out of order and in large batches, are all read back.
pub(crate) async fn deliveries_are_packed_and_read_back(fixture: Fixture) {
    let (tenant, store, start) = (fixture.add_tenant().await, &fixture.store, fixture.now());
    let webhook = active_webhook(&fixture, &tenant, "a").await;
    let mut expected = Vec::new();
    for batch in 0..6_u64 {
        let batch: Vec<SuccessfulDelivery> = (0..300_u64)
            .map(|number| {
                let sequence = 1 + batch * 300 + number * if number > 280 { 1_000_000 } else { 1 };
                let at =
                    Ticks(start.0 + i64::try_from((batch * 300 + number * 7 % 300) * 1_000_003).unwrap());
                successful_delivery(sequence, at, u32::try_from(number).unwrap() * 77_777)
            })
            .collect();
        write_history(&fixture, &webhook, &[], &batch).await;
        expected.extend(batch);
    }
    expected.sort_by_key(|row| std::cmp::Reverse((row.at, row.sequence)));
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
        let before = paged.last().map(|row| (row.at, row.sequence));
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
    for row in expected.iter().step_by(97) {
        assert_eq!(store.delivery_history(webhook.id, row.sequence).await.unwrap().delivered, Some(*row));
    }
}

pub(crate) async fn delivery_history_has_every_attempt_of_an_event(fixture: Fixture) {
    let (tenant, store, start) = (fixture.add_tenant().await, &fixture.store, fixture.now());
    let webhook = active_webhook(&fixture, &tenant, "a").await;
    let attempts: Vec<AttemptRecord> =
        (1..4).map(|number| failed_attempt(5, number, start + seconds(number.into()))).collect();
    let mut replayed = failed_attempt(5, 1, start + seconds(60));
    replayed.purpose = AttemptPurpose::Replay { sequence: 5 };
    let mut handshake = failed_attempt(5, 1, start);
    handshake.purpose = AttemptPurpose::Handshake { number: 5 };
    let others = [failed_attempt(6, 1, start), handshake];
    let all_attempts = [&attempts[..], &[replayed.clone()], &others].concat();
    let delivery = successful_delivery(5, start + seconds(30), 9);
    write_history(
        &fixture,
        &webhook,
        &all_attempts,
        &[successful_delivery(4, start, 1), delivery, successful_delivery(6, start, 1)],
    )
    .await;
    let expected = [&attempts[..], &[replayed]].concat();
    let history = store.delivery_history(webhook.id, 5).await;
    assert_eq!(history, Ok(DeliveryHistory { sequence: 5, delivered: Some(delivery), attempts: expected }));
    let nothing = |sequence| DeliveryHistory { sequence, delivered: None, attempts: Vec::new() };
    assert_eq!(store.delivery_history(webhook.id, 7).await, Ok(nothing(7)));
    assert_eq!(store.delivery_history(webhook.id, 0).await, Ok(nothing(0)));
    assert_eq!(store.delivery_history(guid(3), 5).await, Ok(nothing(5)));
    // A later delivery replaces it.
    let again = successful_delivery(5, start + seconds(90), 4);
    write_history(&fixture, &webhook, &[], &[again]).await;
    assert_eq!(store.delivery_history(webhook.id, 5).await.unwrap().delivered, Some(again));
}

async fn write_sample_changes(tenant: &TestTenant) {
    tenant.accept([company("c1"), customer("c1", "k1", "Ana"), customer("c1", "k2", "Eva")]).await;
    tenant
        .accept([journal("c1", "j1", "{}"), customer("c1", "k1", "Berta"), customer("c1", "k3", "Luz")])
        .await;
    tenant.accept([disable(customer("c1", "k1", "")), customer("c1", "k2", "Iria")]).await;
}

pub(crate) async fn webhook_stats_summarise_deliveries(fixture: Fixture) {
    let (tenant, store, start) = (fixture.add_tenant().await, &fixture.store, fixture.now());
    assert_eq!(store.webhook_stats(guid(3), start).await, Ok(WebhookStats::default()));
    let webhook = active_webhook(&fixture, &tenant, "a").await;
    assert_eq!(store.webhook_stats(webhook.id, start).await, Ok(WebhookStats::default()));
    write_sample_changes(&tenant).await;
    let key = store.read_tail(&tenant.id, webhook.resource, 0, 1).await.unwrap().events[0].record_key;
    let late = start + seconds(40);
    let mut checkpoint = new_checkpoint(store, &webhook).await;
    checkpoint.cursor = Some(6);
    let renewed = store::Lane { retry: retry(0, start), ..lane(77, 3, start) };
    checkpoint.parked = vec![lane(key, 5, late), renewed];
    checkpoint.attempts = vec![
        failed_attempt(2, 1, start),
        failed_attempt(5, 1, late),
        failed_attempt(5, 2, late + seconds(1)),
    ];
    let mut test = failed_attempt(0, 1, late);
    test.purpose = AttemptPurpose::Test;
    checkpoint.attempts.push(test);
    let ms = |number: u64| u32::try_from(number).unwrap();
    let before = (0..10).map(|number| successful_delivery(1 + number, start + seconds(number), 9000));
    let after =
        (0..100).map(|number| successful_delivery(100 + number, late + seconds(number % 20), ms(number) + 1));
    checkpoint.delivered = before.chain(after).collect();
    write_checkpoint(store, checkpoint).await;
    let webhook_stats = store.webhook_stats(webhook.id, late).await.unwrap();
    let expected = WebhookStats {
        delivered: 100,
        failed: 2,
        p95_ms: Some(95),
        last_delivered_at: Some(late + seconds(19)),
        lanes: 2,
        failing_since: Some(late),
        next_attempt_at: Some(start + seconds(5)),
        // Two events after the cursor, one in the lane.
        behind: 3,
        is_partial: false,
    };
    assert_eq!(webhook_stats, expected);
    let all = store.webhook_stats(webhook.id, start).await.unwrap();
    assert_eq!((all.delivered, all.failed, all.p95_ms), (110, 3, Some(9000)));
    let lanes = store.lanes(webhook.id, 10).await.unwrap();
    assert_eq!(lanes.iter().map(|lane| lane.sequence).collect::<Vec<_>>(), [3, 5]);
    assert_eq!(store.lanes(webhook.id, 1).await.unwrap().len(), 1);
}

/// A history that is too long to be counted costs no more: its counts come from the figures.
pub(crate) async fn stats_of_a_long_history_come_from_the_figures(fixture: Fixture) {
    const ATTEMPTS: u64 = 20_010;
    let (tenant, store, start) = (fixture.add_tenant().await, &fixture.store, fixture.now());
    let webhook = active_webhook(&fixture, &tenant, "a").await;
    let mut checkpoint = new_checkpoint(store, &webhook).await;
    checkpoint.attempts = (1..=ATTEMPTS).map(|sequence| failed_attempt(sequence, 1, start)).collect();
    write_checkpoint(store, checkpoint).await;
    let mut counts = FigureCounts::default();
    counts.outcomes[Outcome::Failed as usize] = ATTEMPTS;
    let series = Series::WebhookDeliveries(webhook.id);
    let hour = Resolution::Hour.start_of(Resolution::Hour.number_at(start));
    store.add_figures(&[FigureDelta { series, at: start, counts }]).await.unwrap();
    let stored = store.webhook_stats(webhook.id, hour).await.unwrap();
    // The store in memory counts everything.
    assert_eq!(stored.is_partial, fixture.kind != StoreKind::Memory);
    assert_eq!(stored.failed < ATTEMPTS, stored.is_partial);
    let stats = read_webhook_stats(&**store, webhook.id, hour, start + seconds(1)).await.unwrap();
    assert_eq!((stats.failed, stats.delivered), (ATTEMPTS, 0));
}

pub(crate) async fn time_range_maps_to_a_sequence_range(fixture: Fixture) {
    let (tenant, store) = (fixture.add_tenant().await, &fixture.store);
    let webhook = active_webhook(&fixture, &tenant, "a").await;
    assert_eq!(store.sequence_range(webhook.id, Ticks(0), Ticks(i64::MAX)).await, Ok(None));
    for minute in 0..5_u64 {
        tenant.accept([company(&format!("c{minute}"))]).await;
        tenant.accept([customer(&format!("c{minute}"), "k1", "Ana")]).await;
        tenant.accept([journal(&format!("c{minute}"), "j1", "{}")]).await;
        fixture.clock.advance(seconds(60));
    }
    let log = tenant.log().await;
    let at = |sequence: usize| log[sequence - 1].version;
    let range = async |from, to| store.sequence_range(webhook.id, from, to).await.unwrap();
    // Customers are 2, 5, 8, 11 and 14.
    assert_eq!(range(Ticks(0), Ticks(i64::MAX)).await, Some((1, 14)));
    assert_eq!(range(at(4), at(9)).await, Some((4, 8)));
    assert_eq!(range(at(5), at(5)).await, Some((4, 5)));
    assert_eq!(range(at(6), at(7)).await, None);
    assert_eq!(range(at(9), at(5)).await, None);
    assert_eq!(range(at(15).next(), Ticks(i64::MAX)).await, None);
    assert_eq!(tenant.prune(at(6), 100).await, 5);
    assert_eq!(range(Ticks(0), at(11)).await, Some((7, 11)));
    assert_eq!(store.sequence_range(guid(3), Ticks(0), Ticks(1)).await, Ok(None));
}

pub(crate) async fn delivery_history_expires(fixture: Fixture) {
    let (tenant, store, start) = (fixture.add_tenant().await, &fixture.store, fixture.now());
    let webhook = active_webhook(&fixture, &tenant, "a").await;
    let hour = |number: u64| start + seconds(3600 * number);
    for number in 0..4 {
        let delivery = successful_delivery(number, hour(number), 1);
        write_history(&fixture, &webhook, &[failed_attempt(number, 1, hour(number))], &[delivery]).await;
    }
    let [open, done] = [1, 2].map(|through| (ReplayKind::Events, through));
    store.request_replay(webhook.id, open.0, (0, open.1), &by()).await.unwrap();
    let replay = store.request_replay(webhook.id, done.0, (0, done.1), &by()).await.unwrap().unwrap();
    let mut step = new_checkpoint(store, &webhook).await;
    step.replays =
        vec![ReplayStep { number: replay.number, position: 2, delivered: 2, failed: 0, is_done: true }];
    write_checkpoint(store, step).await;
    let epoch = Ticks(0);
    let cutoffs = |deliveries| RetentionCutoffs {
        now: epoch,
        processes: epoch,
        audit: epoch,
        calls: epoch,
        reads: epoch,
        deliveries,
        mails: epoch,
    };
    assert_eq!(store.expire(cutoffs(start), 100).await.unwrap().total(), 0);
    let mut total = 0;
    loop {
        let expired = store.expire(cutoffs(hour(2)), 1).await.unwrap();
        assert_eq!(expired.total(), expired.deliveries);
        assert!(expired.deliveries <= 3, "each call is bounded");
        total += expired.deliveries;
        if expired.deliveries == 0 {
            break;
        }
    }
    // Two attempts, two deliveries and the finished replay.
    assert_eq!(total, 5);
    assert_eq!(store.attempts(&all(webhook.id)).await.unwrap().len(), 2);
    assert_eq!(store.successful_deliveries(&all(webhook.id)).await.unwrap().len(), 2);
    let replays = store.replays(webhook.id, 10).await.unwrap();
    assert_eq!(replays.iter().map(|row| row.is_done).collect::<Vec<_>>(), [false]);
}

pub(crate) async fn deliveries_of_many_events_are_found_in_one_call(fixture: Fixture) {
    let (tenant, store, start) = (fixture.add_tenant().await, &fixture.store, fixture.now());
    let webhook = active_webhook(&fixture, &tenant, "a").await;
    // Sequences far apart, single and full packs, an event delivered twice and one never delivered.
    let mut successes: Vec<SuccessfulDelivery> =
        (1..=300).map(|sequence| successful_delivery(sequence, start + seconds(sequence), 7)).collect();
    successes.push(successful_delivery(40_000, start + seconds(1), 8));
    write_history(&fixture, &webhook, &[], &successes).await;
    write_history(&fixture, &webhook, &[], &[successful_delivery(10_000_000, start, 9)]).await;
    // So many at once that their pack is a wide one.
    let at_once: Vec<SuccessfulDelivery> =
        (50_000..50_900).map(|sequence| successful_delivery(sequence, start, 6)).collect();
    write_history(&fixture, &webhook, &[], &at_once).await;
    let second = successful_delivery(5, start + seconds(900), 4);
    write_history(&fixture, &webhook, &[], &[second]).await;
    let mut attempts = vec![
        failed_attempt(5, 2, start + seconds(4)),
        failed_attempt(5, 1, start),
        failed_attempt(777, 1, start),
    ];
    let mut handshake = failed_attempt(0, 1, start);
    handshake.purpose = AttemptPurpose::Handshake { number: 5 };
    attempts.push(handshake);
    write_history(&fixture, &webhook, &attempts, &[]).await;

    let sequences = [777, 5, 10_000_000, 0, 299, 40_000, 888, 50_000, 50_450, 50_899, 50_900, 5];
    let found = store.find_deliveries(webhook.id, &sequences).await.unwrap();
    assert_eq!(
        found.iter().map(|row| row.sequence).collect::<Vec<_>>(),
        sequences,
        "in the order of the argument"
    );
    for row in &found {
        assert_eq!(store.delivery_history(webhook.id, row.sequence).await.as_ref(), Ok(row));
    }
    let duration_ms = |index: usize| found[index].delivered.map(|success| success.duration_ms);
    assert_eq!(
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(duration_ms),
        [None, Some(4), Some(9), None, Some(7), Some(8), None, Some(6), Some(6), Some(6), None]
    );
    let numbers = |index: usize| found[index].attempts.iter().map(|row| row.number).collect::<Vec<_>>();
    assert_eq!([0, 1, 2, 3].map(numbers), [vec![1], vec![1, 2], vec![], vec![]]);
    assert_eq!(store.find_deliveries(webhook.id, &[]).await, Ok(Vec::new()));
    let largest = store.find_deliveries(webhook.id, &[u64::MAX]).await;
    assert_eq!(largest.map(|found| found.len()), Ok(1), "a number from a forged id");
    let unknown = DeliveryHistory { sequence: 5, delivered: None, attempts: Vec::new() };
    assert_eq!(store.find_deliveries(guid(3), &[5]).await, Ok(vec![unknown]));
}

pub(crate) async fn events_are_found_by_their_sequences(fixture: Fixture) {
    let (tenant, store) = (fixture.add_tenant().await, &fixture.store);
    write_sample_changes(&tenant).await;
    let customers = domain::Resource::customers();
    let tail = store.read_tail(&tenant.id, customers, 0, 100).await.unwrap().events;
    assert_eq!(tail.len(), 6);
    // Repeated, in any order, of another resource, and beyond the head.
    let sequences: Vec<u64> =
        tail.iter().rev().map(|event| event.entry.sequence).chain([1, 4, 2, 0, 99, u64::MAX]).collect();
    let find = async |sequences: &[u64]| store.find_events(&tenant.id, customers, sequences).await;
    assert_eq!(find(&sequences).await, Ok(tail.clone()));
    assert_eq!(find(&[tail[3].entry.sequence]).await, Ok(tail[3..4].to_vec()));
    assert_eq!(find(&[]).await, Ok(Vec::new()));
    let unknown = domain::TenantId::new("nobody");
    assert_eq!(store.find_events(&unknown, customers, &sequences).await, Ok(Vec::new()));
}
