//! Several nodes over one PostgreSQL database share the deliveries; when a node dies or hangs, the others take over.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use hyper::Method;
use serde_json::{Value, json};

use super::{CUSTOMERS, expect_state, get, send};
use crate::harness::{
    ApiFixture, Database, FrozenProcess, IngestClient, Installation, ReceivedRequest, Receiver, ServeProcess,
    SubscriptionKeys, company, customer, metric, wait_for,
};

const RECORDS: usize = 20;

/// With a time-out of 1 s a lease lasts 3.5 s.
const SETTINGS: [&str; 6] = [
    "gateway.rate_per_minute=0",
    "egress.loopback=true",
    "delivery.schedule=100ms",
    "delivery.window=10m",
    "delivery.timeout=1s",
    "delivery.share_after=1s",
];

/// Starts `count` nodes over one database.
fn start(database: &Database, count: usize) -> Vec<ServeProcess> {
    start_with(database, count, &SETTINGS)
}

pub(super) fn start_with(database: &Database, count: usize, settings: &[&str]) -> Vec<ServeProcess> {
    let first = Installation::with_store(&database.url());
    let others: Vec<Installation> = (1..count).map(|_| Installation::with_store(&database.url())).collect();
    for installation in &others {
        installation.copy_master_key_from(&first);
    }
    let installations = std::iter::once(first).chain(others);
    installations.map(|installation| ServeProcess::start(installation, settings)).collect()
}

pub(super) fn held(node: &ServeProcess) -> u64 {
    node.metric("aldaba_webhooks_held")
}

fn delivered(node: &ServeProcess) -> u64 {
    node.metric("aldaba_deliveries_total")
}

/// Waits until every node holds some webhooks and together they hold all.
#[track_caller]
pub(super) fn wait_shared(nodes: &[&ServeProcess], webhooks: u64) {
    wait_for("the webhooks to be distributed", || {
        let held: Vec<u64> = nodes.iter().map(|node| held(node)).collect();
        (held.iter().sum::<u64>() == webhooks && !held.contains(&0)).then_some(())
    });
}

pub(super) fn subscribe(api: &ApiFixture<'_>, url: &str) -> String {
    let body = json!({
        "thirdPartyApplicationName": "Panel", "url": url, "secret": "s",
        "eventTypes": ["Svc.ACC.Customers.CustomerCreated", "Svc.ACC.Customers.CustomerUpdated"],
    });
    expect_state(&send(api, Method::POST, &format!("{CUSTOMERS}/webhooks/subscribe"), Some(&body)), 3)
}

#[track_caller]
pub(super) fn wait_active(api: &ApiFixture<'_>, count: usize) {
    wait_for("all receivers to accept", || {
        let all = get(api, &format!("{CUSTOMERS}/webhooks")).json();
        (all.as_array().unwrap().iter().filter(|one| one["isActive"] == true).count() == count).then_some(())
    });
}

/// The deliveries that a receiver answered with 200, in order of arrival: path, record and sequence number.
type AcceptedDeliveries = Arc<Mutex<Vec<(String, String, u64)>>>;

/// Makes the receiver record its deliveries and refuse the first attempt of some events.
fn make_flaky(receiver: &Receiver) -> AcceptedDeliveries {
    let accepted = AcceptedDeliveries::default();
    let (recorded, tries) = (accepted.clone(), Mutex::new(HashMap::<(String, u64), usize>::new()));
    receiver.respond_with(move |request| Some((respond(request, &tries, &recorded), "")));
    accepted
}

fn respond(
    request: &ReceivedRequest,
    tries: &Mutex<HashMap<(String, u64), usize>>,
    accepted: &AcceptedDeliveries,
) -> u16 {
    let (Some(record), Some(sequence)) = (request.record(), request.sequence()) else { return 200 };
    let event = (request.target.clone(), sequence);
    let mut tries = tries.lock().unwrap();
    let attempts = tries.entry(event).or_default();
    *attempts += 1;
    if *attempts == 1 && (sequence + request.target.len() as u64).is_multiple_of(7) {
        return 500;
    }
    accepted.lock().unwrap().push((request.target.clone(), record, sequence));
    200
}

