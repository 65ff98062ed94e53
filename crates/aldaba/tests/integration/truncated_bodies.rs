//! Request bodies that break off: accepted lines stay, and a client that still reads gets an error.

use crate::harness::{HttpResponse, IngestClient, RawConnection, bank, ndjson, shared_server, wait_for};

const NDJSON: &str = "content-type: application/x-ndjson\r\n";

fn two_lines() -> String {
    ndjson(&[bank("1", "a"), bank("2", "b")])
}

#[track_caller]
fn expect_two_lines_stay(ingest: &IngestClient, response: &HttpResponse) {
    let message = response.problem(400);
    assert!(message.starts_with("The body was cut off ("), "{message}");
    assert!(
        message.contains("2 accepted and 0 rejected before stay as they are (lastSequenceVersion 2)."),
        "{message}"
    );
    assert_eq!(response.problem_code(), "body_cut_off");
    assert_eq!(ingest.send(two_lines()).head(), 2, "both lines are stored");
    shared_server().assert_healthy();
}

#[test]
fn body_shorter_than_its_content_length_is_reported() {
    let ingest = shared_server().ingest_for_new_tenant();
    let mut raw = ingest.raw(&format!("{NDJSON}content-length: 5000\r\n"));
    raw.send(two_lines().as_bytes());
    raw.send(br#"{"area":"invoicing","reso"#);
    raw.half_close();
    expect_two_lines_stay(&ingest, &raw.response().expect("a client that still reads gets a response"));
}

#[test]
fn broken_chunks_are_reported() {
    for (broken, what) in
        [(&b"zz\r\nhello"[..], "an invalid chunk size"), (b"5\r\nabcdefgh\r\n", "a wrong chunk size")]
    {
        let ingest = shared_server().ingest_for_new_tenant();
        let mut raw = ingest.raw(&format!("{NDJSON}transfer-encoding: chunked\r\n"));
        raw.send_chunk(two_lines().as_bytes());
        wait_for(what, || (ingest.head() == 2).then_some(()));
        raw.send(broken);
        expect_two_lines_stay(&ingest, &raw.response().expect("a client that still reads gets a response"));
    }
}

#[test]
fn missing_last_chunk_is_reported() {
    let ingest = shared_server().ingest_for_new_tenant();
    let mut raw = ingest.raw(&format!("{NDJSON}transfer-encoding: chunked\r\n"));
    raw.send_chunk(two_lines().as_bytes());
    raw.half_close();
    expect_two_lines_stay(&ingest, &raw.response().expect("a client that still reads gets a response"));
}

#[test]
fn closed_connection_loses_only_uncommitted_lines() {
    let ingest = shared_server().ingest_for_new_tenant();
    let mut raw = ingest.raw(&format!("{NDJSON}transfer-encoding: chunked\r\n"));
    raw.send_chunk(two_lines().as_bytes());
    wait_for("the lines before the pause to be committed", || (ingest.head() == 2).then_some(()));
    raw.send(b"ff\r\n{\"area\"");
    drop(raw);
    assert_eq!(ingest.send(two_lines()).head(), 2);
    shared_server().assert_healthy();
}

#[test]
fn slow_client_is_waited_for() {
    let ingest = shared_server().ingest_for_new_tenant();
    let mut raw = ingest.raw(&format!("{NDJSON}transfer-encoding: chunked\r\n"));
    let lines = two_lines();
    let (first, second) = lines.split_once('\n').unwrap();
    for piece in first.as_bytes().chunks(7) {
        raw.send_chunk(piece);
    }
    raw.send_chunk(b"\n");
    wait_for("the first line to be committed", || (ingest.head() == 1).then_some(()));
    raw.send_chunk(second.as_bytes());
    raw.send_chunk(b"");
    let response = raw.response().unwrap();
    assert_eq!((response.status, &response.json()["accepted"]), (200, &2.into()));
}

#[test]
fn bytes_that_are_not_http_do_no_harm() {
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
