//! Reconciliation: a reader that lists and then follows the feed from the list's position misses nothing while a
//! writer makes changes.

use std::collections::BTreeMap;
use std::thread;

use serde_json::Value;

use crate::harness::{ApiFixture, change_line, charge, company, items, links, wait_for};

const CHARGES: &str = "/accounting/api/charges";
const ROUNDS: u64 = 60;

/// A reader's copy of the records, by id.
type RecordsById = BTreeMap<String, Value>;

fn by_id(records: Vec<Value>) -> RecordsById {
    records.into_iter().map(|one| (one["correlationId"].as_str().unwrap().to_owned(), one)).collect()
}

/// Creates, changes and deletes records, a few per request.
fn write(api: &ApiFixture<'_>) {
    for round in 0..ROUNDS {
        let mut lines: Vec<Value> = (0..5).map(|n| charge("c", &format!("{round}-{n}"), round)).collect();
        lines.push(charge("c", &format!("{}-1", round / 2), 1000 + round));
        if round % 3 == 2 {
            lines.push(change_line("charges", "c", &format!("{}-0", round - 2), "delete"));
        }
        let answer = api.ingest.send_lines(&lines);
        assert_eq!(answer.rejected, 0, "{answer:?}");
    }
}

/// Applies one page of the feed: reads the record of each change, as the contract prescribes.
fn apply(api: &ApiFixture<'_>, known: &mut RecordsById, changes: &[Value]) {
    for change in changes {
        let id = change["correlationId"].as_str().unwrap();
        let response = api.get_for_company("c", &format!("{CHARGES}/{id}")).send();
        if response.status == 200 {
            known.insert(id.to_owned(), response.json());
        } else {
            response.problem(404);
            known.remove(id);
        }
    }
}

#[test]
fn listing_then_following_the_feed_misses_nothing() {
    let api = ApiFixture::new();
    api.ingest.send_lines(&[company("c"), charge("c", "before", 1)]);
    let (mut known, mut numbers) = (RecordsById::new(), Vec::new());
    thread::scope(|scope| {
        let writer = scope.spawn(|| write(&api));
        wait_for("some records", || (items(&api.read_for_company("c", CHARGES)).len() >= 20).then_some(()));
        let list = api.read_for_company("c", &format!("{CHARGES}?pageSize=1000"));
        let position = list.header("x-sequence-version").to_owned();
        known = by_id(items(&list));
        let mut next = format!("{CHARGES}/changes?after={position}&pageSize=10");
        loop {
            let was_done = writer.is_finished();
            let response = api.read_for_company("c", &next);
            let changes = items(&response);
            if changes.is_empty() && was_done {
                break;
            }
            numbers.extend(
                changes.iter().map(|one| one["sequenceVersion"].as_str().unwrap().parse::<u64>().unwrap()),
            );
            apply(&api, &mut known, &changes);
            next.clone_from(&links(&response)["next"]);
        }
    });
    assert!(numbers.len() > 50, "the reader followed some changes: {}", numbers.len());
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "each once, in order: {numbers:?}");
    let end = by_id(items(&api.read_for_company("c", &format!("{CHARGES}?pageSize=1000"))));
    assert_eq!(known, end);
}

#[test]
fn a_list_and_its_log_position_are_consistent() {
    let api = ApiFixture::new();
    api.ingest.send_lines(&[company("c")]);
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for number in 0..150 {
                api.ingest.send_lines(&[charge("c", &number.to_string(), 1)]);
            }
        });
        while !writer.is_finished() {
            let list = api.read_for_company("c", &format!("{CHARGES}?pageSize=1000"));
            let position: usize = list.header("x-sequence-version").parse().unwrap();
            let records = items(&list);
            assert_eq!(records.len() + 1, position, "one event per record, and one for the company");
            assert!(list.header("x-pagination").contains(&format!("\"totalCount\":{},", records.len())));
        }
    });
}

#[test]
fn the_feed_alone_rebuilds_the_list() {
    let api = ApiFixture::new();
    api.ingest.send_lines(&[company("c")]);
    write(&api);
    let changes = api.read_all_pages("c", &format!("{CHARGES}/changes?pageSize=50"), 20);
    let mut ids: Vec<String> = Vec::new();
    for change in &changes {
        let id = change["correlationId"].as_str().unwrap().to_owned();
        match change["event"].as_str().unwrap() {
            "Svc.ACC.Charges.ChargeCreated" => ids.push(id),
            "Svc.ACC.Charges.ChargeDeleted" => ids.retain(|known| *known != id),
            other => assert_eq!(other, "Svc.ACC.Charges.ChargeUpdated"),
        }
    }
    let listed: Vec<String> = api
        .read_all_pages("c", &format!("{CHARGES}?pageSize=100"), 10)
        .iter()
        .map(|one| one["correlationId"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(ids, listed, "in order of creation too");
}
