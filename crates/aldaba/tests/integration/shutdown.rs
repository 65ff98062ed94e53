//! Graceful shutdown: no new requests, running requests finish, and requests that do not finish are cut off.

use std::net::TcpStream;

use web::Stopwatch;

use crate::harness::{
    HttpRequest, IngestClient, IngestResponse, Installation, RawConnection, ServeProcess, bank, ndjson,
    wait_for,
};

/// Sends a line and waits until it is committed; the body stays open.
fn start_request(ingest: &IngestClient) -> RawConnection {
    let mut raw = ingest.raw("content-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n");
    raw.send_chunk(ndjson(&[bank("1", "a")]).as_bytes());
    wait_for("the first line to be committed", || (ingest.head() == 1).then_some(()));
    raw
}

fn is_closed(url: &str) -> bool {
    TcpStream::connect(url.trim_start_matches("http://")).is_err()
}

#[test]
fn running_request_gets_its_response() {
    let mut server = ServeProcess::start(Installation::new(), &[]);
    let ingest = server.ingest_for_new_tenant();
    let mut raw = start_request(&ingest);
    server.process.terminate();
    for side in [&server.public_url, &server.operator_url] {
        wait_for("new connections to be refused", || is_closed(side).then_some(()));
    }
    raw.send_chunk(ndjson(&[bank("2", "b")]).as_bytes());
    raw.send_chunk(b"");
    let answer = IngestResponse::from_response(&raw.response().unwrap());
    assert_eq!((answer.counts(), answer.head()), ((2, 0), 2));
    let finished = server.process.wait_for_exit();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(!finished.stderr.contains("cut off"), "{}", finished.stderr);
}

#[test]
fn unfinished_request_is_cut_off_after_the_drain_time() {
    let mut server = ServeProcess::start(Installation::new(), &["server.drain=300ms"]);
    let ingest = server.ingest_for_new_tenant();
    let raw = start_request(&ingest);
    let watch = Stopwatch::start();
    server.process.terminate();
    let (finished, installation) = server.wait_for_exit();
    let took = watch.elapsed();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!((300..10_000).contains(&took.as_millis()), "{took:?}");
    assert!(
        finished.stderr.contains("some requests took too long to finish and were cut off"),
        "{}",
        finished.stderr
    );
    drop(raw);

    let server = ServeProcess::start(installation, &[]);
    assert_eq!(
        server.ingest_client(&ingest.tenant).send_lines(&[bank("1", "a")]).head(),
        1,
        "the committed line is stored"
    );
}

#[test]
fn idle_connection_does_not_delay_shutdown() {
    let mut server = ServeProcess::start(Installation::new(), &["server.drain=20s"]);
    let idle: Vec<TcpStream> = [&server.public_url, &server.operator_url]
        .map(|side| TcpStream::connect(side.trim_start_matches("http://")).unwrap())
        .into();
    assert_eq!(server.ingest_for_new_tenant().head(), 0);
    let watch = Stopwatch::start();
    server.process.terminate();
    assert_eq!(server.process.wait_for_exit().code, Some(0));
    assert!(watch.elapsed().as_secs() < 10, "{:?}", watch.elapsed());
    drop(idle);
}

/// Load balancers see 503 before the listeners close, and kept connections are told to go.
#[test]
fn readiness_fails_before_the_listeners_close() {
    let mut server = ServeProcess::start(Installation::new(), &["server.drain_delay=60s"]);
    let ready = |url: &str| HttpRequest::get(&format!("{url}/readyz")).send();
    assert_eq!(ready(&server.public_url).status, 200);
    server.process.terminate();
    wait_for("the service to be not ready", || (ready(&server.public_url).status == 503).then_some(()));
    let kept = RawConnection::open(&server.public_url, "GET /livez HTTP/1.1\r\n").response().unwrap();
    assert_eq!((kept.status, kept.headers["connection"].to_str().unwrap()), (200, "close"));
    assert_eq!(server.ingest_for_new_tenant().head(), 0, "requests are served until the listeners close");
    // A second signal ends the wait.
    server.process.interrupt();
    let finished = server.process.wait_for_exit();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let ended: Vec<_> = finished.stderr.lines().filter(|line| line.contains("stopped in order")).collect();
    assert!(ended.len() == 1 && ended[0].contains("\"seconds\":"), "{}", finished.stderr);
}

#[test]
fn hang_up_does_not_end_the_service() {
    let server = ServeProcess::start(Installation::new(), &[]);
    server.process.hang_up();
    wait_for("the log line", || server.process.stderr().contains("SIGHUP ignored").then_some(()));
    server.assert_healthy();
    server.stop();
}

#[test]
fn server_can_be_restarted_repeatedly() {
    let mut installation = Installation::new();
    installation.add_tenant("t");
    for round in 1..=3 {
        let server = ServeProcess::start(installation, &[]);
        assert_eq!(server.ingest_client("t").send_lines(&[bank(&round.to_string(), "a")]).head(), round);
        installation = server.stop();
    }
}
