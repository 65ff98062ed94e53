//! A peer that stops in the middle of anything is cut off; one that makes progress is not.

use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use web::{Deadlines, Stopwatch};

use crate::harness::{
    TestListener, WAIT_MAX, held, limits, long_deadlines, millis, read_to_end, read_until, wait_for,
};
use crate::http2_frames::{self as h2, Http2};

const SHORT: Duration = millis(150);
/// Far less than any other deadline.
const SOON: Duration = Duration::from_secs(10);

fn is_soon(held: Duration) -> bool {
    (SHORT / 3..SOON).contains(&held)
}

#[tokio::test]
async fn silence_at_any_point_before_a_request_is_cut_off() {
    let listener = TestListener::start(limits(Deadlines { header: SHORT, ..long_deadlines() })).await;
    let after_settings = [h2::PREFACE, &h2::frame(h2::SETTINGS, 0, 0, b"")].concat();
    let half_headers = [&after_settings[..], &h2::frame(h2::HEADERS, 0, 1, &h2::get("/"))].concat();
    let openings: [(&str, &[u8]); 7] = [
        ("nothing", b""),
        ("half a preface", &h2::PREFACE[..10]),
        ("a preface", h2::PREFACE),
        ("HTTP/2 without a stream", &after_settings),
        ("HTTP/2 with half a header", &half_headers),
        ("half a request line", b"GET /"),
        ("half a header", b"GET / HTTP/1.1\r\nhost: x\r\nx-half: "),
    ];
    for (what, opening) in openings {
        let held = held(listener.send(opening).await).await;
        assert!(is_soon(held), "{what}: {held:?}");
    }
    wait_for("all to be counted", || listener.closed("header") == 7 && listener.open() == 0).await;
    listener.expect_service().await;
}

#[tokio::test]
async fn bytes_that_trickle_do_not_extend_the_time_for_a_header() {
    let listener = TestListener::start(limits(Deadlines { header: SHORT, ..long_deadlines() })).await;
    let stream = listener.send("GET / HTTP/1.1\r\nx-long: ").await;
    let (mut reading, mut writing) = stream.into_split();
    let trickle = tokio::spawn(async move {
        while writing.write_all(b"x").await.is_ok() {
            tokio::time::sleep(millis(10)).await;
        }
    });
    let mut end = Vec::new();
    let watch = Stopwatch::start();
    let _ = tokio::io::AsyncReadExt::read_to_end(&mut reading, &mut end).await;
    assert!(is_soon(watch.elapsed()), "{:?}", watch.elapsed());
    trickle.await.unwrap();
}

#[tokio::test]
async fn handshake_that_stops_is_cut_off() {
    let certificate = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (chain, key) = (folder.path().join("chain.pem"), folder.path().join("key.pem"));
    std::fs::write(&chain, certificate.cert.pem()).unwrap();
    std::fs::write(&key, certificate.signing_key.serialize_pem()).unwrap();
    let tls = web::tls::from_pem_files(&chain, &key).unwrap();
    let limits = limits(Deadlines { handshake: SHORT, ..long_deadlines() });
    let listener = TestListener::with_tls(limits, Some(tls)).await;
    for opening in [&b""[..], b"\x16\x03\x01\x02\x00\x01"] {
        let held = held(listener.send(opening).await).await;
        assert!(is_soon(held), "{held:?}");
    }
    wait_for("both to be counted", || listener.closed("handshake") == 2).await;
}

#[tokio::test]
async fn idle_connection_is_closed_after_its_request() {
    let listener = TestListener::start(limits(Deadlines { idle: SHORT, ..long_deadlines() })).await;
    let mut stream = listener.send("GET / HTTP/1.1\r\nhost: x\r\n\r\n").await;
    read_until(&mut stream, "hello").await;
    assert!(is_soon(held(stream).await));
    wait_for("it to be counted", || listener.closed("idle") == 1).await;

    let half = TestListener::start(limits(Deadlines { header: SHORT, ..long_deadlines() })).await;
    let mut stream = half.send("GET / HTTP/1.1\r\nhost: x\r\n\r\nGET / HT").await;
    read_until(&mut stream, "hello").await;
    stream.write_all(b"TP/1.1\r\n").await.unwrap();
    assert!(is_soon(held(stream).await), "half a second header");
}

#[tokio::test]
async fn idle_http2_connection_is_closed_although_it_pings() {
    let listener = TestListener::start(limits(Deadlines { idle: SHORT, ..long_deadlines() })).await;
    let mut client = Http2::connect(listener.address, &[]).await;
    client.send(&h2::request(1, "/")).await;
    client.read_until("the end of the response", |frame| frame.is_end_of(1)).await;
    let watch = Stopwatch::start();
    let mut has_goaway = false;
    while let Some(frame) = client.ping_and_read().await {
        has_goaway |= frame.kind == h2::GOAWAY;
        assert!(watch.elapsed() < SOON, "it is still open");
    }
    assert!(has_goaway, "the client is told that the connection ends");
    assert_eq!(listener.closed("idle"), 1);
}

