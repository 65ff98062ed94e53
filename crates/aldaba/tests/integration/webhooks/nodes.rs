//! Several nodes share the deliveries of one PostgreSQL database: each does its part, and what one leaves behind when
//! it dies or hangs, the others do.

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

/// With a time-out of 1 s a lease lasts 6 s.
const SETTINGS: [&str; 5] = [
    "gateway.rate_per_minute=0",
    "egress.loopback=true",
    "delivery.schedule=100ms",
    "delivery.window=10m",
    "delivery.timeout=1s",
];

/// So many nodes over one database.
fn start(database: &Database, count: usize) -> Vec<ServeProcess> {
    let first = Installation::with_store(&database.url());
    let others: Vec<Installation> = (1..count).map(|_| Installation::with_store(&database.url())).collect();
    for installation in &others {
        installation.copy_master_key_from(&first);
    }
    let sites = std::iter::once(first).chain(others);
    sites.map(|installation| ServeProcess::with_settings(installation, &SETTINGS)).collect()
}

fn held(node: &ServeProcess) -> u64 {
    node.metric("aldaba_webhooks_held")
}

fn delivered(node: &ServeProcess) -> u64 {
    node.metric("aldaba_deliveries_total")
}

/// Waits until each of the nodes has some of the webhooks, and together they have all.
#[track_caller]
fn wait_shared(nodes: &[&ServeProcess], webhooks: u64) {
    wait_for("the webhooks to be shared out", || {
        let held: Vec<u64> = nodes.iter().map(|node| held(node)).collect();
        (held.iter().sum::<u64>() == webhooks && !held.contains(&0)).then_some(())
    });
}

fn subscribe(api: &ApiFixture<'_>, url: &str) -> String {
    let body = json!({
        "thirdPartyApplicationName": "Panel", "url": url, "secret": "s",
        "eventTypes": ["Svc.ACC.Customers.CustomerCreated", "Svc.ACC.Customers.CustomerUpdated"],
    });
    expect_state(&send(api, Method::POST, &format!("{CUSTOMERS}/webhooks/subscribe"), Some(&body)), 3)
}

#[track_caller]
fn wait_active(api: &ApiFixture<'_>, count: usize) {
    wait_for("all receivers to accept", || {
        let all = get(api, &format!("{CUSTOMERS}/webhooks")).json();
        (all.as_array().unwrap().iter().filter(|one| one["isActive"] == true).count() == count).then_some(())
    });
}

/// What a receiver answered with 200, in the order in which it came: who was told, of which record, and its number.
type Taken = Arc<Mutex<Vec<(String, String, u64)>>>;

/// A receiver that notes what it takes, and now and then says no for the first time.
fn moody(receiver: &Receiver) -> Taken {
    let taken = Taken::default();
    let (noted, tries) = (taken.clone(), Mutex::new(HashMap::<(String, u64), usize>::new()));
    receiver.respond_with(move |request| Some((judge(request, &tries, &noted), "")));
    taken
}

fn judge(request: &ReceivedRequest, tries: &Mutex<HashMap<(String, u64), usize>>, taken: &Taken) -> u16 {
    let (Some(record), Some(sequence)) = (request.record(), request.sequence()) else { return 200 };
    let event = (request.target.clone(), sequence);
    let mut tries = tries.lock().unwrap();
    let tried = tries.entry(event).or_default();
    *tried += 1;
    if *tried == 1 && (sequence + request.target.len() as u64).is_multiple_of(7) {
        return 500;
    }
    taken.lock().unwrap().push((request.target.clone(), record, sequence));
    200
}

