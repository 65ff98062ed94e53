//! The log of calls: numbers, pages, filters, and what is deleted.

use std::time::Duration;

use domain::ids::SubscriptionId;
use domain::{CallRecord, ClientId, Refusal, TenantId, Ticks};
use store::{CALL_LOG_KEPT, CALLS_KEPT, CallPage, CallQuery, RetentionCutoffs};

use super::fixture::{Fixture, concurrently};

pub(crate) fn call(subscription: &str, request_id: &str, at: Ticks) -> CallRecord {
    CallRecord {
        at,
        subscription: SubscriptionId::new(subscription),
        method: "GET".into(),
        route: "/accounting/api/accounts".into(),
        status: 200,
        latency_micros: 1234,
        request_id: request_id.into(),
        client: Some(ClientId::new("app")),
        tenant: Some(TenantId::new("t1")),
        refusal: None,
    }
}

fn query(subscriptions: &[&str]) -> CallQuery {
    let subscriptions = subscriptions.iter().map(|id| SubscriptionId::new(*id)).collect();
    CallQuery { subscriptions, rows_max: 100, ..CallQuery::default() }
}

async fn list(fixture: &Fixture, query: CallQuery) -> CallPage {
    fixture.store.list_calls(&query).await.unwrap()
}

fn ids(page: &CallPage) -> Vec<&str> {
    page.calls.iter().map(|one| one.call.request_id.as_str()).collect()
}

fn expired_at(now: Ticks) -> RetentionCutoffs {
    let never = Ticks(0);
    RetentionCutoffs {
        now,
        processes: never,
        audit: never,
        calls: never,
        reads: never,
        deliveries: never,
        mails: never,
    }
}

pub(crate) async fn calls_are_listed_as_they_were_recorded_newest_first(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let refused = CallRecord {
        status: 401,
        client: None,
        tenant: None,
        refusal: Some(Refusal::TokenExpired),
        ..call("a", "r2", now)
    };
    store.append_calls(&[call("a", "r1", now), refused.clone()], &[]).await.unwrap();
    store.append_calls(&[], &[]).await.unwrap();
    store.append_calls(&[call("b", "r3", now), call("c", "r4", now)], &[]).await.unwrap();
    let page = list(&fixture, query(&["a"])).await;
    assert_eq!(page.calls.iter().map(|one| &one.call).collect::<Vec<_>>(), [&refused, &call("a", "r1", now)]);
    assert_eq!(ids(&list(&fixture, query(&["b", "a"])).await), ["r3", "r2", "r1"]);
    assert_eq!(ids(&list(&fixture, query(&["A", "nobody"])).await), Vec::<&str>::new());
    assert_eq!(list(&fixture, query(&[])).await, CallPage::default());
}

pub(crate) async fn pages_follow_the_numbers(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    for number in 0..7 {
        // Not in the order of arrival: a slow call is recorded later.
        let at = now.minus(Duration::from_secs(number * 3 % 7));
        let subscription = if number % 2 == 0 { "a" } else { "b" };
        store.append_calls(&[call(subscription, &format!("r{number}"), at)], &[]).await.unwrap();
    }
    let (mut seen, mut before) = (Vec::new(), None);
    loop {
        let page = list(&fixture, CallQuery { before, rows_max: 3, ..query(&["a", "b"]) }).await;
        seen.extend(ids(&page).into_iter().map(str::to_owned));
        before = page.next;
        if before.is_none() {
            break;
        }
        assert_eq!(page.calls.len(), 3);
    }
    assert_eq!(seen, ["r6", "r5", "r4", "r3", "r2", "r1", "r0"]);
    let newest = list(&fixture, query(&["a"])).await.calls[0].number;
    assert_eq!(list(&fixture, CallQuery { after: Some(newest), ..query(&["a", "b"]) }).await.calls, []);
    store.append_calls(&[call("b", "new", now)], &[]).await.unwrap();
    let later = list(&fixture, CallQuery { after: Some(newest), ..query(&["a", "b"]) }).await;
    assert_eq!(ids(&later), ["new"]);
    assert_eq!(list(&fixture, CallQuery { rows_max: 0, ..query(&["a"]) }).await.calls.len(), 1);
}

