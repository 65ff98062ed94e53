//! Idempotency-Key: whatever happens on the way, all of a body is in exactly once, and it is answered as one.

use bytes::Bytes;
use serde_json::{Value, json};

use crate::harness::{Answer, Door, bank, charge, ndjson, shared, until};

/// A body with a line that is refused and one without an id among many that are fine.
fn mixed(count: usize) -> Vec<Value> {
    let mut lines: Vec<Value> = (0..count).map(|number| bank(&format!("b{number}"), "a")).collect();
    lines[1] = charge("nowhere", "x", 1);
    lines[2].as_object_mut().unwrap().remove("correlationId");
    lines
}

/// Sends until no other request under the key is under way: one whose connection broke may still be written down.
fn send_when_free(door: &Door, key: &str, body: &Bytes) -> Answer {
    until("the key to be free", || {
        let reply = door.call().header("idempotency-key", key).body(body.clone()).send();
        if reply.status == 409 {
            assert_eq!(reply.problem_code(), "idempotency_key_in_use", "{reply:?}");
            return None;
        }
        Some(Answer::of(&reply))
    })
}

/// Every line without its id is one event, and the upserts of all of them were applied once.
#[track_caller]
fn is_in_once(door: &Door, answer: &Answer, lines: &[Value]) {
    let accepted = lines.len() as u64 - 1;
    assert_eq!((answer.counts(), answer.head()), ((accepted, 1), accepted));
    assert_eq!(answer.refused(), [(2, "unknown_company")]);
    assert_eq!(answer.ids.len(), 1);
    assert_eq!(door.head(), accepted);
}

#[test]
fn the_same_body_again_is_answered_the_same_and_applied_once() {
    let door = shared().new_tenant();
    let lines = mixed(5);
    let first = door.send_under("load-1", ndjson(&lines));
    is_in_once(&door, &first, &lines);
    door.send_lines(&[bank("between", "x")]);
    assert_eq!(door.send_under("load-1", ndjson(&lines)), first, "even the head as it was then");
    assert_eq!(door.head(), 5, "nothing but the change in between");
    assert_ne!(door.send_under("load-2", ndjson(&lines)).process_id, first.process_id);
}

#[test]
fn a_body_that_changes_something_back_is_not_applied_again() {
    let door = shared().new_tenant();
    let old = ndjson(&[bank("b", "old")]);
    assert_eq!(door.send_under("k", old.clone()).head(), 1);
    assert_eq!(door.send_lines(&[bank("b", "new")]).head(), 2);
    assert_eq!(door.send_under("k", old).head(), 1);
    assert_eq!(
        door.send_lines(&[bank("b", "new")]).head(),
        2,
        "the late retry did not bring the old name back"
    );
}

#[test]
fn a_body_that_was_cut_off_is_taken_up_where_it_broke() {
    let door = shared().new_tenant();
    let lines = mixed(2500);
    let body = Bytes::from(ndjson(&lines));
    for cut in [body.len() / 10, body.len() / 2, body.len() - 3] {
        let headers = format!(
            "content-type: application/x-ndjson\r\nidempotency-key: load\r\ncontent-length: {}\r\n",
            body.len()
        );
        let mut raw = door.raw(&headers);
        raw.send(&body[..cut]);
        drop(raw);
    }
    let answer = send_when_free(&door, "load", &body);
    is_in_once(&door, &answer, &lines);
    assert_eq!(send_when_free(&door, "load", &body), answer, "and it stays so");
}

#[test]
fn a_stream_that_breaks_after_some_of_it_was_committed_is_counted_as_one() {
    let door = shared().new_tenant();
    let lines = mixed(40);
    let body = Bytes::from(ndjson(&lines));
    let mut raw = door.raw("idempotency-key: load\r\ntransfer-encoding: chunked\r\n");
    let half = ndjson(&lines[..20]);
    raw.send_chunk(half.as_bytes());
    until("the first half to be committed", || (door.head() == 19).then_some(()));
    drop(raw);
    let answer = send_when_free(&door, "load", &body);
    is_in_once(&door, &answer, &lines);
}

#[test]
fn another_body_under_the_same_key_is_refused() {
    let door = shared().new_tenant();
    door.send_under("k", ndjson(&[bank("1", "a"), bank("2", "a")]));
    let others = [
        ndjson(&[bank("1", "a"), bank("2", "other")]),
        ndjson(&[bank("1", "a")]),
        ndjson(&[bank("0", "a"), bank("1", "a"), bank("2", "a")]),
        String::from("not json"),
        String::new(),
    ];
    for other in others {
        let refused = door.call().header("idempotency-key", "k").body(other.clone()).send();
        assert!(
            refused.problem(409).starts_with("Another body was sent under this Idempotency-Key before"),
            "{other}"
        );
        assert_eq!(refused.problem_code(), "idempotency_key_reused");
    }
    assert_eq!(door.head(), 2, "nothing of the others came in");
}

#[test]
fn two_at_once_under_one_key_bring_it_in_once() {
    let door = shared().new_tenant();
    let lines = mixed(3000);
    let body = Bytes::from(ndjson(&lines));
    let answers: Vec<Answer> = std::thread::scope(|scope| {
        let both = [(); 2].map(|()| scope.spawn(|| send_when_free(&door, "k", &body)));
        both.into_iter().map(|one| one.join().unwrap()).collect()
    });
    is_in_once(&door, &answers[0], &lines);
    assert_eq!(answers[0], answers[1]);
}

#[test]
fn a_key_belongs_to_its_tenant() {
    let (one, other) = (shared().new_tenant(), shared().new_tenant());
    let first = one.send_under("k", ndjson(&[bank("1", "a")]));
    let second = other.send_under("k", ndjson(&[bank("9", "z"), bank("8", "z")]));
    assert_ne!(first.process_id, second.process_id);
    assert_eq!((one.head(), other.head()), (1, 2));
}

#[test]
fn a_key_has_1_to_255_characters() {
    let door = shared().new_tenant();
    let body = ndjson(&[bank("1", "a")]);
    assert_eq!(door.send_under(&"k".repeat(255), body.clone()).accepted, 1);
    let too_long = door.call().header("idempotency-key", &"k".repeat(256)).body(body).send();
    assert_eq!(too_long.problem(400), "Idempotency-Key must be 1 to 255 printable ASCII characters.");
    let fault = &too_long.json()["errors"][0];
    assert_eq!((&fault["code"], &fault["field"]), (&json!("invalid_header"), &json!("Idempotency-Key")));
    let mut empty = door.raw("idempotency-key: \r\ncontent-length: 2\r\n");
    empty.send(b"[]");
    empty.reply().unwrap().problem(400);
}
