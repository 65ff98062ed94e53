//! `Idempotency-Key`: a body is applied exactly once and gets one response, whatever interrupts it.

use bytes::Bytes;
use serde_json::{Value, json};

use crate::harness::{IngestClient, IngestResponse, bank, charge, ndjson, shared_server, wait_for};

/// A body of valid lines with one rejected line and one line without an id.
fn mixed(count: usize) -> Vec<Value> {
    let mut lines: Vec<Value> = (0..count).map(|number| bank(&format!("b{number}"), "a")).collect();
    lines[1] = charge("nowhere", "x", 1);
    lines[2].as_object_mut().unwrap().remove("correlationId");
    lines
}

/// Retries until no other request with the key is running: the server may still be writing an interrupted one.
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

/// Every line was applied once.
#[track_caller]
fn expect_applied_once(ingest: &IngestClient, answer: &IngestResponse, lines: &[Value]) {
    let accepted = lines.len() as u64 - 1;
    assert_eq!((answer.counts(), answer.head()), ((accepted, 1), accepted));
    assert_eq!(answer.rejected_lines(), [(2, "unknown_company")]);
    assert_eq!(answer.ids.len(), 1);
    assert_eq!(ingest.head(), accepted);
}

#[test]
fn repeated_body_gets_the_same_response_and_is_applied_once() {
    let ingest = shared_server().ingest_for_new_tenant();
    let lines = mixed(5);
    let first = ingest.send_with_idempotency_key("load-1", ndjson(&lines));
    expect_applied_once(&ingest, &first, &lines);
    ingest.send_lines(&[bank("between", "x")]);
    assert_eq!(
        ingest.send_with_idempotency_key("load-1", ndjson(&lines)),
        first,
        "including the head at that time"
    );
    assert_eq!(ingest.head(), 5, "only the change in between was added");
    assert_ne!(ingest.send_with_idempotency_key("load-2", ndjson(&lines)).process_id, first.process_id);
}

#[test]
fn late_retry_does_not_revert_a_newer_change() {
    let ingest = shared_server().ingest_for_new_tenant();
    let old = ndjson(&[bank("b", "old")]);
    assert_eq!(ingest.send_with_idempotency_key("k", old.clone()).head(), 1);
    assert_eq!(ingest.send_lines(&[bank("b", "new")]).head(), 2);
    assert_eq!(ingest.send_with_idempotency_key("k", old).head(), 1);
    assert_eq!(
        ingest.send_lines(&[bank("b", "new")]).head(),
        2,
        "the late retry does not restore the old name"
    );
}

#[test]
fn truncated_body_resumes_where_it_was_interrupted() {
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
    expect_applied_once(&ingest, &answer, &lines);
    assert_eq!(send_when_free(&ingest, "load", &body), answer, "and it stays the same");
}

#[test]
fn interrupted_stream_and_its_retry_are_counted_as_one() {
    let ingest = shared_server().ingest_for_new_tenant();
    let lines = mixed(40);
    let body = Bytes::from(ndjson(&lines));
    let mut raw = ingest.raw("idempotency-key: load\r\ntransfer-encoding: chunked\r\n");
    let half = ndjson(&lines[..20]);
    raw.send_chunk(half.as_bytes());
    wait_for("the first half to be committed", || (ingest.head() == 19).then_some(()));
    drop(raw);
    let answer = send_when_free(&ingest, "load", &body);
    expect_applied_once(&ingest, &answer, &lines);
}

#[test]
fn different_body_with_the_same_key_is_refused() {
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
    assert_eq!(ingest.head(), 2, "nothing of the other bodies was applied");
}

#[test]
fn concurrent_requests_with_one_key_apply_once() {
    let ingest = shared_server().ingest_for_new_tenant();
    let lines = mixed(3000);
    let body = Bytes::from(ndjson(&lines));
    let answers: Vec<IngestResponse> = std::thread::scope(|scope| {
        let both = [(); 2].map(|()| scope.spawn(|| send_when_free(&ingest, "k", &body)));
        both.into_iter().map(|one| one.join().unwrap()).collect()
    });
    expect_applied_once(&ingest, &answers[0], &lines);
    assert_eq!(answers[0], answers[1]);
}

#[test]
fn keys_are_scoped_to_a_tenant() {
    let (one, other) = (shared_server().ingest_for_new_tenant(), shared_server().ingest_for_new_tenant());
    let first = one.send_with_idempotency_key("k", ndjson(&[bank("1", "a")]));
    let second = other.send_with_idempotency_key("k", ndjson(&[bank("9", "z"), bank("8", "z")]));
    assert_ne!(first.process_id, second.process_id);
    assert_eq!((one.head(), other.head()), (1, 2));
}

#[test]
fn key_must_have_1_to_255_characters() {
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
