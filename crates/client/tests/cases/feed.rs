//! The change feed, and snapshots that it continues without a gap.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use aldaba_client::{Area, Error, EventKind, Resource, StreamExt as _, TryStreamExt as _};
use serde_json::{Value, json};

use super::api::api;
use super::fake_network::{FakeTransport, ok, pairs, response};

fn change(number: u64, event: &str) -> Value {
    json!({
        "sequenceVersion": number.to_string(), "event": event, "correlationId": format!("r{number}"),
        "version": "v", "user": "eva", "processId": "p",
    })
}

/// A log of `last` entries; every third belongs to another resource.
fn log(last: u64) -> FakeTransport {
    FakeTransport::new(move |request| {
        let query = pairs(request.uri().query().unwrap());
        let (after, size): (u64, usize) =
            (query["after"].parse().unwrap(), query["pageSize"].parse().unwrap());
        let own = (after + 1..=last).filter(|number| number % 3 != 0).take(size);
        ok(&own.map(|number| change(number, "Svc.ACC.Customers.CustomerUpdated")).collect())
    })
}

#[tokio::test]
async fn stream_ends_when_caught_up_and_position_follows_it() {
    let net = log(10);
    let feed = api(&net).changes(Resource::customers(), Some("c"), 2).page_size(2);
    let read: Vec<u64> =
        feed.clone().stream().map_ok(|change| change.sequence_version).try_collect().await.unwrap();
    assert_eq!(read, [4, 5, 7, 8, 10]);
    assert_eq!(net.requests().len(), 4);
    assert!(net.requests().iter().all(|asked| asked.headers()["context"] == r#"{"clientId":"c"}"#));
    let mut feed = feed;
    assert_eq!((feed.next_page().await.unwrap().len(), feed.position()), (2, 5));
}

#[tokio::test(start_paused = true)]
async fn follow_polls_for_new_changes() {
    let looks = AtomicUsize::new(0);
    let net = FakeTransport::new(move |_| match looks.fetch_add(1, Ordering::SeqCst) {
        0..=2 => ok(&json!([])),
        _ => ok(&json!([change(9, "Bank.Deleted")])),
    });
    let mut stream = api(&net).invoicing_changes(0).follow(Duration::from_secs(5));
    let first = stream.next().await.unwrap().unwrap();
    assert_eq!((first.sequence_version, first.kind()), (9, Some(EventKind::Deleted)));
    assert_eq!((net.requests().len(), net.requests()[0].uri().path()), (4, "/invoicing/api/changes"));
}

#[tokio::test]
async fn feed_that_does_not_move_forward_is_an_error() {
    let event = "Svc.ACC.Customers.CustomerUpdated";
    for page in [json!([change(5, event)]), json!([change(7, event), change(6, event)])] {
        let net = FakeTransport::new(move |_| ok(&page));
        let mut feed = api(&net).changes(Resource::customers(), Some("c"), 5);
        let error = feed.next_page().await.unwrap_err();
        assert!(matches!(error, Error::InvalidResponse { .. }), "{error:?}");
        assert_eq!(feed.position(), 5, "no change of a refused page is skipped");
    }
}

#[tokio::test]
async fn position_below_the_floor_is_a_distinct_error() {
    let net = FakeTransport::new(|_| {
        let message =
            "The changes after this number are no longer kept; the feed begins after 1192. Read the list.";
        response(410, &[], &json!({"statusCode": 410, "message": message, "requestId": "r"}))
    });
    let result = api(&net).changes(Resource::companies(), None, 3).stream().try_next().await.unwrap_err();
    assert!(matches!(result, Error::BelowFloor { floor: 1192 }), "{result:?}");
}

#[tokio::test]
async fn feed_change_and_delivery_have_the_same_record_key() {
    let net = log(1);
    let change = api(&net).changes(Resource::customers(), Some("c"), 0).next_page().await.unwrap().remove(0);
    let arrival = change.to_received_event("t", "c");
    assert_eq!((arrival.record.resource.as_str(), arrival.record.id.as_str()), ("ACC.Customers", "r1"));
    assert_eq!((arrival.outgoing_id, arrival.sequence_version), (None, Some(1)));
}

/// A list of journals, and a feed with a deletion in the first `deletions` reads.
fn journals(deletions: usize) -> FakeTransport {
    let looks = AtomicUsize::new(0);
    FakeTransport::new(move |request| {
        if request.uri().path().ends_with("/changes") {
            let after = pairs(request.uri().query().unwrap())["after"].clone();
            let is_first = after == "40";
            let event = "Svc.ACC.Journals.JournalDeleted";
            return match looks.fetch_add(usize::from(is_first), Ordering::SeqCst) {
                look if is_first && look < deletions => ok(&json!([change(41, event)])),
                _ if is_first => ok(&json!([change(42, "Svc.ACC.Journals.JournalUpdated")])),
                _ => ok(&json!([])),
            };
        }
        let number: u64 = pairs(request.uri().query().unwrap())["pageNumber"].parse().unwrap();
        let record = json!({"correlationId": format!("j{number}"), "version": "v", "sequenceVersion": "1"});
        let position = (39 + number).to_string();
        let headers =
            [("x-pagination", r#"{"totalCount":2,"totalPages":2}"#), ("x-sequence-version", &position)];
        response(200, &headers, &json!([record]))
    })
}

#[tokio::test]
async fn snapshot_has_the_position_of_its_first_page() {
    let net = journals(0);
    let list = api(&net).records(Resource::find(Area::Accounting, "journals").unwrap(), "c");
    let snapshot = list.snapshot().await.unwrap();
    assert_eq!((snapshot.position, snapshot.records.len()), (40, 2));
}

/// A list of journals with one record: its first page says that there are three pages, each later page is empty and says
/// that there are `pages_later`.
fn shorter_journals(pages_later: u32) -> FakeTransport {
    FakeTransport::new(move |request| {
        if request.uri().path().ends_with("/changes") {
            return ok(&json!([]));
        }
        let is_first = pairs(request.uri().query().unwrap())["pageNumber"] == "1";
        let record = json!({"correlationId": "j", "version": "v", "sequenceVersion": "1"});
        let pages = if is_first { 3 } else { pages_later };
        let pagination = json!({"totalPages": pages, "totalCount": 1}).to_string();
        let headers = [("x-pagination", pagination.as_str()), ("x-sequence-version", "4")];
        response(200, &headers, &if is_first { json!([record]) } else { json!([]) })
    })
}

#[tokio::test]
async fn snapshot_ends_at_an_empty_page_after_the_last() {
    let net = shorter_journals(1);
    let list = api(&net).records(Resource::find(Area::Accounting, "journals").unwrap(), "c");
    assert_eq!(list.snapshot().await.unwrap().records.len(), 1);
    assert_eq!(net.requests().len(), 3, "two pages and the feed");
}

#[tokio::test]
async fn empty_page_that_is_not_after_the_last_is_an_error() {
    for pages in [2, 4_000_000_000] {
        let net = shorter_journals(pages);
        let list = api(&net).records(Resource::find(Area::Accounting, "journals").unwrap(), "c");
        let error = list.snapshot().await.unwrap_err();
        assert!(error.to_string().contains(&format!("page 2 of {pages} is empty")), "{error}");
        let error = list.stream().try_collect::<Vec<_>>().await.unwrap_err();
        assert!(matches!(error, Error::InvalidResponse { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn snapshot_is_read_again_after_a_concurrent_deletion() {
    let net = journals(2);
    let list = api(&net).records(Resource::find(Area::Accounting, "journals").unwrap(), "c");
    assert_eq!(list.snapshot().await.unwrap().records.len(), 2);
    assert_eq!(net.count("/accounting/api/journals"), 6, "three times two pages");
    let result = {
        let net = journals(100);
        let list = api(&net).records(Resource::find(Area::Accounting, "journals").unwrap(), "c");
        list.snapshot().await.unwrap_err()
    };
    assert!(matches!(result, Error::ConcurrentDeletions { tries: 5 }), "{result:?}");
}
