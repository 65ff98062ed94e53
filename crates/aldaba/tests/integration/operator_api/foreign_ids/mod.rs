//! The matrix of every operation of the operator's document with ids that lead nowhere: ids of nobody, ids of things of
//! another kind, and ids of things below another parent than the path's. Operators see every tenant, so that no id is foreign
//! to them by itself; but a thing is found below its own parent alone, and elsewhere the answer is, byte for byte, the one that
//! an id of nobody gets. The operations come from the document: a new one that has no row here fails the test.

mod fixture;
mod rows;

use std::collections::BTreeSet;

use fixture::{Ids, World};
use rows::{Operation, Probe};

use crate::harness::{HttpResponse, is_guid};

/// Ids that nobody has, in the two shapes that ids have.
const NOBODYS_GUID: &str = "3c1f6a52-9a0e-4f3b-8d47-5b1f0a9c7e21";
const NOBODYS_NAME: &str = "nobody-at-all";
/// Ids shorter than this are replaced in quotation marks alone: a number is part of many texts.
const LONG_ENOUGH: usize = 4;

/// The kinds of things whose ids one table has, so that an id of one kind can be mistaken for one of another.
const KINDS: [&str; 11] = [
    "tenant",
    "user",
    "client",
    "subscription",
    "webhook",
    "team",
    "developer",
    "operator",
    "token",
    "request",
    "invitation",
];

/// An id of nobody that looks like this one.
fn nobodys(id: &str) -> &'static str {
    if is_guid(id) { NOBODYS_GUID } else { NOBODYS_NAME }
}

/// What of a response tells something: status, headers and body, without what is new in every response and with a
/// placeholder for each id that was asked for.
fn comparable(response: &HttpResponse, ids: &Ids) -> (u16, BTreeSet<String>, String) {
    let request_id = response.header("x-request-id").to_owned();
    assert!(!request_id.is_empty(), "{response:?}");
    let mut asked_for: Vec<&str> = ids.values().map(String::as_str).collect();
    asked_for.sort_by_key(|id| std::cmp::Reverse(id.len()));
    // The same placeholder for all: two parameters of a path may have the same id.
    let replaced = |text: &str, is_body: bool| {
        asked_for.iter().fold(text.replace(&request_id, "<request>"), |text, id| {
            if id.len() >= LONG_ENOUGH {
                text.replace(*id, "<id>")
            } else if is_body {
                text.replace(&format!("\\\"{id}\\\""), "\\\"<id>\\\"")
            } else {
                text
            }
        })
    };
    // The body repeats the id, whose length may differ.
    let differing = ["content-length", "date"];
    let headers = response.headers.iter().filter(|(name, _)| !differing.contains(&name.as_str()));
    let headers =
        headers.map(|(name, value)| format!("{name}: {}", replaced(value.to_str().unwrap(), false)));
    (response.status, headers.collect(), replaced(response.text(), true))
}

/// What is wrong, and how many pairs of requests were sent.
#[derive(Default)]
struct Matrix {
    pairs: usize,
    wrong: Vec<String>,
}

impl Matrix {
    /// Asks for things elsewhere and for things of nobody: both answers are the same, with this status.
    fn compare(&mut self, world: &World, operation: &Operation, probe: &Probe) {
        let (found, unknown) = (operation.send(world, &probe.foreign), operation.send(world, &probe.unknown));
        let (answer, other) = (comparable(&found, &probe.foreign), comparable(&unknown, &probe.unknown));
        let is_as_expected = found.status == probe.status && !answer.2.contains("s3cret");
        if answer != other || !is_as_expected {
            let place = format!("{} {} with {}", operation.verb, operation.path, probe.what);
            self.wrong.push(format!("{place}, expected {}: {answer:?} / {other:?}", probe.status));
        }
        self.pairs += 1;
    }

    /// Each parameter of the path with an id of nobody, and with ids of things of other kinds.
    fn check_parameters(&mut self, world: &World, operation: &Operation) {
        for name in operation.things() {
            let with = |id: &str| {
                let mut ids = operation.own_ids(&world.north);
                ids.insert(name, id.to_owned());
                ids
            };
            for id in [NOBODYS_GUID, NOBODYS_NAME, "987654321"] {
                let found = operation.send(world, &with(id));
                if found.status != operation.status_of_unknown(name) {
                    let place = format!("{} {} with {{{name}}} = {id}", operation.verb, operation.path);
                    self.wrong.push(format!("{place}: {found:?}"));
                }
            }
            for kind in KINDS.into_iter().filter(|kind| *kind != name && KINDS.contains(&name)) {
                let id = &world.north[kind];
                let (foreign, unknown) = (with(id), with(nobodys(id)));
                let probe = Probe {
                    what: format!("the id of a {kind} as {{{name}}}"),
                    foreign,
                    unknown,
                    status: 404,
                };
                self.compare(world, operation, &probe);
            }
        }
    }
}

#[test]
fn things_of_other_kinds_and_of_other_parents_are_answered_as_things_of_nobody() {
    let world = World::new();
    let document = world.server.operator_get("/operator/v1/openapi.json").json();
    let operations = Operation::all(&document);
    assert!(operations.len() > 60, "{}", operations.len());
    let before = world.snapshot();
    let mut matrix = Matrix::default();
    let mut nested = 0;
    for operation in &operations {
        matrix.check_parameters(&world, operation);
        for probe in operation.probes(&world) {
            matrix.compare(&world, operation, &probe);
            nested += 1;
        }
    }
    assert!(matrix.wrong.is_empty(), "{}", matrix.wrong.join("\n"));
    assert_eq!(world.snapshot(), before, "an attempt changed something");
    assert!(nested >= 20 && matrix.pairs > 500, "{nested} of {} pairs", matrix.pairs);
}

/// Without this, the matrix would compare answers that are the same because the request itself is wrong.
#[test]
fn own_things_are_found() {
    let world = World::new();
    let document = world.server.operator_get("/operator/v1/openapi.json").json();
    for operation in Operation::all(&document).iter().filter(|operation| operation.verb == "get") {
        let found = operation.send(&world, &operation.own_ids(&world.north));
        // The team has no sandbox.
        let is_without = operation.path.contains("/sandbox") && found.status == 404;
        assert!(found.status == 200 || is_without, "{} {}: {found:?}", operation.verb, operation.path);
    }
}