#[tokio::test]
async fn body_that_stops_is_refused_and_its_connection_closed() {
    let listener = TestListener::start(limits(Deadlines { body: SHORT, ..long_deadlines() })).await;
    let form = "POST /length HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nx";
    let chunked = "POST /length HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n5\r\nx";
    for request in [form, chunked] {
        let watch = Stopwatch::start();
        let response = read_to_end(&mut listener.send(request).await).await;
        assert!(response.starts_with("HTTP/1.1 400"), "{response:?}");
        assert!(is_soon(watch.elapsed()), "{:?}", watch.elapsed());
    }
    let mut client = Http2::connect(listener.address, &[]).await;
    client.send(&h2::frame(h2::HEADERS, h2::END_HEADERS, 1, &h2::post("/length"))).await;
    client.read_until("the response", |frame| frame.kind == h2::HEADERS && frame.stream == 1).await;
    assert_eq!(listener.closed("body"), 3);
}

#[tokio::test]
async fn body_that_makes_progress_is_waited_for() {
    let listener = TestListener::start(limits(Deadlines { body: millis(400), ..long_deadlines() })).await;
    let mut stream = listener.send("POST /length HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n").await;
    let watch = Stopwatch::start();
    for _ in 0..10 {
        tokio::time::sleep(millis(80)).await;
        stream.write_all(b"x").await.unwrap();
    }
    let response = read_until(&mut stream, "10").await;
    assert!(response.starts_with("HTTP/1.1 200") && watch.elapsed() > millis(400), "{response}");
}

#[tokio::test]
async fn handler_that_reads_late_finds_the_body() {
    let listener = TestListener::start(limits(Deadlines { body: millis(500), ..long_deadlines() })).await;
    let mut stream = listener.send("POST /late HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n\r\n").await;
    stream.write_all(b"first").await.unwrap();
    tokio::time::sleep(millis(300)).await;
    stream.write_all(&vec![b'x'; 99_995]).await.unwrap();
    let response = read_until(&mut stream, "100000").await;
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");
}

#[tokio::test]
async fn slow_handler_is_no_silent_peer() {
    let all = Deadlines { handshake: SHORT, header: SHORT, body: SHORT, write: SHORT, idle: SHORT };
    let listener = TestListener::start(limits(all)).await;
    let mut stream = listener.send("GET /wait HTTP/1.1\r\nhost: x\r\n\r\n").await;
    wait_for("the handler", || listener.begun() == 1).await;
    tokio::time::sleep(SHORT * 4).await;
    listener.release.add_permits(1);
    read_until(&mut stream, "released").await;
}

#[tokio::test]
async fn peer_that_reads_nothing_is_cut_off() {
    let listener = TestListener::start(limits(Deadlines { write: SHORT, ..long_deadlines() })).await;
    for (nth, path) in (1..).zip(["/large", "/endless"]) {
        let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n");
        let unread = listener.send(request).await;
        wait_for("the end of the connection", || listener.closed("write") == nth && listener.open() == 0)
            .await;
        drop(unread);
    }
    listener.expect_service().await;
}

#[tokio::test]
async fn peer_that_opens_no_window_is_cut_off() {
    let listener = TestListener::start(limits(Deadlines { write: millis(400), ..long_deadlines() })).await;
    let no_window = h2::setting(h2::INITIAL_WINDOW_SIZE, 0);
    let mut client = Http2::connect(listener.address, &no_window).await;
    client.send(&h2::request(1, "/large")).await;
    let watch = Stopwatch::start();
    // The peer answers every ping, so that only its window is silent.
    while client.ping_and_read().await.is_some() {
        assert!(watch.elapsed() < SOON, "it is still open");
    }
    assert_eq!(listener.closed("write"), 1);
}

#[tokio::test]
async fn peer_that_reads_slowly_gets_everything() {
    let listener = TestListener::start(limits(Deadlines { write: millis(300), ..long_deadlines() })).await;
    let mut stream = listener.send("GET /large HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
    let (mut total, mut piece) = (0, vec![0; 4 * 1024 * 1024]);
    loop {
        tokio::time::sleep(millis(10)).await;
        let reading = tokio::io::AsyncReadExt::read(&mut stream, &mut piece);
        match tokio::time::timeout(WAIT_MAX, reading).await.unwrap().unwrap() {
            0 => break,
            count => total += count,
        }
    }
    assert!(total > 32 * 1024 * 1024, "{total}");
}