/// Asserts that every webhook got every change, and each record's changes in order.
#[track_caller]
fn assert_complete_and_in_order(
    accepted: &AcceptedDeliveries,
    paths: &[String],
    changes: &BTreeMap<u64, String>,
) {
    let accepted = accepted.lock().unwrap().clone();
    for path in paths {
        let mut first = BTreeSet::new();
        let mut last: HashMap<&str, u64> = HashMap::new();
        for (_, record, sequence) in accepted.iter().filter(|(target, ..)| target == path) {
            if first.insert(*sequence) {
                let before = last.insert(record, *sequence);
                assert!(
                    before.is_none_or(|before| before < *sequence),
                    "{path}, {record}: {sequence} after {before:?}"
                );
            }
        }
        assert!(first.iter().eq(changes.keys()), "{path}: {} of {}", first.len(), changes.len());
    }
}

/// Changes all records once and adds the sequence numbers to `changes`.
fn change_all(ingest: &IngestClient, changes: &mut BTreeMap<u64, String>, name: &str) {
    let lines: Vec<Value> = (0..RECORDS).map(|record| customer("c", &format!("r{record}"), name)).collect();
    let answer = ingest.send_lines(&lines);
    assert_eq!(answer.counts(), (RECORDS as u64, 0));
    let first = answer.head() + 1 - RECORDS as u64;
    changes.extend((first..).zip((0..RECORDS).map(|record| format!("r{record}"))));
}

/// Waits for all deliveries; each new one restarts the time limit, because a busy machine may be slow.
#[track_caller]
fn wait_for_all(accepted: &AcceptedDeliveries, webhooks: usize, changes: usize) {
    let events = || {
        let accepted = accepted.lock().unwrap();
        accepted
            .iter()
            .map(|(target, _, sequence)| (target.as_str(), *sequence))
            .collect::<BTreeSet<_>>()
            .len()
    };
    let mut seen = events();
    while seen < webhooks * changes {
        seen = wait_for("more deliveries", || Some(events()).filter(|now| *now > seen));
    }
}

#[test]
fn nodes_take_over_from_killed_and_frozen_nodes() {
    const WEBHOOKS: usize = 24;
    let (database, receiver) = (Database::create(), Receiver::open());
    let mut nodes = start(&database, 3);
    let accepted = make_flaky(&receiver);
    let mut changes = BTreeMap::new();
    let paths: Vec<String> = (0..WEBHOOKS).map(|number| format!("/{number}")).collect();
    let ingest = {
        let api = ApiFixture::on(&nodes[0], &SubscriptionKeys::new(&nodes[0], &[]));
        api.ingest.send_lines(&[company("c")]);
        for path in &paths {
            subscribe(&api, &receiver.url(path));
        }
        wait_active(&api, WEBHOOKS);
        api.ingest.clone()
    };
    wait_shared(&nodes.iter().collect::<Vec<_>>(), WEBHOOKS as u64);
    let before: Vec<u64> = nodes.iter().map(delivered).collect();
    for round in 0..3 {
        change_all(&ingest, &mut changes, &format!("shared {round}"));
    }
    wait_for_all(&accepted, WEBHOOKS, changes.len());
    for (node, before) in nodes.iter().zip(before) {
        assert!(delivered(node) > before, "each node has delivered some");
    }

    // Kill one node while it delivers.
    let seen = accepted.lock().unwrap().len();
    for round in 0..3 {
        change_all(&ingest, &mut changes, &format!("killed {round}"));
    }
    wait_for("some deliveries", || (accepted.lock().unwrap().len() > seen + 20).then_some(()));
    nodes[2].process.kill();
    wait_for_all(&accepted, WEBHOOKS, changes.len());
    wait_shared(&[&nodes[0], &nodes[1]], WEBHOOKS as u64);

    // Freeze another node while it delivers, for longer than its lease, and then let it continue.
    let seen = accepted.lock().unwrap().len();
    for round in 0..3 {
        change_all(&ingest, &mut changes, &format!("frozen {round}"));
    }
    wait_for("some deliveries", || (accepted.lock().unwrap().len() > seen + 20).then_some(()));
    let frozen = nodes[1].process.freeze();
    change_all(&ingest, &mut changes, "while one hangs");
    wait_for_all(&accepted, WEBHOOKS, changes.len());
    wait_shared(&[&nodes[0]], WEBHOOKS as u64);
    drop(frozen);
    change_all(&ingest, &mut changes, "while it wakes");
    wait_shared(&[&nodes[0], &nodes[1]], WEBHOOKS as u64);
    change_all(&ingest, &mut changes, "awake");
    wait_for_all(&accepted, WEBHOOKS, changes.len());
    assert_complete_and_in_order(&accepted, &paths, &changes);
    nodes[0].assert_healthy();
    nodes[1].assert_healthy();
}

