//! The pull feed as a stream with a position, and snapshots that leave no gap to it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use aldaba_client::{Area, Error, EventKind, Resource, StreamExt as _, TryStreamExt as _};
use serde_json::{Value, json};

use super::fake_network::{Net, answer, good, pairs};
use super::reads::api;

fn change(number: u64, event: &str) -> Value {
    json!({
        "sequenceVersion": number.to_string(), "event": event, "correlationId": format!("r{number}"),
        "version": "v", "user": "eva", "processId": "p",
    })
}

/// A log of so many changes; every third number is another resource's.
fn log(last: u64) -> Net {
    Net::new(move |request| {
        let query = pairs(request.uri().query().unwrap());
        let (after, size): (u64, usize) =
            (query["after"].parse().unwrap(), query["pageSize"].parse().unwrap());
        let own = (after + 1..=last).filter(|number| number % 3 != 0).take(size);
        good(&own.map(|number| change(number, "Svc.ACC.Customers.CustomerUpdated")).collect())
    })
}

#[tokio::test]
async fn a_stream_ends_where_the_log_does_and_the_position_moves_with_what_was_read() {
    let net = log(10);
    let feed = api(&net).changes(Resource::customers(), Some("c"), 2).page_size(2);
    let read: Vec<u64> =
        feed.clone().stream().map_ok(|change| change.sequence_version).try_collect().await.unwrap();
    assert_eq!(read, [4, 5, 7, 8, 10]);
    assert_eq!(net.asked().len(), 4);
    assert!(net.asked().iter().all(|asked| asked.headers()["context"] == r#"{"clientId":"c"}"#));
    let mut feed = feed;
    assert_eq!((feed.next_page().await.unwrap().len(), feed.position()), (2, 5));
}

#[tokio::test(start_paused = true)]
async fn following_goes_on_when_something_comes() {
    let looks = AtomicUsize::new(0);
    let net = Net::new(move |_| match looks.fetch_add(1, Ordering::SeqCst) {
        0..=2 => good(&json!([])),
        _ => good(&json!([change(9, "Bank.Deleted")])),
    });
    let mut stream = api(&net).invoicing_changes(0).follow(Duration::from_secs(5));
    let first = stream.next().await.unwrap().unwrap();
    assert_eq!((first.sequence_version, first.kind()), (9, Some(EventKind::Deleted)));
    assert_eq!((net.asked().len(), net.asked()[0].uri().path()), (4, "/invoicing/api/changes"));
}

#[tokio::test]
async fn below_the_floor_is_an_error_of_its_own() {
    let net = Net::new(|_| {
        let message =
            "The changes after this number are no longer kept; the feed begins after 1192. Read the list.";
        answer(410, &[], &json!({"statusCode": 410, "message": message, "requestId": "r"}))
    });
    let told = api(&net).changes(Resource::companies(), None, 3).stream().try_next().await.unwrap_err();
    assert!(matches!(told, Error::BelowFloor { floor: 1192 }), "{told:?}");
}

#[tokio::test]
async fn an_arrival_of_the_feed_and_of_a_delivery_are_the_same_record() {
    let net = log(1);
    let change = api(&net).changes(Resource::customers(), Some("c"), 0).next_page().await.unwrap().remove(0);
    let arrival = change.to_received_event("t", "c");
    assert_eq!((arrival.record.resource.as_str(), arrival.record.id.as_str()), ("ACC.Customers", "r1"));
    assert_eq!((arrival.outgoing_id, arrival.sequence_version), (None, Some(1)));
}

/// A list of journals, and a feed that tells of a deletion the first so many times.
fn journals(deletions: usize) -> Net {
    let looks = AtomicUsize::new(0);
    Net::new(move |request| {
        if request.uri().path().ends_with("/changes") {
            let after = pairs(request.uri().query().unwrap())["after"].clone();
            let is_first = after == "40";
            let event = "Svc.ACC.Journals.JournalDeleted";
            return match looks.fetch_add(usize::from(is_first), Ordering::SeqCst) {
                look if is_first && look < deletions => good(&json!([change(41, event)])),
                _ if is_first => good(&json!([change(42, "Svc.ACC.Journals.JournalUpdated")])),
                _ => good(&json!([])),
            };
        }
        let number: u64 = pairs(request.uri().query().unwrap())["pageNumber"].parse().unwrap();
        let record = json!({"correlationId": format!("j{number}"), "version": "v", "sequenceVersion": "1"});
        let position = (39 + number).to_string();
        let headers =
            [("x-pagination", r#"{"totalCount":2,"totalPages":2}"#), ("x-sequence-version", &position)];
        answer(200, &headers, &json!([record]))
    })
}

#[tokio::test]
async fn a_snapshot_has_the_position_of_its_first_page() {
    let net = journals(0);
    let list = api(&net).records(Resource::find(Area::Accounting, "journals").unwrap(), "c");
    let snapshot = list.snapshot().await.unwrap();
    assert_eq!((snapshot.position, snapshot.records.len()), (40, 2));
}

#[tokio::test]
async fn a_snapshot_is_read_anew_where_something_was_deleted_under_way() {
    let net = journals(2);
    let list = api(&net).records(Resource::find(Area::Accounting, "journals").unwrap(), "c");
    assert_eq!(list.snapshot().await.unwrap().records.len(), 2);
    assert_eq!(net.count("/accounting/api/journals"), 6, "three times two pages");
    let told = {
        let net = journals(100);
        let list = api(&net).records(Resource::find(Area::Accounting, "journals").unwrap(), "c");
        list.snapshot().await.unwrap_err()
    };
    assert!(matches!(told, Error::ConcurrentDeletions { tries: 5 }), "{told:?}");
}