/// Every webhook has taken every change, and of no record a later change before an earlier one.
#[track_caller]
fn is_whole_and_in_order(taken: &Taken, paths: &[String], changes: &BTreeMap<u64, String>) {
    let taken = taken.lock().unwrap().clone();
    for path in paths {
        let mut first = BTreeSet::new();
        let mut last: HashMap<&str, u64> = HashMap::new();
        for (_, record, sequence) in taken.iter().filter(|(target, ..)| target == path) {
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

/// Changes all records once; their numbers are remembered.
fn change_all(ingest: &IngestClient, changes: &mut BTreeMap<u64, String>, name: &str) {
    let lines: Vec<Value> = (0..RECORDS).map(|record| customer("c", &format!("r{record}"), name)).collect();
    let answer = ingest.send_lines(&lines);
    assert_eq!(answer.counts(), (RECORDS as u64, 0));
    let first = answer.head() + 1 - RECORDS as u64;
    changes.extend((first..).zip((0..RECORDS).map(|record| format!("r{record}"))));
}

/// Waits for as long as more is taken: a busy machine is slow, and not stuck.
#[track_caller]
fn wait_for_all(taken: &Taken, webhooks: usize, changes: usize) {
    let events = || {
        let taken = taken.lock().unwrap();
        taken.iter().map(|(target, _, sequence)| (target.as_str(), *sequence)).collect::<BTreeSet<_>>().len()
    };
    let mut seen = events();
    while seen < webhooks * changes {
        seen = wait_for("more to be taken", || Some(events()).filter(|now| *now > seen));
    }
}

#[test]
fn three_nodes_share_the_work_and_two_may_go() {
    const WEBHOOKS: usize = 24;
    let (database, receiver) = (Database::create(), Receiver::open());
    let mut nodes = start(&database, 3);
    let taken = moody(&receiver);
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
    wait_for_all(&taken, WEBHOOKS, changes.len());
    for (node, before) in nodes.iter().zip(before) {
        assert!(delivered(node) > before, "each node has delivered some");
    }

    // One is killed while it delivers.
    let seen = taken.lock().unwrap().len();
    for round in 0..3 {
        change_all(&ingest, &mut changes, &format!("killed {round}"));
    }
    wait_for("some of it to be taken", || (taken.lock().unwrap().len() > seen + 20).then_some(()));
    nodes[2].process.kill();
    wait_for_all(&taken, WEBHOOKS, changes.len());
    wait_shared(&[&nodes[0], &nodes[1]], WEBHOOKS as u64);

    // Another hangs while it delivers, for longer than its lease, and then goes on as if nothing had been.
    let seen = taken.lock().unwrap().len();
    for round in 0..3 {
        change_all(&ingest, &mut changes, &format!("frozen {round}"));
    }
    wait_for("some of it to be taken", || (taken.lock().unwrap().len() > seen + 20).then_some(()));
    let frozen = nodes[1].process.freeze();
    change_all(&ingest, &mut changes, "while one hangs");
    wait_for_all(&taken, WEBHOOKS, changes.len());
    wait_shared(&[&nodes[0]], WEBHOOKS as u64);
    drop(frozen);
    change_all(&ingest, &mut changes, "while it wakes");
    wait_shared(&[&nodes[0], &nodes[1]], WEBHOOKS as u64);
    change_all(&ingest, &mut changes, "awake");
    wait_for_all(&taken, WEBHOOKS, changes.len());
    is_whole_and_in_order(&taken, &paths, &changes);
    nodes[0].assert_healthy();
    nodes[1].assert_healthy();
}

/// The one of the nodes that has a letter under way.
fn sender(nodes: &[(String, u32)]) -> usize {
    wait_for("one to be sending", || {
        nodes.iter().position(|(url, _)| metric(url, "aldaba_deliveries_in_flight") == 1)
    })
}

#[test]
fn what_a_node_knew_before_it_hung_is_not_written_down() {
    const WEBHOOKS: usize = 12;
    let (database, receiver) = (Database::create(), Receiver::open());
    let nodes = start(&database, 2);
    let api = ApiFixture::on(&nodes[0], &SubscriptionKeys::new(&nodes[0], &[]));
    api.ingest.send_lines(&[company("c")]);
    let id = subscribe(&api, &receiver.url("/hook"));
    // The others hear of nothing, but tell when the webhooks have been shared out.
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
    let (seen, hung) = (AtomicUsize::new(0), Arc::new(Mutex::new(None)));
    let noted = hung.clone();
    // Who sends the first letter hangs before it hears that it was taken; who comes after it hears no.
    receiver.respond_with(move |request| {
        if request.record().is_none() {
            return Some((200, ""));
        }
        if seen.fetch_add(1, Ordering::Relaxed) > 0 {
            return Some((500, ""));
        }
        let sender = sender(&known);
        *noted.lock().unwrap() = Some((sender, FrozenProcess::freeze(known[sender].1)));
        Some((200, ""))
    });
    nodes[1].ingest_client(&api.sign_in.tenants[0]).send_lines(&[customer("c", "r", "Ñandú")]);
    let came = receiver.wait_for(3);
    assert!(came.iter().all(|request| request.body == came[0].body), "the same event, the same bytes");
    let (holder, frozen) = hung.lock().unwrap().take().unwrap();
    let (holder, other) = (&nodes[holder], &nodes[1 - holder]);
    drop(frozen);
    // It goes on with what it knew; whether it forgets that by itself or is told, while more attempts fail.
    holder.assert_healthy();
    receiver.wait_for(receiver.changes().len() + 10);
    let outgoing = came[0].json()["OutgoingId"].as_str().unwrap().to_owned();
    let path = format!("{CUSTOMERS}/webhooks/{id}/deliveries/{outgoing}");
    let told = || api.credentials().get(other, &path).header("context", "none").send().json();
    let before = told();
    assert_eq!((&before["status"], &before["deliveredAt"]), (&json!("waiting"), &Value::Null), "{before}");
    let attempts = before["attempts"].as_array().unwrap();
    assert!(!attempts.is_empty() && attempts.iter().all(|one| one["status"] == 500), "{before}");
    receiver.respond_with(|_| Some((200, "")));
    wait_for("it to be delivered", || (told()["status"] == "delivered").then_some(()));
}
