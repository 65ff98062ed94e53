//! The matrix of every operation of the public document with the ids of others: another tenant's, another client's and
//! another company's. Each answer is the same, byte for byte, as for an id that nobody has, but for its request id. The
//! operations come from the document: a new one that has no row here fails the test.

mod fixture;
mod identity;
mod rows;

use std::collections::BTreeSet;

use serde_json::Value;

use fixture::{Caller, Estate, World};
use rows::{Ids, Operation, Row};

use crate::harness::HttpResponse;

/// What of a response tells something: status, headers and body, without what is new in every response and with a
/// placeholder for each id that was asked for.
fn comparable(response: &HttpResponse, ids: &Ids) -> (u16, BTreeSet<String>, String) {
    let request_id = response.header("x-request-id").to_owned();
    assert!(!request_id.is_empty(), "{response:?}");
    let without_ids = |text: &str| {
        let named = [&ids.record, &ids.company, &ids.webhook, &ids.outgoing, &ids.secret];
        let named = named.into_iter().filter(|id| !id.is_empty());
        named.fold(text.replace(&request_id, "<request>"), |text, id| text.replace(id.as_str(), "<id>"))
    };
    let headers = response.headers.iter().filter(|(name, _)| *name != "date");
    let headers = headers.map(|(name, value)| format!("{name}: {}", without_ids(value.to_str().unwrap())));
    (response.status, headers.collect(), without_ids(response.text()))
}

/// Asks for ids of others and for ids that nobody has, and compares. Returns the status of both.
fn compare(operation: &Operation, caller: &Caller, foreign: &Ids, unknown: &Ids) -> u16 {
    let place = || format!("{} {} of {} by {}", operation.verb, operation.path, foreign.whose, caller.name);
    let (theirs, nobodys) = (operation.send(caller, foreign), operation.send(caller, unknown));
    let answer = comparable(&theirs, foreign);
    assert_eq!(answer, comparable(&nobodys, unknown), "{}", place());
    assert!(!answer.2.contains(&foreign.mark), "{}: {theirs:?}", place());
    if operation.verb == "get" {
        let (theirs, nobodys) = (operation.head(caller, foreign), operation.head(caller, unknown));
        assert_eq!(comparable(&theirs, foreign), comparable(&nobodys, unknown), "HEAD, {}", place());
    }
    theirs.status
}

/// Checks one operation; returns how many pairs of requests that took.
fn check(operation: &Operation, world: &World) -> usize {
    match operation.row(world) {
        Row::Compared(status, probes) => {
            for (caller, foreign, unknown) in &probes {
                let found = compare(operation, caller, foreign, unknown);
                assert_eq!(found, status, "{} {} of {}", operation.verb, operation.path, foreign.whose);
            }
            probes.len()
        }
        Row::OwnAlone => {
            let own = operation.send(&world.victim, &world.victim.ids(&operation.group()));
            assert_eq!(own.status, 200, "{operation:?}: {own:?}");
            for caller in world.others() {
                let listed = operation.send(caller, &caller.ids(&operation.group()));
                assert_eq!(listed.status, 200, "{operation:?}: {listed:?}");
                let foreign = world.ids_not_of(caller, &operation.group());
                for id in foreign.iter().filter(|id| !id.is_empty()) {
                    assert!(!listed.text().contains(id.as_str()), "{operation:?} shows {id}: {listed:?}");
                }
            }
            world.others().count()
        }
        Row::Checked(check) => check(world, operation),
    }
}

#[test]
fn ids_of_others_are_answered_as_ids_of_nobody() {
    let world = World::new();
    let document: Value = world.server.get("/openapi.json").json();
    let mut operations = Operation::all(&document);
    // Who has repeated the victim's subscription has one of their own to end.
    operations.sort_by_key(|operation| !operation.path.ends_with("/unsubscribe"));
    assert!(operations.len() > 300, "{}", operations.len());
    let before = world.snapshot();
    let mut pairs = 0;
    for operation in &operations {
        pairs += check(operation, &world);
    }
    assert_eq!(world.snapshot(), before, "an attempt changed something of the victim's");
    assert!(pairs > 2 * operations.len(), "{pairs} pairs of {} operations", operations.len());
}

/// The comparison notices what it must notice.
#[test]
fn answers_that_differ_in_a_word_or_a_header_are_not_the_same() {
    let answer = |status, body: &str, header: &'static str| {
        let mut headers = hyper::HeaderMap::new();
        headers.insert("x-request-id", "r-1".parse().unwrap());
        headers.insert("etag", header.parse().unwrap());
        HttpResponse { status, headers, body: body.to_owned().into() }
    };
    let ids = Estate::default().ids_for_tests("a-1");
    let compared = |response: &HttpResponse| comparable(response, &ids);
    let unknown = compared(&answer(404, "no r-1 a-1", "W/1"));
    assert_eq!(unknown.2, "no <request> <id>");
    assert_ne!(compared(&answer(403, "no r-1 a-1", "W/1")), unknown);
    assert_ne!(compared(&answer(404, "no r-1 a-2", "W/1")), unknown);
    assert_ne!(compared(&answer(404, "no r-1 a-1", "W/2")), unknown);
}
