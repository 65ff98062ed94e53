//! Bodies that break on the way: what was accepted before stays, and who still listens is told.

use crate::harness::{HttpResponse, IngestClient, RawConnection, bank, ndjson, shared_server, wait_for};

const NDJSON: &str = "content-type: application/x-ndjson\r\n";

fn two_lines() -> String {
    ndjson(&[bank("1", "a"), bank("2", "b")])
}

#[track_caller]
fn two_stay(ingest: &IngestClient, response: &HttpResponse) {
    let message = response.problem(400);
    assert!(message.starts_with("The body was cut off ("), "{message}");
    assert!(
        message.contains("2 accepted and 0 rejected before stay as they are (lastSequenceVersion 2)."),
        "{message}"
    );
    assert_eq!(response.problem_code(), "body_cut_off");
    assert_eq!(ingest.send(two_lines()).head(), 2, "both are in");
    shared_server().assert_healthy();
}

#[test]
fn a_body_shorter_than_its_length() {
    let ingest = shared_server().ingest_for_new_tenant();
    let mut raw = ingest.raw(&format!("{NDJSON}content-length: 5000\r\n"));
    raw.send(two_lines().as_bytes());
    raw.send(br#"{"area":"invoicing","reso"#);
    raw.half_close();
    two_stay(&ingest, &raw.response().expect("who listens on is told"));
}

#[test]
fn chunks_that_break() {
    for (broken, what) in
        [(&b"zz\r\nhello"[..], "a size that is no number"), (b"5\r\nabcdefgh\r\n", "a wrong size")]
    {
        let ingest = shared_server().ingest_for_new_tenant();
        let mut raw = ingest.raw(&format!("{NDJSON}transfer-encoding: chunked\r\n"));
        raw.send_chunk(two_lines().as_bytes());
        wait_for(what, || (ingest.head() == 2).then_some(()));
        raw.send(broken);
        two_stay(&ingest, &raw.response().expect("who listens on is told"));
    }
}

#[test]
fn chunks_that_end_without_the_last_one() {
    let ingest = shared_server().ingest_for_new_tenant();
    let mut raw = ingest.raw(&format!("{NDJSON}transfer-encoding: chunked\r\n"));
    raw.send_chunk(two_lines().as_bytes());
    raw.half_close();
    two_stay(&ingest, &raw.response().expect("who listens on is told"));
}

#[test]
fn a_writer_who_goes_away_loses_only_what_was_not_committed() {
    let ingest = shared_server().ingest_for_new_tenant();
    let mut raw = ingest.raw(&format!("{NDJSON}transfer-encoding: chunked\r\n"));
    raw.send_chunk(two_lines().as_bytes());
    wait_for("what came before a pause to be written down", || (ingest.head() == 2).then_some(()));
    raw.send(b"ff\r\n{\"area\"");
    drop(raw);
    assert_eq!(ingest.send(two_lines()).head(), 2);
    shared_server().assert_healthy();
}

#[test]
fn a_slow_writer_is_waited_for() {
    let ingest = shared_server().ingest_for_new_tenant();
    let mut raw = ingest.raw(&format!("{NDJSON}transfer-encoding: chunked\r\n"));
    let lines = two_lines();
    let (first, second) = lines.split_once('\n').unwrap();
    for piece in first.as_bytes().chunks(7) {
        raw.send_chunk(piece);
    }
    raw.send_chunk(b"\n");
    wait_for("the first line to be written down", || (ingest.head() == 1).then_some(()));
    raw.send_chunk(second.as_bytes());
    raw.send_chunk(b"");
    let response = raw.response().unwrap();
    assert_eq!((response.status, &response.json()["accepted"]), (200, &2.into()));
}

#[test]
fn what_is_no_http_at_all_hurts_nobody() {
    let greeting = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc".to_vec();
    for nonsense in [greeting, b"GET\r\n\r\n".to_vec(), vec![0; 100_000], vec![b'A'; 100_000]] {
        let mut raw = RawConnection::open(&shared_server().operator_url, "");
        let _ = raw.try_send(&nonsense);
        if let Some(response) = raw.response() {
            assert!((400..500).contains(&response.status), "{response:?}");
        }
    }
    let ingest = shared_server().ingest_for_new_tenant();
    let mut raw = ingest.raw("content-length: nonsense\r\n");
    let _ = raw.try_send(b"x");
    assert_eq!(raw.response().map(|response| response.status), Some(400));
    shared_server().assert_healthy();
}