/// The index of the node with a delivery in flight.
fn sender(nodes: &[(String, u32)]) -> usize {
    wait_for("a delivery in flight", || {
        nodes.iter().position(|(url, _)| metric(url, "aldaba_deliveries_in_flight") == 1)
    })
}

#[test]
fn a_frozen_node_does_not_record_outcomes_after_losing_its_lease() {
    const WEBHOOKS: usize = 12;
    let (database, receiver) = (Database::create(), Receiver::open());
    let nodes = start(&database, 2);
    let api = ApiFixture::on(&nodes[0], &SubscriptionKeys::new(&nodes[0], &[]));
    api.ingest.send_lines(&[company("c")]);
    let id = subscribe(&api, &receiver.url("/hook"));
    // The other webhooks get no events; they show when the webhooks are distributed.
    for number in 1..WEBHOOKS {
        let body = json!({
            "thirdPartyApplicationName": "Panel", "url": receiver.url(&format!("/{number}")), "secret": "s",
            "eventTypes": ["Svc.ACC.Customers.CustomerDisabled"],
        });
        expect_state(&send(&api, Method::POST, &format!("{CUSTOMERS}/webhooks/subscribe"), Some(&body)), 3);
    }
    wait_active(&api, WEBHOOKS);
    wait_shared(&[&nodes[0], &nodes[1]], WEBHOOKS as u64);
    let known: Vec<_> = nodes.iter().map(|node| (node.operator_url.clone(), node.process.id())).collect();
    let (seen, frozen_sender) = (AtomicUsize::new(0), Arc::new(Mutex::new(None)));
    let recorded = frozen_sender.clone();
    // The first sender freezes before it reads the 200; every later attempt gets 500.
    receiver.respond_with(move |request| {
        if request.record().is_none() {
            return Some((200, ""));
        }
        if seen.fetch_add(1, Ordering::Relaxed) > 0 {
            return Some((500, ""));
        }
        let sender = sender(&known);
        *recorded.lock().unwrap() = Some((sender, FrozenProcess::freeze(known[sender].1)));
        Some((200, ""))
    });
    nodes[1].ingest_client(&api.sign_in.tenants[0]).send_lines(&[customer("c", "r", "Ñandú")]);
    let received = receiver.wait_for(3);
    assert!(
        received.iter().all(|request| request.body == received[0].body),
        "the same event, the same bytes"
    );
    let (holder, frozen) = frozen_sender.lock().unwrap().take().unwrap();
    let (holder, other) = (&nodes[holder], &nodes[1 - holder]);
    drop(frozen);
    // The frozen node continues with its old state while more attempts fail.
    holder.assert_healthy();
    receiver.wait_for(receiver.changes().len() + 10);
    let outgoing = received[0].json()["OutgoingId"].as_str().unwrap().to_owned();
    let path = format!("{CUSTOMERS}/webhooks/{id}/deliveries/{outgoing}");
    let read_delivery = || api.credentials().get(other, &path).header("context", "none").send().json();
    let before = read_delivery();
    assert_eq!((&before["status"], &before["deliveredAt"]), (&json!("waiting"), &Value::Null), "{before}");
    let attempts = before["attempts"].as_array().unwrap();
    assert!(!attempts.is_empty() && attempts.iter().all(|one| one["status"] == 500), "{before}");
    receiver.respond_with(|_| Some((200, "")));
    wait_for("the event to be delivered", || (read_delivery()["status"] == "delivered").then_some(()));
}
