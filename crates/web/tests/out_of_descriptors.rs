//! A process without file descriptors: the listener waits longer and longer instead of spinning, and serves again as
//! soon as there are some. Alone in its program, because the limit holds for a whole process.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on stops")]

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpSocket;
use web::{Listener, ListenerLimits, Metrics, ShutdownTrigger, Stopwatch};

const WAIT_MAX: Duration = Duration::from_secs(20);

fn accept_errors(metrics: &Metrics) -> u64 {
    let text = metrics.text();
    let line =
        text.lines().find_map(|line| line.strip_prefix("aldaba_http_accept_errors_total{side=\"test\"} "));
    line.map_or(0, |count| count.parse().unwrap())
}

async fn wait_for(what: &str, condition: impl Fn() -> bool) {
    let watch = Stopwatch::start();
    while !condition() {
        assert!(watch.elapsed() < WAIT_MAX, "no {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test]
async fn listener_backs_off_and_recovers() {
    let metrics = Metrics::new();
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let limits = ListenerLimits::default();
    let listener = Listener::bind(any, None, limits, metrics.for_connections("test")).await.unwrap();
    let address = listener.address().unwrap();
    let (_shutdown, stopped) = ShutdownTrigger::new();
    tokio::spawn(listener.serve(Router::new().route("/", get(|| async { "hello" })), stopped));
    let client = TcpSocket::new_v4().unwrap();

    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: Some(100), maximum }).unwrap();
    let mut files = Vec::new();
    while let Ok(file) = std::fs::File::open("/dev/null") {
        files.push(file);
    }
    let mut stream = client.connect(address).await.unwrap();
    let watch = Stopwatch::start();
    wait_for("fourth error", || accept_errors(&metrics) >= 4).await;
    // 10 + 20 + 40 ms, and twice as long after each further error.
    assert!(watch.elapsed() >= Duration::from_millis(60), "{:?}", watch.elapsed());

    drop(files);
    stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut response = String::new();
    tokio::time::timeout(WAIT_MAX, stream.read_to_string(&mut response)).await.unwrap().unwrap();
    assert!(response.ends_with("hello"), "{response}");
}
