//! A listener with a few routes, and sockets to it.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::routing::{get, post};
use http_body_util::BodyExt as _;
use hyper::body::Frame;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use web::tls::Tls;
use web::{Deadlines, Listener, ListenerLimits, Metrics, ShutdownTrigger, Stopwatch};

/// The longest wait for anything in these tests.
pub(crate) const WAIT_MAX: Duration = Duration::from_secs(20);

pub(crate) const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Deadlines that no test reaches by accident; each test shortens the one it is about.
pub(crate) fn long_deadlines() -> Deadlines {
    let long = Duration::from_secs(120);
    Deadlines { handshake: long, header: long, body: long, write: long, idle: long }
}

pub(crate) fn limits(deadlines: Deadlines) -> ListenerLimits {
    ListenerLimits { deadlines, ..ListenerLimits::default() }
}

pub(crate) struct TestListener {
    pub(crate) address: SocketAddr,
    pub(crate) shutdown: ShutdownTrigger,
    /// Handlers of `/wait` that have begun.
    pub(crate) begun: Arc<AtomicUsize>,
    /// A permit lets one handler of `/wait` answer.
    pub(crate) release: Arc<Semaphore>,
    pub(crate) task: JoinHandle<()>,
    metrics: Metrics,
}

impl TestListener {
    pub(crate) async fn start(limits: ListenerLimits) -> Self {
        Self::with_tls(limits, None).await
    }

    pub(crate) async fn with_tls(limits: ListenerLimits, tls: Option<Tls>) -> Self {
        let metrics = Metrics::new();
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let listener = Listener::bind(any, tls, limits, metrics.for_connections("test")).await.unwrap();
        let address = listener.address().unwrap();
        let (shutdown, stopped) = ShutdownTrigger::new();
        let (begun, release) = (Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(0)));
        let task = tokio::spawn(listener.serve(router(begun.clone(), release.clone()), stopped));
        Self { address, shutdown, begun, release, task, metrics }
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// A connection that has sent this.
    pub(crate) async fn send(&self, bytes: impl AsRef<[u8]>) -> TcpStream {
        let mut stream = self.connect().await;
        // A listener that refuses the connection may have closed it by now.
        let _ = stream.write_all(bytes.as_ref()).await;
        stream
    }

    /// Sends a whole request on a connection of its own and expects this in its response.
    pub(crate) async fn expect_service(&self) {
        let mut stream = self.send("GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
        let response = read_to_end(&mut stream).await;
        assert!(response.starts_with("HTTP/1.1 200 OK") && response.ends_with("hello"), "{response:?}");
    }

    /// A metric, by its name and labels; 0 if there is none.
    pub(crate) fn metric(&self, name: &str, labels: &str) -> u64 {
        let text = self.metrics.text();
        let series = format!("aldaba_{name}{{side=\"test\"{labels}}} ");
        text.lines().find_map(|line| line.strip_prefix(&series)).map_or(0, |value| value.parse().unwrap())
    }

    pub(crate) fn closed(&self, reason: &str) -> u64 {
        self.metric("http_connections_closed_total", &format!(",reason=\"{reason}\""))
    }

    pub(crate) fn refused(&self, reason: &str) -> u64 {
        self.metric("http_connections_refused_total", &format!(",reason=\"{reason}\""))
    }

    pub(crate) fn open(&self) -> u64 {
        self.metric("http_connections", "")
    }

    pub(crate) fn begun(&self) -> usize {
        self.begun.load(Ordering::SeqCst)
    }
}

fn router(begun: Arc<AtomicUsize>, release: Arc<Semaphore>) -> Router {
    let wait = move || async move {
        begun.fetch_add(1, Ordering::SeqCst);
        release.acquire().await.unwrap().forget();
        "released"
    };
    Router::new()
        .route("/", get(|| async { "hello" }))
        .route("/wait", get(wait.clone()).post(wait))
        .route("/large", get(|| async { Body::from(vec![b'x'; 32 * 1024 * 1024]) }))
        .route("/endless", get(|| async { Body::new(Endless) }))
        .route("/length", post(|body: Bytes| async move { body.len().to_string() }))
        .route("/late", post(read_late))
}

/// Reads the first piece of the body, is busy for a second, and reads the rest.
async fn read_late(mut body: Body) -> String {
    let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
    // Asks for the next piece, which is not there yet, and turns to other work.
    let _ = tokio::time::timeout(millis(1), body.frame()).await;
    tokio::time::sleep(millis(1000)).await;
    let rest = body.collect().await.map_or(0, |rest| rest.to_bytes().len());
    (first.len() + rest).to_string()
}

struct Endless;

impl hyper::body::Body for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        std::task::Poll::Ready(Some(Ok(Frame::data(Bytes::from(vec![b'x'; 64 * 1024])))))
    }
}

/// Everything until the connection ends.
pub(crate) async fn read_to_end(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    // A reset ends the connection as well.
    let _ = tokio::time::timeout(WAIT_MAX, stream.read_to_end(&mut bytes))
        .await
        .expect("the end of a connection");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// How long the connection stays open.
pub(crate) async fn held(mut stream: TcpStream) -> Duration {
    let watch = Stopwatch::start();
    read_to_end(&mut stream).await;
    watch.elapsed()
}

/// Reads one response with a body of this end.
pub(crate) async fn read_until(stream: &mut TcpStream, end: &str) -> String {
    let mut text = String::new();
    let mut piece = [0; 4096];
    while !text.ends_with(end) {
        let count = tokio::time::timeout(WAIT_MAX, stream.read(&mut piece)).await.unwrap().unwrap();
        assert!(count > 0, "the connection ended after {text:?}");
        text.push_str(&String::from_utf8_lossy(&piece[..count]));
    }
    text
}

/// Waits until the condition holds.
#[track_caller]
pub(crate) fn wait_for(what: &str, condition: impl Fn() -> bool) -> impl Future<Output = ()> {
    let what = what.to_owned();
    async move {
        let watch = Stopwatch::start();
        while !condition() {
            assert!(watch.elapsed() < WAIT_MAX, "no {what}");
            tokio::time::sleep(millis(2)).await;
        }
    }
}
