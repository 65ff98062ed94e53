//! Subscription usage: call counts by day and route, last uses of keys, quotas and cancellation; and live nodes.

use std::time::Duration;

use domain::ids::SubscriptionId;
use domain::{Guid, Secret, Ticks};
use store::{CallCount, KeyLastUse, KeySlot, RetentionCutoffs, Status, Subscription};

use super::clients::subscription;
use super::fixture::{Fixture, StoreKind, by};

const DAY: i64 = 739_000;

async fn add_subscription(fixture: &Fixture, id: &str) -> Subscription {
    let first = subscription(fixture, id);
    let [primary, secondary] = ["1", "2"].map(|slot| Secret::new(format!("{id}{slot}")));
    fixture.store.add_subscription(&first, &primary, &secondary, &by()).await.unwrap();
    first
}

fn calls(id: &str, day: i64, route: &str, calls: u64, failed: u64) -> CallCount {
    CallCount { subscription: SubscriptionId::new(id), day, route: route.into(), calls, failed }
}

pub(crate) async fn calls_add_up_by_day_and_route(fixture: Fixture) {
    let store = &fixture.store;
    let counted = [calls("a", DAY, "/x", 3, 1), calls("a", DAY, "/b", 1, 0), calls("b", DAY, "/x", 9, 9)];
    store.record_usage(&counted, &[]).await.unwrap();
    store.record_usage(&[calls("a", DAY, "/x", 4, 0), calls("a", DAY + 1, "/x", 1, 1)], &[]).await.unwrap();
    store.record_usage(&[], &[]).await.unwrap();
    let a = SubscriptionId::new("a");
    let all = vec![calls("a", DAY + 1, "/x", 1, 1), calls("a", DAY, "/b", 1, 0), calls("a", DAY, "/x", 7, 1)];
    assert_eq!(store.call_counts(&a, DAY, DAY + 1).await, Ok(all.clone()));
    assert_eq!(store.call_counts(&a, DAY, DAY).await, Ok(all[1..].to_vec()));
    assert_eq!(store.call_counts(&a, DAY + 2, DAY + 9).await, Ok(Vec::new()));
    assert_eq!(store.call_counts(&SubscriptionId::new("A"), 0, i64::MAX).await, Ok(Vec::new()));
    assert_eq!(store.calls_on_day(&a, DAY).await, Ok(8));
    assert_eq!(store.calls_on_day(&a, DAY - 1).await, Ok(0));
}

pub(crate) async fn concurrent_counts_add_up(fixture: Fixture) {
    let routes = ["/a", "/b", "/c"];
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..12 {
        let store = fixture.store.clone();
        tasks.spawn(async move {
            let mut counts: Vec<CallCount> =
                routes.iter().map(|route| calls("a", DAY, route, 1, 0)).collect();
            counts.rotate_left(number % 3);
            store.record_usage(&counts, &[]).await.unwrap();
        });
    }
    tasks.join_all().await;
    assert_eq!(fixture.store.calls_on_day(&SubscriptionId::new("a"), DAY).await, Ok(36));
}

pub(crate) async fn old_counts_expire(fixture: Fixture) {
    let store = &fixture.store;
    let counted = [calls("a", DAY, "/x", 1, 0), calls("a", DAY + 1, "/x", 1, 0)];
    store.record_usage(&counted, &[]).await.unwrap();
    let never = Ticks(0);
    let cutoffs = RetentionCutoffs {
        now: never,
        processes: never,
        audit: never,
        calls: Ticks::from_day(DAY + 1),
        reads: never,
        deliveries: never,
        mails: never,
    };
    assert_eq!(store.expire(cutoffs, 10).await.unwrap().calls, 1);
    let a = SubscriptionId::new("a");
    assert_eq!(store.call_counts(&a, 0, i64::MAX).await, Ok(vec![calls("a", DAY + 1, "/x", 1, 0)]));
}

pub(crate) async fn key_stores_its_last_use(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let first = add_subscription(&fixture, "a").await;
    let used = |key: &str, at| KeyLastUse { key: Secret::new(key), at };
    let later = now + Duration::from_secs(9);
    store.record_usage(&[], &[used("a2", later), used("nobody's", later)]).await.unwrap();
    store.record_usage(&[], &[used("a2", now)]).await.unwrap();
    let until = now + Duration::from_hours(1);
    assert_eq!(
        store.rotate_key(&first.id, KeySlot::Primary, &Secret::new("a3"), until, &by()).await,
        Ok(true)
    );
    let keys = store.subscription_keys(&first.id).await.unwrap();
    let seen: Vec<_> = keys.iter().map(|key| (key.slot, key.valid_until, key.last_used_at)).collect();
    let (primary, secondary) = (KeySlot::Primary, KeySlot::Secondary);
    assert_eq!(seen, [(primary, None, None), (primary, Some(until), None), (secondary, None, Some(later))]);
    assert_eq!(store.subscription_keys(&SubscriptionId::new("b")).await, Ok(Vec::new()));
}

