//! `kill -9`: acknowledged changes survive, and a body with an idempotency key resumes where it was interrupted.

use serde_json::Value;

use crate::harness::{Installation, ServeProcess, bank, ndjson, wait_for};

#[test]
fn acknowledged_changes_survive_a_kill() {
    let mut server = ServeProcess::start(Installation::new(), &[]);
    let ingest = server.ingest_for_new_tenant();
    for number in 1..=20 {
        assert_eq!(ingest.send_lines(&[bank(&number.to_string(), "a")]).head(), number);
    }
    server.process.kill();
    let server = ServeProcess::start(server.into_installation(), &[]);
    let all: Vec<Value> = (1..=20).map(|number| bank(&number.to_string(), "a")).collect();
    assert_eq!(server.ingest_client(&ingest.tenant).send_lines(&all).head(), 20);
}

#[test]
fn interrupted_body_resumes_under_its_idempotency_key() {
    let mut server = ServeProcess::start(Installation::new(), &[]);
    let ingest = server.ingest_for_new_tenant();
    let lines: Vec<Value> = (0..5000).map(|number| bank(&number.to_string(), "a")).collect();
    let body = ndjson(&lines);
    let mut raw = ingest.raw("idempotency-key: load\r\ntransfer-encoding: chunked\r\n");
    raw.send_chunk(&body.as_bytes()[..body.len() / 2]);
    wait_for("part of the body to be committed", || (ingest.head() > 0).then_some(()));
    server.process.kill();
    drop(raw);
    let server = ServeProcess::start(server.into_installation(), &[]);
    let ingest = server.ingest_client(&ingest.tenant);
    let before = ingest.head();
    assert!(before > 0 && before < 5000);
    let answer = ingest.send_with_idempotency_key("load", body);
    assert_eq!((answer.counts(), answer.head()), ((5000, 0), 5000), "every line is applied exactly once");
}
