//! The receivers of all webhooks: one listener, a path for each webhook. They accept every handshake, answer events with 200
//! and note what came and when.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::post;
use bytes::Bytes;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::net::TcpListener;

use crate::Fallible;

/// One delivery of an event.
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    pub(crate) webhook: usize,
    /// The number of the change, which the load put into it.
    pub(crate) change: u64,
    pub(crate) record: String,
    pub(crate) sequence: u64,
    pub(crate) outgoing_id: String,
    pub(crate) body_hash: u64,
    pub(crate) at: Instant,
}

/// What decides the answer to a delivery; 200 where there is none.
type Answers = dyn Fn(&Arrival) -> u16 + Send + Sync;

#[derive(Clone)]
pub(crate) struct Receivers {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    arrivals: Mutex<Vec<Arrival>>,
    answers: Mutex<Option<Arc<Answers>>>,
    handshakes: AtomicUsize,
    /// Bodies that are no JSON.
    unreadable: AtomicUsize,
}

impl Receivers {
    pub(crate) async fn open() -> Fallible<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let receivers = Self { port: listener.local_addr()?.port(), shared: Arc::default() };
        let routes = Router::new().route("/{webhook}", post(receive)).with_state(receivers.shared.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        Ok(receivers)
    }

    /// The listener's address.
    pub(crate) fn address(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.port))
    }

    /// Where a webhook's events come.
    pub(crate) fn url(&self, webhook: usize) -> String {
        format!("http://127.0.0.1:{}/{webhook}", self.port)
    }

    pub(crate) fn urls(&self, count: usize) -> Vec<String> {
        (0..count).map(|webhook| self.url(webhook)).collect()
    }

    /// Notes a delivery that came to a listener of one's own, and returns the status of the answer.
    pub(crate) fn note(&self, webhook: usize, body: &[u8]) -> u16 {
        self.shared.note(webhook, body)
    }

    /// Decides the answers to events from now on.
    pub(crate) fn answer_with(&self, answers: impl Fn(&Arrival) -> u16 + Send + Sync + 'static) {
        *self.shared.answers.lock() = Some(Arc::new(answers));
    }

    pub(crate) fn count(&self) -> usize {
        self.shared.arrivals.lock().len()
    }

    /// How many bodies came that are no JSON.
    pub(crate) fn unreadable(&self) -> usize {
        self.shared.unreadable.load(Ordering::Relaxed)
    }

    /// How many handshakes came.
    pub(crate) fn handshakes(&self) -> usize {
        self.shared.handshakes.load(Ordering::Relaxed)
    }

    /// Forgets what came so far.
    pub(crate) fn clear(&self) {
        self.shared.arrivals.lock().clear();
    }

    /// Everything that came and was answered with 200, in the order of its arrival.
    pub(crate) fn arrivals(&self) -> Vec<Arrival> {
        self.shared.arrivals.lock().clone()
    }
}

async fn receive(State(shared): State<Arc<Shared>>, Path(webhook): Path<usize>, body: Bytes) -> StatusCode {
    StatusCode::from_u16(shared.note(webhook, &body)).unwrap_or(StatusCode::OK)
}

impl Shared {
    fn note(&self, webhook: usize, body: &[u8]) -> u16 {
        let at = Instant::now();
        let Ok(message) = serde_json::from_slice::<Value>(body) else {
            self.unreadable.fetch_add(1, Ordering::Relaxed);
            return 200;
        };
        let Some(arrival) = arrival(webhook, &message, body, at) else {
            self.handshakes.fetch_add(1, Ordering::Relaxed);
            return 200;
        };
        let answers = self.answers.lock().clone();
        let status = answers.map_or(200, |answers| answers(&arrival));
        if status == 200 {
            self.arrivals.lock().push(arrival);
        }
        status
    }
}

/// The event of a body; none for a handshake.
fn arrival(webhook: usize, message: &Value, body: &[u8], at: Instant) -> Option<Arrival> {
    // The event is a JSON text inside the JSON body.
    let content: Value = serde_json::from_str(message["JsonData"].as_str()?).ok()?;
    let text = |name: &str| content[name].as_str().map(ToOwned::to_owned);
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    Some(Arrival {
        webhook,
        change: text("SvcSourceAction")?.parse().ok()?,
        record: text("CorrelationId")?,
        sequence: text("SequenceVersion")?.parse().ok()?,
        outgoing_id: message["OutgoingId"].as_str().unwrap_or_default().to_owned(),
        body_hash: hasher.finish(),
        at,
    })
}
