//! A program that is killed: what it acknowledged is there, and a load under a key goes on where it broke.

use serde_json::Value;

use crate::harness::{Serve, Site, bank, ndjson, until};

#[test]
fn what_was_acknowledged_outlives_a_kill() {
    let mut serve = Serve::start(Site::new(), &[]);
    let door = serve.new_tenant();
    for number in 1..=20 {
        assert_eq!(door.send_lines(&[bank(&number.to_string(), "a")]).head(), number);
    }
    serve.running.kill();
    let serve = Serve::start(serve.site, &[]);
    let all: Vec<Value> = (1..=20).map(|number| bank(&number.to_string(), "a")).collect();
    assert_eq!(serve.door(&door.tenant).send_lines(&all).head(), 20);
}

#[test]
fn a_load_that_a_kill_broke_goes_on_under_its_key() {
    let mut serve = Serve::start(Site::new(), &[]);
    let door = serve.new_tenant();
    let lines: Vec<Value> = (0..5000).map(|number| bank(&number.to_string(), "a")).collect();
    let body = ndjson(&lines);
    let mut raw = door.raw("idempotency-key: load\r\ntransfer-encoding: chunked\r\n");
    raw.send_chunk(&body.as_bytes()[..body.len() / 2]);
    until("some of it to be committed", || (door.head() > 0).then_some(()));
    serve.running.kill();
    drop(raw);
    let serve = Serve::start(serve.site, &[]);
    let door = serve.door(&door.tenant);
    let before = door.head();
    assert!(before > 0 && before < 5000);
    let answer = door.send_under("load", body);
    assert_eq!((answer.counts(), answer.head()), ((5000, 0), 5000), "all of it, each line once");
}
