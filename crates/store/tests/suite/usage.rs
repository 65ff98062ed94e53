//! What is known of a subscription's use: counts by day and route, last uses, quotas, and its end.

use std::time::Duration;

use domain::ids::SubscriptionId;
use domain::{Guid, Secret, Ticks};
use store::{CallCount, KeyLastUse, KeySlot, RetentionCutoffs, Status, Subscription};

use super::applications::subscription;
use super::stage::{Kind, Stage};

const DAY: i64 = 739_000;

async fn made(stage: &Stage, id: &str) -> Subscription {
    let one = subscription(stage, id);
    let [primary, secondary] = ["1", "2"].map(|slot| Secret::new(format!("{id}{slot}")));
    stage.store.add_subscription(&one, &primary, &secondary).await.unwrap();
    one
}

fn calls(id: &str, day: i64, route: &str, calls: u64, failed: u64) -> CallCount {
    CallCount { subscription: SubscriptionId::new(id), day, route: route.into(), calls, failed }
}

pub(crate) async fn calls_add_up_by_day_and_route(stage: Stage) {
    let store = &stage.store;
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

pub(crate) async fn what_many_count_at_once_is_all_counted(stage: Stage) {
    let routes = ["/a", "/b", "/c"];
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..12 {
        let store = stage.store.clone();
        tasks.spawn(async move {
            let mut some: Vec<CallCount> = routes.iter().map(|route| calls("a", DAY, route, 1, 0)).collect();
            some.rotate_left(number % 3);
            store.record_usage(&some, &[]).await.unwrap();
        });
    }
    tasks.join_all().await;
    assert_eq!(stage.store.calls_on_day(&SubscriptionId::new("a"), DAY).await, Ok(36));
}

pub(crate) async fn old_counts_are_cleared_away(stage: Stage) {
    let store = &stage.store;
    let counted = [calls("a", DAY, "/x", 1, 0), calls("a", DAY + 1, "/x", 1, 0)];
    store.record_usage(&counted, &[]).await.unwrap();
    let never = Ticks(0);
    let cutoffs = RetentionCutoffs {
        now: never,
        processes: never,
        audit: never,
        calls: Ticks::from_day(DAY + 1),
        deliveries: never,
    };
    assert_eq!(store.expire(cutoffs, 10).await.unwrap().calls, 1);
    let a = SubscriptionId::new("a");
    assert_eq!(store.call_counts(&a, 0, i64::MAX).await, Ok(vec![calls("a", DAY + 1, "/x", 1, 0)]));
}

pub(crate) async fn a_key_remembers_its_last_use(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    let one = made(&stage, "a").await;
    let used = |key: &str, at| KeyLastUse { key: Secret::new(key), at };
    let later = now + Duration::from_secs(9);
    store.record_usage(&[], &[used("a2", later), used("nobody's", later)]).await.unwrap();
    store.record_usage(&[], &[used("a2", now)]).await.unwrap();
    let until = now + Duration::from_hours(1);
    assert_eq!(store.rotate_key(&one.id, KeySlot::Primary, &Secret::new("a3"), until).await, Ok(true));
    let keys = store.subscription_keys(&one.id).await.unwrap();
    let seen: Vec<_> = keys.iter().map(|key| (key.slot, key.valid_until, key.last_used_at)).collect();
    let (primary, secondary) = (KeySlot::Primary, KeySlot::Secondary);
    assert_eq!(seen, [(primary, None, None), (primary, Some(until), None), (secondary, None, Some(later))]);
    assert_eq!(store.subscription_keys(&SubscriptionId::new("b")).await, Ok(Vec::new()));
}

pub(crate) async fn a_quota_is_set_and_taken_back(stage: Stage) {
    let store = &stage.store;
    let one = made(&stage, "a").await;
    assert_eq!(store.set_daily_quota(&one.id, Some(1000)).await, Ok(true));
    let with = Subscription { daily_quota: Some(1000), revision: 2, ..one.clone() };
    assert_eq!(store.find_subscription(&one.id).await, Ok(Some(with.clone())));
    assert_eq!(store.find_subscription_by_key(&Secret::new("a1"), stage.now()).await, Ok(Some(with)));
    assert_eq!(store.set_daily_quota(&one.id, None).await, Ok(true));
    assert_eq!(store.find_subscription(&one.id).await, Ok(Some(Subscription { revision: 3, ..one })));
    assert_eq!(store.set_daily_quota(&SubscriptionId::new("b"), None).await, Ok(false));
    assert_eq!(store.find_subscription(&SubscriptionId::new("b")).await, Ok(None));
}

pub(crate) async fn a_cancelled_subscription_is_over(stage: Stage) {
    let (store, now) = (&stage.store, stage.now());
    let (one, other) = (made(&stage, "a").await, made(&stage, "b").await);
    assert_eq!(store.cancel_subscription(&one.id, now).await, Ok(true));
    let over = Subscription { status: Status::Disabled, cancelled_at: Some(now), revision: 2, ..one.clone() };
    assert_eq!(store.find_subscription(&one.id).await, Ok(Some(over.clone())));
    for key in ["a1", "a2"] {
        assert_eq!(store.find_subscription_by_key(&Secret::new(key), now).await, Ok(None), "{key}");
    }
    assert_eq!(store.subscription_keys(&one.id).await, Ok(Vec::new()));
    // Nothing brings it back.
    assert_eq!(store.set_subscription_status(&one.id, Status::Active).await, Ok(false));
    assert_eq!(store.set_daily_quota(&one.id, Some(1)).await, Ok(false));
    assert_eq!(store.rotate_key(&one.id, KeySlot::Primary, &Secret::new("a3"), now).await, Ok(false));
    assert_eq!(store.cancel_subscription(&one.id, now).await, Ok(false));
    assert_eq!(store.find_subscription(&one.id).await, Ok(Some(over)));
    assert_eq!(store.find_subscription_by_key(&Secret::new("b1"), now).await, Ok(Some(other)));
}

pub(crate) async fn nodes_are_counted_while_they_are_heard_of(stage: Stage) {
    let (store, silence) = (&stage.store, Duration::from_hours(1));
    let [one, other] = [1, 2].map(|byte| Guid::from_bytes([byte; 16]));
    assert_eq!(store.count_live_nodes(silence).await, Ok(0), "who asks is no node");
    assert_eq!(store.register_node(one, silence).await, Ok(1));
    assert_eq!(store.register_node(one, silence).await, Ok(1));
    assert_eq!(store.register_node(other, silence).await, Ok(2));
    assert_eq!(store.register_node(one, silence).await, Ok(2));
    assert_eq!(store.count_live_nodes(silence).await, Ok(2));
    store.deregister_node(other).await.unwrap();
    store.deregister_node(other).await.unwrap();
    assert_eq!(store.register_node(one, silence).await, Ok(1));
    assert_eq!(store.register_node(other, silence).await, Ok(2));
    if stage.kind == Kind::Postgres {
        // Its own clock goes on by itself.
        assert_eq!(store.register_node(one, Duration::ZERO).await, Ok(1));
    }
    stage.clock.forward(Duration::from_millis(2));
    assert_eq!(store.count_live_nodes(Duration::ZERO).await, Ok(0));
    assert_eq!(store.register_node(one, Duration::ZERO).await, Ok(1), "the other was silent for too long");
}