pub(crate) async fn daily_quota_is_set_and_removed(fixture: Fixture) {
    let store = &fixture.store;
    let first = add_subscription(&fixture, "a").await;
    assert_eq!(store.set_daily_quota(&first.id, Some(1000), &by()).await, Ok(true));
    let with = Subscription { daily_quota: Some(1000), revision: 2, ..first.clone() };
    assert_eq!(store.find_subscription(&first.id).await, Ok(Some(with.clone())));
    assert_eq!(store.find_subscription_by_key(&Secret::new("a1"), fixture.now()).await, Ok(Some(with)));
    assert_eq!(store.set_daily_quota(&first.id, None, &by()).await, Ok(true));
    assert_eq!(store.find_subscription(&first.id).await, Ok(Some(Subscription { revision: 3, ..first })));
    assert_eq!(store.set_daily_quota(&SubscriptionId::new("b"), None, &by()).await, Ok(false));
    assert_eq!(store.find_subscription(&SubscriptionId::new("b")).await, Ok(None));
}

pub(crate) async fn cancelled_subscription_cannot_be_changed(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let (first, other) = (add_subscription(&fixture, "a").await, add_subscription(&fixture, "b").await);
    assert_eq!(store.cancel_subscription(&first.id, now, &by()).await, Ok(true));
    let cancelled =
        Subscription { status: Status::Disabled, cancelled_at: Some(now), revision: 2, ..first.clone() };
    assert_eq!(store.find_subscription(&first.id).await, Ok(Some(cancelled.clone())));
    for key in ["a1", "a2"] {
        assert_eq!(store.find_subscription_by_key(&Secret::new(key), now).await, Ok(None), "{key}");
    }
    assert_eq!(store.subscription_keys(&first.id).await, Ok(Vec::new()));
    // No call brings it back.
    assert_eq!(store.set_subscription_status(&first.id, Status::Active, &by()).await, Ok(false));
    assert_eq!(store.set_daily_quota(&first.id, Some(1), &by()).await, Ok(false));
    assert_eq!(
        store.rotate_key(&first.id, KeySlot::Primary, &Secret::new("a3"), now, &by()).await,
        Ok(false)
    );
    assert_eq!(store.cancel_subscription(&first.id, now, &by()).await, Ok(false));
    assert_eq!(store.find_subscription(&first.id).await, Ok(Some(cancelled)));
    assert_eq!(store.find_subscription_by_key(&Secret::new("b1"), now).await, Ok(Some(other)));
}

pub(crate) async fn nodes_count_while_they_register_in_time(fixture: Fixture) {
    let (store, timeout) = (&fixture.store, Duration::from_hours(1));
    let [first, other] = [1, 2].map(|byte| Guid::from_bytes([byte; 16]));
    assert_eq!(store.count_live_nodes(timeout).await, Ok(0), "the caller is not registered as a node");
    assert_eq!(store.register_node(first, timeout).await, Ok(1));
    assert_eq!(store.register_node(first, timeout).await, Ok(1));
    assert_eq!(store.register_node(other, timeout).await, Ok(2));
    assert_eq!(store.register_node(first, timeout).await, Ok(2));
    assert_eq!(store.count_live_nodes(timeout).await, Ok(2));
    store.deregister_node(other).await.unwrap();
    store.deregister_node(other).await.unwrap();
    assert_eq!(store.register_node(first, timeout).await, Ok(1));
    assert_eq!(store.register_node(other, timeout).await, Ok(2));
    if fixture.kind == StoreKind::Postgres {
        // PostgreSQL uses its own clock.
        assert_eq!(store.register_node(first, Duration::ZERO).await, Ok(1));
    }
    fixture.clock.advance(Duration::from_millis(2));
    assert_eq!(store.count_live_nodes(Duration::ZERO).await, Ok(0));
    assert_eq!(
        store.register_node(first, Duration::ZERO).await,
        Ok(1),
        "the other node's registration timed out"
    );
}