pub(crate) async fn filters_select_calls(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let hour_ago = now.minus(Duration::from_hours(1));
    let calls = [
        call("a", "old", hour_ago),
        CallRecord { status: 304, ..call("a", "unmodified", now) },
        CallRecord { status: 404, refusal: Some(Refusal::ResourceUnknown), ..call("a", "missing", now) },
        CallRecord { status: 429, refusal: Some(Refusal::RateLimited), ..call("a", "limited", hour_ago) },
        CallRecord { route: "/other/{id}".into(), ..call("a", "elsewhere", now) },
    ];
    store.append_calls(&calls, &[]).await.unwrap();
    let a = || query(&["a"]);
    for (query, expected) in [
        (CallQuery { since: Some(now), ..a() }, vec!["elsewhere", "missing", "unmodified"]),
        (CallQuery { status_class: Some(4), ..a() }, vec!["limited", "missing"]),
        (CallQuery { status_class: Some(3), ..a() }, vec!["unmodified"]),
        (CallQuery { only_refused: true, ..a() }, vec!["limited", "missing"]),
        (CallQuery { route: Some("/other/{id}".into()), ..a() }, vec!["elsewhere"]),
        (CallQuery { request_id: Some("old".into()), ..a() }, vec!["old"]),
        (CallQuery { request_id: Some("old".into()), ..query(&["b"]) }, vec![]),
        (CallQuery { request_id: Some("old".into()), only_refused: true, ..a() }, vec![]),
        (CallQuery { request_id: Some("o\0d".into()), ..a() }, vec![]),
    ] {
        assert_eq!(ids(&list(&fixture, query.clone()).await), expected, "{query:?}");
    }
}

pub(crate) async fn trimming_keeps_the_newest_calls_of_a_subscription(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let many: Vec<CallRecord> =
        (0..CALLS_KEPT + 5).map(|number| call("a", &format!("r{number}"), now)).collect();
    store.append_calls(&many, &[]).await.unwrap();
    store.append_calls(&many[..3], &[SubscriptionId::new("b")]).await.unwrap();
    let count = async |rows_max| list(&fixture, CallQuery { rows_max, ..query(&["a"]) }).await;
    assert!(count(CALLS_KEPT).await.next.is_some(), "another subscription was trimmed");
    let [a, b] = ["a", "b"].map(SubscriptionId::new);
    store.append_calls(&[call("a", "last", now), call("b", "other", now)], &[a, b]).await.unwrap();
    let page = count(CALLS_KEPT).await;
    assert_eq!((page.calls.len(), page.next), (CALLS_KEPT, None));
    assert_eq!(page.calls[0].call.request_id, "last");
    assert_eq!(ids(&list(&fixture, query(&["b"])).await), ["other"]);
}

pub(crate) async fn old_calls_expire(fixture: Fixture) {
    let (store, now) = (&fixture.store, fixture.now());
    let old = now.minus(CALL_LOG_KEPT + Duration::from_secs(1));
    let calls = ["r1", "r2", "r3"].map(|id| call("a", id, old));
    store.append_calls(&calls, &[]).await.unwrap();
    store.append_calls(&[call("a", "r4", now.minus(CALL_LOG_KEPT))], &[]).await.unwrap();
    assert_eq!(store.expire(expired_at(now), 2).await.unwrap().call_log, 2, "a bounded number per round");
    assert_eq!(store.expire(expired_at(now), 2).await.unwrap().call_log, 1);
    assert_eq!(store.expire(expired_at(now), 2).await.unwrap().call_log, 0);
    assert_eq!(ids(&list(&fixture, query(&["a"])).await), ["r4"]);
}

/// Who follows the log by its numbers misses no call, whatever nodes append at the same time.
pub(crate) async fn followers_miss_no_call_that_others_append(fixture: Fixture) {
    const NODES: usize = 6;
    const APPENDS: usize = 10;
    let (now, store) = (fixture.now(), fixture.store.clone());
    let follower = tokio::spawn(async move {
        let (mut after, mut seen) = (0, 0);
        while seen < NODES * APPENDS * 2 {
            let query = CallQuery { after: Some(after), rows_max: 1000, ..query(&["a", "b"]) };
            let page = store.list_calls(&query).await.unwrap();
            seen += page.calls.len();
            after = page.calls.first().map_or(after, |newest| newest.number);
            tokio::task::yield_now().await;
        }
        seen
    });
    concurrently(NODES, &[&fixture.store], |node, store| async move {
        for number in 0..APPENDS {
            let id = format!("{node}-{number}");
            let calls = [call("a", &id, now), call("b", &id, now)];
            store.append_calls(&calls, &[]).await.unwrap();
        }
    })
    .await;
    let seen = tokio::time::timeout(Duration::from_secs(20), follower).await.expect("a call was missed");
    assert_eq!(seen.unwrap(), NODES * APPENDS * 2);
}
