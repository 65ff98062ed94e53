//! HTTP/2 floods end or are bounded, and other connections are served meanwhile.

use web::{Deadlines, ListenerLimits, Stopwatch};

use crate::harness::{TestListener, WAIT_MAX, limits, long_deadlines, millis, wait_for};
use crate::http2_frames::{self as h2, Http2};

const ENHANCE_YOUR_CALM: u8 = 0xb;
const REFUSED_STREAM: u8 = 7;
const STREAMS_MAX: usize = 100;

async fn start() -> TestListener {
    TestListener::start(limits(long_deadlines())).await
}

#[tokio::test]
async fn rapid_reset_ends_the_connection() {
    let listener = start().await;
    let mut client = Http2::connect(listener.address, &[]).await;
    let mut sent = 0;
    for stream in (1..200_000).step_by(2) {
        let cancelled = [h2::request(stream, "/wait"), h2::frame(h2::RST_STREAM, 0, stream, &[0, 0, 0, 8])];
        if client.try_send(&cancelled.concat()).await.is_err() {
            break;
        }
        sent += 1;
    }
    assert!(sent < 99_000, "{sent} requests were sent and cancelled");
    wait_for("the connection to end", || listener.open() == 0).await;
    assert!(listener.begun() <= 1000, "{} handlers began", listener.begun());
    listener.expect_service().await;
}

#[tokio::test]
async fn requests_cancelled_one_by_one_end_the_connection() {
    let listener = start().await;
    let mut client = Http2::connect(listener.address, &[]).await;
    wait_for("the connection", || listener.open() == 1).await;
    for (nth, stream) in (1..).zip((1..2000).step_by(2)) {
        if client.try_send(&h2::request(stream, "/wait")).await.is_err() {
            break;
        }
        wait_for("the handler or the end", || listener.begun() >= nth || listener.open() == 0).await;
        let _ = client.try_send(&h2::frame(h2::RST_STREAM, 0, stream, &[0, 0, 0, 8])).await;
        if listener.open() == 0 {
            break;
        }
    }
    wait_for("the connection to be counted", || listener.closed("cancelled") == 1).await;
    assert!((200..300).contains(&listener.begun()), "{} handlers began", listener.begun());
}

#[tokio::test]
async fn continuation_flood_ends_the_connection() {
    let listener = start().await;
    let mut client = Http2::connect(listener.address, &[]).await;
    client.send(&h2::frame(h2::HEADERS, h2::END_STREAM, 1, &h2::get("/"))).await;
    let piece = h2::frame(h2::CONTINUATION, 0, 1, &h2::header("x-flood", &"x".repeat(100)).repeat(100));
    let mut bytes = 0;
    while client.try_send(&piece).await.is_ok() {
        bytes += piece.len();
        assert!(bytes < 32 * 1024 * 1024, "the flood goes on");
    }
    wait_for("the connection to end", || listener.open() == 0).await;
    listener.expect_service().await;
}

#[tokio::test]
async fn empty_continuations_end_the_connection() {
    let listener = start().await;
    let mut client = Http2::connect(listener.address, &[]).await;
    client.send(&h2::frame(h2::HEADERS, h2::END_STREAM, 1, &h2::get("/"))).await;
    let empty = h2::frame(h2::CONTINUATION, 0, 1, b"").repeat(1000);
    let mut frames = 0;
    while client.try_send(&empty).await.is_ok() {
        frames += 1000;
        assert!(frames < 5_000_000, "the flood goes on");
    }
    wait_for("the connection to end", || listener.open() == 0).await;
}

#[tokio::test]
async fn header_list_beyond_the_limit_reaches_no_handler() {
    let limits = ListenerLimits { header_bytes_max: 8192, ..limits(long_deadlines()) };
    let listener = TestListener::start(limits).await;
    let mut client = Http2::connect(listener.address, &[]).await;
    let block = [h2::get("/wait"), h2::header("x-long", &"x".repeat(100)).repeat(100)].concat();
    client.send(&h2::frame(h2::HEADERS, h2::END_HEADERS | h2::END_STREAM, 1, &block)).await;
    client.read_until("the refusal", |frame| frame.stream == 1).await;
    assert_eq!(listener.begun(), 0);
    client.send(&h2::request(3, "/")).await;
    client.read_until("the next response", |frame| frame.is_end_of(3)).await;
}

#[tokio::test]
async fn streams_beyond_the_limit_are_refused() {
    let listener = start().await;
    let mut client = Http2::connect(listener.address, &[]).await;
    client.read_until("the server's settings", |frame| frame.kind == h2::SETTINGS).await;
    let requests: Vec<u8> = (0..150).flat_map(|nth| h2::request(2 * nth + 1, "/wait")).collect();
    client.send(&requests).await;
    let refused = client.read_until("a refusal", |frame| frame.kind == h2::RST_STREAM).await;
    assert_eq!(refused.payload[3], REFUSED_STREAM);
    wait_for("the handlers", || listener.begun() == STREAMS_MAX).await;
    listener.expect_service().await;
    assert_eq!(listener.begun(), STREAMS_MAX);
}

/// Frames that need no stream, sent without end by a client that reads nothing or everything.
async fn flood(frames: &[u8], reads: bool) {
    let deadlines = Deadlines { idle: millis(300), write: millis(300), ..long_deadlines() };
    let listener = TestListener::start(limits(deadlines)).await;
    let mut client = Http2::connect(listener.address, &[]).await;
    client.send(&h2::request(1, "/")).await;
    client.read_until("the response", |frame| frame.is_end_of(1)).await;
    let flood = frames.repeat(100);
    let watch = Stopwatch::start();
    loop {
        match tokio::time::timeout(WAIT_MAX, client.try_send(&flood)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => break,
            Err(elapsed) => panic!("the connection neither takes frames nor ends: {elapsed}"),
        }
        while reads && tokio::time::timeout(millis(0), client.read()).await.is_ok_and(|frame| frame.is_some())
        {
        }
        assert!(watch.elapsed().as_secs() < 15, "the flood goes on");
    }
    wait_for("the connection to be counted", || listener.closed("idle") + listener.closed("write") == 1)
        .await;
    listener.expect_service().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ping_flood_ends_with_the_idle_time() {
    flood(&h2::frame(h2::PING, 0, 0, b"flooding"), true).await;
    flood(&h2::frame(h2::PING, 0, 0, b"flooding"), false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_flood_ends_with_the_idle_time() {
    flood(&h2::frame(h2::SETTINGS, 0, 0, &h2::setting(h2::INITIAL_WINDOW_SIZE, 65_535)), false).await;
}

#[tokio::test]
async fn errors_of_the_client_are_bounded() {
    let listener = start().await;
    let mut client = Http2::connect(listener.address, &[]).await;
    // HTTP/2 has no such header, so the server resets the stream.
    let wrong = [h2::get("/"), h2::header("connection", "close")].concat();
    for stream in (1..20_000).step_by(2) {
        let request = h2::frame(h2::HEADERS, h2::END_HEADERS | h2::END_STREAM, stream, &wrong);
        if client.try_send(&request).await.is_err() {
            break;
        }
    }
    wait_for("the connection to end", || listener.open() == 0).await;
    let frames = client.rest().await;
    let goaway = frames.iter().find(|frame| frame.kind == h2::GOAWAY);
    assert!(goaway.is_none_or(|frame| frame.payload[7] == ENHANCE_YOUR_CALM), "{goaway:?}");
}
