//! Several nodes share the deliveries of one PostgreSQL database: each does its part, and what one leaves behind when
//! it dies or hangs, the others do.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use hyper::Method;
use serde_json::{Value, json};

use super::{CUSTOMERS, done, get, send};
use crate::harness::{
    Api, Database, Door, Frozen, Keys, Letter, Receiver, Serve, Site, company, customer, until,
};

const RECORDS: usize = 20;

/// With a time-out of 1 s a lease lasts 6 s.
fn arguments() -> Vec<&'static str> {
    let set = [
        "gateway.rate_per_minute=0",
        "egress.loopback=true",
        "delivery.schedule=100ms",
        "delivery.window=10m",
        "delivery.timeout=1s",
        "logging.level=info,webhooks=debug",
    ];
    set.into_iter().flat_map(|one| ["--set", one]).collect()
}

/// So many nodes over one database.
fn start(database: &Database, count: usize) -> Vec<Serve> {
    let first = Site::over(&database.url());
    let others: Vec<Site> = (1..count).map(|_| Site::over(&database.url())).collect();
    for site in &others {
        site.share_master_key(&first);
    }
    let sites = std::iter::once(first).chain(others);
    sites.map(|site| Serve::start(site, &arguments())).collect()
}

fn held(node: &Serve) -> u64 {
    node.measure("aldaba_webhooks_held")
}

fn delivered(node: &Serve) -> u64 {
    node.measure("aldaba_deliveries_total")
}

/// Waits until each of the nodes has some of the webhooks, and together they have all.
#[track_caller]
fn wait_shared(nodes: &[&Serve], webhooks: u64) {
    until("the webhooks to be shared out", || {
        let held: Vec<u64> = nodes.iter().map(|node| held(node)).collect();
        (held.iter().sum::<u64>() == webhooks && !held.contains(&0)).then_some(())
    });
}

fn subscribe(api: &Api<'_>, url: &str) -> String {
    let body = json!({
        "thirdPartyApplicationName": "Panel", "url": url, "secret": "s",
        "eventTypes": ["Svc.ACC.Customers.CustomerCreated", "Svc.ACC.Customers.CustomerUpdated"],
    });
    done(&send(api, Method::POST, &format!("{CUSTOMERS}/webhooks/subscribe"), Some(&body)), 3)
}

