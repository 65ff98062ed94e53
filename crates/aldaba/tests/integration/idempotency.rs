//! Idempotency-Key: whatever happens on the way, all of a body is in exactly once, and it is answered as one.

use bytes::Bytes;
use serde_json::{Value, json};

use crate::harness::{IngestClient, IngestResponse, bank, charge, ndjson, shared_server, wait_for};

/// A body with a line that is refused and one without an id among many that are fine.
fn mixed(count: usize) -> Vec<Value> {
    let mut lines: Vec<Value> = (0..count).map(|number| bank(&format!("b{number}"), "a")).collect();
    lines[1] = charge("nowhere", "x", 1);
    lines[2].as_object_mut().unwrap().remove("correlationId");
    lines
}

/// Sends until no other request under the key is under way: one whose connection broke may still be written down.
fn send_when_free(ingest: &IngestClient, key: &str, body: &Bytes) -> IngestResponse {
    wait_for("the key to be free", || {
        let response = ingest.request().header("idempotency-key", key).body(body.clone()).send();
        if response.status == 409 {
            assert_eq!(response.problem_code(), "idempotency_key_in_use", "{response:?}");
            return None;
        }
        Some(IngestResponse::from_response(&response))
    })
}

/// Every line without its id is one event, and the upserts of all of them were applied once.
#[track_caller]
fn is_in_once(ingest: &IngestClient, answer: &IngestResponse, lines: &[Value]) {
    let accepted = lines.len() as u64 - 1;
    assert_eq!((answer.counts(), answer.head()), ((accepted, 1), accepted));
    assert_eq!(answer.rejected_lines(), [(2, "unknown_company")]);
    assert_eq!(answer.ids.len(), 1);
    assert_eq!(ingest.head(), accepted);
}

#[test]
fn the_same_body_again_is_answered_the_same_and_applied_once() {
    let ingest = shared_server().ingest_for_new_tenant();
    let lines = mixed(5);
    let first = ingest.send_with_idempotency_key("load-1", ndjson(&lines));
    is_in_once(&ingest, &first, &lines);
    ingest.send_lines(&[bank("between", "x")]);
    assert_eq!(
        ingest.send_with_idempotency_key("load-1", ndjson(&lines)),
        first,
        "even the head as it was then"
    );
    assert_eq!(ingest.head(), 5, "nothing but the change in between");
    assert_ne!(ingest.send_with_idempotency_key("load-2", ndjson(&lines)).process_id, first.process_id);
}

#[test]
fn a_body_that_changes_something_back_is_not_applied_again() {
    let ingest = shared_server().ingest_for_new_tenant();
    let old = ndjson(&[bank("b", "old")]);
    assert_eq!(ingest.send_with_idempotency_key("k", old.clone()).head(), 1);
    assert_eq!(ingest.send_lines(&[bank("b", "new")]).head(), 2);
    assert_eq!(ingest.send_with_idempotency_key("k", old).head(), 1);
    assert_eq!(
        ingest.send_lines(&[bank("b", "new")]).head(),
        2,
        "the late retry did not bring the old name back"
    );
}

#[test]
fn a_body_that_was_cut_off_is_taken_up_where_it_broke() {
    let ingest = shared_server().ingest_for_new_tenant();
    let lines = mixed(2500);
    let body = Bytes::from(ndjson(&lines));
    for cut in [body.len() / 10, body.len() / 2, body.len() - 3] {
        let headers = format!(
            "content-type: application/x-ndjson\r\nidempotency-key: load\r\ncontent-length: {}\r\n",
            body.len()
        );
        let mut raw = ingest.raw(&headers);
        raw.send(&body[..cut]);
        drop(raw);
    }
    let answer = send_when_free(&ingest, "load", &body);
    is_in_once(&ingest, &answer, &lines);
    assert_eq!(send_when_free(&ingest, "load", &body), answer, "and it stays so");
}

#[test]
fn a_stream_that_breaks_after_some_of_it_was_committed_is_counted_as_one() {
    let ingest = shared_server().ingest_for_new_tenant();
    let lines = mixed(40);
    let body = Bytes::from(ndjson(&lines));
    let mut raw = ingest.raw("idempotency-key: load\r\ntransfer-encoding: chunked\r\n");
    let half = ndjson(&lines[..20]);
    raw.send_chunk(half.as_bytes());
    wait_for("the first half to be committed", || (ingest.head() == 19).then_some(()));
    drop(raw);
    let answer = send_when_free(&ingest, "load", &body);
    is_in_once(&ingest, &answer, &lines);
}

#[test]
fn another_body_under_the_same_key_is_refused() {
    let ingest = shared_server().ingest_for_new_tenant();
    ingest.send_with_idempotency_key("k", ndjson(&[bank("1", "a"), bank("2", "a")]));
    let others = [
        ndjson(&[bank("1", "a"), bank("2", "other")]),
        ndjson(&[bank("1", "a")]),
        ndjson(&[bank("0", "a"), bank("1", "a"), bank("2", "a")]),
        String::from("not json"),
        String::new(),
    ];
    for other in others {
        let refused = ingest.request().header("idempotency-key", "k").body(other.clone()).send();
        assert!(
            refused.problem(409).starts_with("Another body was sent under this Idempotency-Key before"),
            "{other}"
        );
        assert_eq!(refused.problem_code(), "idempotency_key_reused");
    }
    assert_eq!(ingest.head(), 2, "nothing of the others came in");
}

#[test]
fn two_at_once_under_one_key_bring_it_in_once() {
    let ingest = shared_server().ingest_for_new_tenant();
    let lines = mixed(3000);
    let body = Bytes::from(ndjson(&lines));
    let answers: Vec<IngestResponse> = std::thread::scope(|scope| {
        let both = [(); 2].map(|()| scope.spawn(|| send_when_free(&ingest, "k", &body)));
        both.into_iter().map(|one| one.join().unwrap()).collect()
    });
    is_in_once(&ingest, &answers[0], &lines);
    assert_eq!(answers[0], answers[1]);
}

#[test]
fn a_key_belongs_to_its_tenant() {
    let (one, other) = (shared_server().ingest_for_new_tenant(), shared_server().ingest_for_new_tenant());
    let first = one.send_with_idempotency_key("k", ndjson(&[bank("1", "a")]));
    let second = other.send_with_idempotency_key("k", ndjson(&[bank("9", "z"), bank("8", "z")]));
    assert_ne!(first.process_id, second.process_id);
    assert_eq!((one.head(), other.head()), (1, 2));
}

#[test]
fn a_key_has_1_to_255_characters() {
    let ingest = shared_server().ingest_for_new_tenant();
    let body = ndjson(&[bank("1", "a")]);
    assert_eq!(ingest.send_with_idempotency_key(&"k".repeat(255), body.clone()).accepted, 1);
    let too_long = ingest.request().header("idempotency-key", &"k".repeat(256)).body(body).send();
    assert_eq!(too_long.problem(400), "Idempotency-Key must be 1 to 255 printable ASCII characters.");
    let fault = &too_long.json()["errors"][0];
    assert_eq!((&fault["code"], &fault["field"]), (&json!("invalid_header"), &json!("Idempotency-Key")));
    let mut empty = ingest.raw("idempotency-key: \r\ncontent-length: 2\r\n");
    empty.send(b"[]");
    empty.response().unwrap().problem(400);
}
