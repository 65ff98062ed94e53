//! An end in order: no new requests, those under way finish, and who never finishes is cut off.

use std::net::TcpStream;

use web::Stopwatch;

use crate::harness::{Answer, Door, Serve, Site, bank, ndjson, until};

/// Sends a line and waits until it is committed; the body goes on.
fn under_way(door: &Door) -> crate::harness::Raw {
    let mut raw = door.raw("content-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n");
    raw.send_chunk(ndjson(&[bank("1", "a")]).as_bytes());
    until("the first line to be committed", || (door.head() == 1).then_some(()));
    raw
}

fn is_closed(url: &str) -> bool {
    TcpStream::connect(url.trim_start_matches("http://")).is_err()
}

#[test]
fn a_request_under_way_still_gets_its_answer() {
    let mut serve = Serve::start(Site::new(), &[]);
    let door = serve.new_tenant();
    let mut raw = under_way(&door);
    serve.running.terminate();
    for side in [&serve.public_url, &serve.operator_url] {
        until("new connections to be refused", || is_closed(side).then_some(()));
    }
    raw.send_chunk(ndjson(&[bank("2", "b")]).as_bytes());
    raw.send_chunk(b"");
    let answer = Answer::of(&raw.reply().unwrap());
    assert_eq!((answer.counts(), answer.head()), ((2, 0), 2));
    let done = serve.running.ended();
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(!done.stderr.contains("cut off"), "{}", done.stderr);
}

#[test]
fn a_request_that_never_finishes_is_cut_off_after_the_drain() {
    let mut serve = Serve::start(Site::new(), &["--set", "server.drain=300ms"]);
    let door = serve.new_tenant();
    let raw = under_way(&door);
    let watch = Stopwatch::start();
    serve.running.terminate();
    let done = serve.running.ended();
    let took = watch.elapsed();
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!((300..10_000).contains(&took.as_millis()), "{took:?}");
    assert!(
        done.stderr.contains("some requests took too long to finish and were cut off"),
        "{}",
        done.stderr
    );
    drop(raw);

    let serve = Serve::start(serve.site, &[]);
    assert_eq!(
        serve.door(&door.tenant).send_lines(&[bank("1", "a")]).head(),
        1,
        "what was committed is there"
    );
}

#[test]
fn an_idle_connection_does_not_hold_it_up() {
    let mut serve = Serve::start(Site::new(), &["--set", "server.drain=20s"]);
    let idle: Vec<TcpStream> = [&serve.public_url, &serve.operator_url]
        .map(|side| TcpStream::connect(side.trim_start_matches("http://")).unwrap())
        .into();
    assert_eq!(serve.new_tenant().head(), 0);
    let watch = Stopwatch::start();
    serve.running.terminate();
    assert_eq!(serve.running.ended().code, Some(0));
    assert!(watch.elapsed().as_secs() < 10, "{:?}", watch.elapsed());
    drop(idle);
}

#[test]
fn it_can_be_started_and_stopped_again_and_again() {
    let mut site = Site::new();
    site.add_tenant("t");
    for round in 1..=3 {
        let serve = Serve::start(site, &[]);
        assert_eq!(serve.door("t").send_lines(&[bank(&round.to_string(), "a")]).head(), round);
        site = serve.stop();
    }
}
