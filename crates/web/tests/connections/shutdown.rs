//! The end of a listener: requests in progress finish, and each protocol hears that its connection ends.

use crate::harness::{TestListener, limits, long_deadlines, read_to_end, wait_for};
use crate::http2_frames::{self as h2, Http2};
use web::{ListenerLimits, Stopwatch};

#[tokio::test]
async fn request_in_progress_finishes_and_its_connection_closes() {
    let listener = TestListener::start(limits(long_deadlines())).await;
    let mut first = listener.send("GET /wait HTTP/1.1\r\nhost: x\r\n\r\n").await;
    let mut second = Http2::connect(listener.address, &[]).await;
    second.send(&h2::request(1, "/wait")).await;
    wait_for("the handlers", || listener.begun() == 2).await;
    listener.shutdown.trigger();
    second.read_until("the GOAWAY", |frame| frame.kind == h2::GOAWAY).await;
    listener.release.add_permits(2);
    let response = read_to_end(&mut first).await;
    assert!(response.contains("\r\nconnection: close\r\n") && response.ends_with("released"), "{response}");
    second.read_until("the response", |frame| frame.is_end_of(1)).await;
    drop(second);
    listener.task.await.unwrap();
}

#[tokio::test]
async fn silent_connections_do_not_delay_the_end() {
    let listener = TestListener::start(limits(long_deadlines())).await;
    let mut idle = Http2::connect(listener.address, &[]).await;
    idle.send(&h2::request(1, "/")).await;
    idle.read_until("the response", |frame| frame.is_end_of(1)).await;
    let half_header = listener.send("GET / HTTP/1.1\r\nx: ").await;
    let half_preface = listener.send(&h2::PREFACE[..9]).await;
    let nothing = listener.connect().await;
    wait_for("the connections", || listener.open() == 4).await;
    let watch = Stopwatch::start();
    listener.shutdown.trigger();
    listener.task.await.unwrap();
    assert!(watch.elapsed().as_secs() < 5, "{:?}", watch.elapsed());
    drop((half_header, half_preface, nothing));
}

#[tokio::test]
async fn request_that_does_not_finish_is_cut_off() {
    let drain_timeout = std::time::Duration::from_millis(100);
    let listener = TestListener::start(ListenerLimits { drain_timeout, ..limits(long_deadlines()) }).await;
    let mut stream = listener.send("GET /wait HTTP/1.1\r\nhost: x\r\n\r\n").await;
    wait_for("the handler", || listener.begun() == 1).await;
    listener.shutdown.trigger();
    assert_eq!(read_to_end(&mut stream).await, "");
    listener.task.await.unwrap();
}