#[track_caller]
fn wait_active(api: &Api<'_>, count: usize) {
    until("all receivers to accept", || {
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
    receiver.answers(move |letter| Some((judge(letter, &tries, &noted), "")));
    taken
}

fn judge(letter: &Letter, tries: &Mutex<HashMap<(String, u64), usize>>, taken: &Taken) -> u16 {
    let (Some(record), Some(sequence)) = (letter.record(), letter.sequence()) else { return 200 };
    let event = (letter.target.clone(), sequence);
    let mut tries = tries.lock().unwrap();
    let tried = tries.entry(event).or_default();
    *tried += 1;
    if *tried == 1 && (sequence + letter.target.len() as u64).is_multiple_of(7) {
        return 500;
    }
    taken.lock().unwrap().push((letter.target.clone(), record, sequence));
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
fn change_all(door: &Door, changes: &mut BTreeMap<u64, String>, name: &str) {
    let lines: Vec<Value> = (0..RECORDS).map(|record| customer("c", &format!("r{record}"), name)).collect();
    let answer = door.send_lines(&lines);
    assert_eq!(answer.counts(), (RECORDS as u64, 0));
    let first = answer.head() + 1 - RECORDS as u64;
    changes.extend((first..).zip((0..RECORDS).map(|record| format!("r{record}"))));
}

#[track_caller]
fn wait_for_all(taken: &Taken, webhooks: usize, changes: usize) {
    until("everything to be taken", || {
        let taken = taken.lock().unwrap();
        let events: BTreeSet<(&str, u64)> =
            taken.iter().map(|(target, _, sequence)| (target.as_str(), *sequence)).collect();
        (events.len() == webhooks * changes).then_some(())
    });
}

#[test]
fn three_nodes_share_the_work_and_two_may_go() {
    const WEBHOOKS: usize = 24;
    let (database, receiver) = (Database::create(), Receiver::open());
    let mut nodes = start(&database, 3);
    let taken = moody(&receiver);
    let mut changes = BTreeMap::new();
    let paths: Vec<String> = (0..WEBHOOKS).map(|number| format!("/{number}")).collect();
    let door = {
        let api = Api::on(&nodes[0], &Keys::new(&nodes[0], &[]));
        api.door.send_lines(&[company("c")]);
        for path in &paths {
            subscribe(&api, &receiver.url(path));
        }
        wait_active(&api, WEBHOOKS);
        api.door.clone()
    };
    wait_shared(&nodes.iter().collect::<Vec<_>>(), WEBHOOKS as u64);
    let before: Vec<u64> = nodes.iter().map(delivered).collect();
    for round in 0..3 {
        change_all(&door, &mut changes, &format!("shared {round}"));
    }
    wait_for_all(&taken, WEBHOOKS, changes.len());
    for (node, before) in nodes.iter().zip(before) {
        assert!(delivered(node) > before, "each node has delivered some");
    }

    // One is killed while it delivers.
    let seen = taken.lock().unwrap().len();
    for round in 0..3 {
        change_all(&door, &mut changes, &format!("killed {round}"));
    }
    until("some of it to be taken", || (taken.lock().unwrap().len() > seen + 20).then_some(()));
    nodes[2].running.kill();
    wait_for_all(&taken, WEBHOOKS, changes.len());
    wait_shared(&[&nodes[0], &nodes[1]], WEBHOOKS as u64);

    // Another hangs while it delivers, for longer than its lease, and then goes on as if nothing had been.
    let seen = taken.lock().unwrap().len();
    for round in 0..3 {
        change_all(&door, &mut changes, &format!("frozen {round}"));
    }
    until("some of it to be taken", || (taken.lock().unwrap().len() > seen + 20).then_some(()));
    let frozen = nodes[1].running.freeze();
    change_all(&door, &mut changes, "while one hangs");
    wait_for_all(&taken, WEBHOOKS, changes.len());
    wait_shared(&[&nodes[0]], WEBHOOKS as u64);
    drop(frozen);
    change_all(&door, &mut changes, "while it wakes");
    wait_shared(&[&nodes[0], &nodes[1]], WEBHOOKS as u64);
    change_all(&door, &mut changes, "awake");
    wait_for_all(&taken, WEBHOOKS, changes.len());
    is_whole_and_in_order(&taken, &paths, &changes);
    nodes[0].is_well();
    nodes[1].is_well();
}

#[test]
fn what_a_node_knew_before_it_hung_is_not_written_down() {
    let (database, receiver) = (Database::create(), Receiver::open());
    let nodes = start(&database, 2);
    let api = Api::on(&nodes[0], &Keys::new(&nodes[0], &[]));
    api.door.send_lines(&[company("c")]);
    let id = subscribe(&api, &receiver.url("/hook"));
    wait_active(&api, 1);
    let holder = until("one of them to hold it", || {
        let held: Vec<u64> = nodes.iter().map(held).collect();
        (held.iter().sum::<u64>() == 1).then(|| held.iter().position(|one| *one == 1).unwrap())
    });
    let (holder, other) = (&nodes[holder], &nodes[1 - holder]);
    let (seen, process) = (AtomicUsize::new(0), holder.running.id());
    let frozen = Arc::new(Mutex::new(None));
    let kept = frozen.clone();
    // The holder hangs before it hears that the first letter was taken; who comes after it hears no.
    receiver.answers(move |letter| {
        if letter.record().is_none() {
            return Some((200, ""));
        }
        if seen.fetch_add(1, Ordering::Relaxed) > 0 {
            return Some((500, ""));
        }
        *kept.lock().unwrap() = Some(Frozen::freeze(process));
        Some((200, ""))
    });
    other.door(&api.office.tenants[0]).send_lines(&[customer("c", "r", "Ñandú")]);
    let came = receiver.wait_for(3);
    assert!(came.iter().all(|letter| letter.body == came[0].body), "the same event, the same bytes");
    assert_eq!(held(other), 1);
    drop(frozen.lock().unwrap().take());
    until("what it knew to be refused", || {
        holder.running.stderr().contains("another node has taken the shard").then_some(())
    });
    let outgoing = came[0].json()["OutgoingId"].as_str().unwrap().to_owned();
    let path = format!("{CUSTOMERS}/webhooks/{id}/deliveries/{outgoing}");
    let pass = api.pass();
    let told = pass.get(other, &path).header("context", "none").send().json();
    assert_eq!((&told["status"], &told["deliveredAt"]), (&json!("waiting"), &Value::Null), "{told}");
    let attempts = told["attempts"].as_array().unwrap();
    assert!(!attempts.is_empty() && attempts.iter().all(|one| one["status"] == 500), "{told}");
    let before = receiver.changes().len();
    receiver.answers(|_| Some((200, "")));
    receiver.wait_for(before + 1);
    until("it to be delivered", || {
        (pass.get(other, &path).header("context", "none").send().json()["status"] == "delivered")
            .then_some(())
    });
}
