//! Measures how many requests per second the egress sends over loopback, compared with a bare loop over hyper's
//! connections. Run it with `cargo run --release -p aldaba-webhooks --example egress_speed [seconds]`. On a shared machine
//! compare the processor time per request; it includes the receiver's share.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a measurement prints and may stop")]

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use domain::Ticks;
use domain::egress::EgressPolicy;
use domain::receiver_url::ReceiverUrl;
use http::header::{CONTENT_TYPE, HOST, HeaderName, HeaderValue, USER_AGENT};
use http::{HeaderMap, Method, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;
use webhooks::egress::{Egress, EgressSettings, OutboundRequest};

#[tokio::main]
async fn main() {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(5);
    let sink = sink().await;
    let settings = EgressSettings {
        policy: EgressPolicy { loopback: true, allow: Vec::new() },
        idle_per_host_max: 64,
        ..EgressSettings::default()
    };
    let egress = Egress::new(settings).unwrap();
    for round in 1..=3 {
        for in_flight in [8, 64] {
            let bare = measure(in_flight, seconds, |count, end| by_hand(sink, count, end)).await;
            let ours =
                measure(in_flight, seconds, |count, end| by_egress(egress.clone(), sink, count, end)).await;
            println!("round {round}, {in_flight} in flight: bare {bare}, egress {ours}");
        }
    }
}

async fn measure<F, W>(in_flight: usize, seconds: u64, worker: F) -> String
where
    F: Fn(Arc<AtomicU64>, Instant) -> W,
    W: Future<Output = ()> + Send + 'static,
{
    let count = Arc::new(AtomicU64::new(0));
    let busy = busy_micros();
    let end = Instant::now() + Duration::from_secs(seconds);
    let workers: Vec<_> = (0..in_flight).map(|_| tokio::spawn(worker(count.clone(), end))).collect();
    for worker in workers {
        worker.await.unwrap();
    }
    let count = count.load(Ordering::Relaxed).max(1);
    let busy = (busy_micros() - busy) * 10 / count;
    format!("{}/s ({}.{} µs of processor each)", count / seconds, busy / 10, busy % 10)
}

/// The processor time of this process; 0 where the system does not report it.
fn busy_micros() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2).filter_map(|text| text.parse::<u64>().ok());
    ticks.sum::<u64>() * 10_000
}

async fn by_egress(egress: Egress, sink: SocketAddr, count: Arc<AtomicU64>, end: Instant) {
    let url = Arc::new(ReceiverUrl::parse(&format!("http://{sink}/hooks"), true).unwrap());
    let (headers, body) = (headers(), body());
    while Instant::now() < end {
        let request = OutboundRequest {
            webhook: Some(domain::Guid::from_bytes([0; 16])),
            url: url.clone(),
            method: Method::POST,
            query: None,
            headers: headers.clone(),
            body: body.clone(),
            timeout: Duration::from_secs(5),
            now: Ticks(0),
        };
        assert_eq!(egress.send(request).await.result.unwrap().status, 200);
        count.fetch_add(1, Ordering::Relaxed);
    }
}

async fn by_hand(sink: SocketAddr, count: Arc<AtomicU64>, end: Instant) {
    let stream = TcpStream::connect(sink).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let mut headers = headers();
    headers.insert(HOST, HeaderValue::from_str(&sink.to_string()).unwrap());
    headers.insert(USER_AGENT, HeaderValue::from_static("bare"));
    let body = body();
    while Instant::now() < end {
        let mut request = Request::new(Full::new(body.clone()));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = "/hooks".parse().unwrap();
        *request.headers_mut() = headers.clone();
        sender.ready().await.unwrap();
        let response = sender.send_request(request).await.unwrap();
        assert_eq!(response.status().as_u16(), 200);
        response.into_body().collect().await.unwrap();
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// As many headers as a delivery has.
fn headers() -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(16);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for name in ["webhook-id", "webhook-timestamp", "webhook-signature", "svc-webhook-signature"] {
        headers.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static("sha256=0123456789ABCDEF0123456789ABCDEF"),
        );
    }
    headers
}

fn body() -> Bytes {
    Bytes::from(vec![b'x'; 1024])
}

/// Starts a receiver that reads every request and responds 200.
async fn sink() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            stream.set_nodelay(true).unwrap();
            let service = service_fn(|request: Request<Incoming>| async move {
                let _ = request.into_body().collect().await;
                Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(b"ok"))))
            });
            tokio::spawn(
                hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service),
            );
        }
    });
    address
}
