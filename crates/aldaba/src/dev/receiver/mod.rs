//! The local receiver: answers handshakes and deliveries, so that webhooks have somewhere to go at once; checks their
//! signatures and tells of each; and can be broken and mended, so that retries can be watched.

mod arrival;
mod check;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ::store::Store;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use domain::Clock as _;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::paint::Paint;
use crate::exit::Failure;
use crate::output::Output;
use crate::wiring::SystemClock;
use arrival::{Arrival, Arrivals, Kind};
use check::Signature;

/// How long who asks for deliveries that are still to come is kept waiting.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// How deliveries are answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mood {
    #[default]
    Ok,
    Fail,
}

impl Mood {
    fn tell(self) -> &'static str {
        match self {
            Self::Ok => "ok: deliveries are answered 200\n",
            Self::Fail => "fail: deliveries are answered 500\n",
        }
    }
}

/// What the receiver knows; who waits is told when it changes.
#[derive(Debug, Default)]
struct Known {
    mood: Mood,
    arrivals: Arrivals,
}

struct Desk {
    store: Arc<dyn Store>,
    output: Output,
    paint: Paint,
    known: watch::Sender<Known>,
}

/// Starts the receiver and returns its address; it ends with the program.
pub(super) async fn start(
    address: SocketAddr,
    store: Arc<dyn Store>,
    output: Output,
) -> Result<SocketAddr, Failure> {
    let cannot = |error: std::io::Error| Failure::Busy {
        why: format!("the receiver cannot listen on {address}: {error}"),
        remedy: "choose another address".into(),
    };
    let listener = TcpListener::bind(address).await.map_err(cannot)?;
    let bound = listener.local_addr().map_err(cannot)?;
    let known = watch::Sender::new(Known::default());
    let desk = Desk { store, output, paint: Paint::for_stderr(), known };
    let router = Router::new()
        .route("/mood", get(mood).put(set_mood))
        .route("/deliveries", get(deliveries))
        .fallback(any(answer))
        .with_state(Arc::new(desk));
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(bound)
}

async fn mood(State(desk): State<Arc<Desk>>) -> &'static str {
    desk.known.borrow().mood.tell()
}

async fn set_mood(State(desk): State<Arc<Desk>>, word: String) -> Response {
    let mood = match word.trim() {
        "ok" => Mood::Ok,
        "fail" => Mood::Fail,
        _ => {
            let why = "the receiver's mood is ok or fail, as in: curl -X PUT $RECEIVER/mood -d fail\n";
            return (StatusCode::BAD_REQUEST, why).into_response();
        }
    };
    desk.known.send_modify(|known| known.mood = mood);
    mood.tell().into_response()
}

/// The last deliveries, oldest first, one a line; with `handshakes`, `delivered` or `failed`, as soon as there were that
/// many.
async fn deliveries(State(desk): State<Arc<Desk>>, Query(query): Query<HashMap<String, String>>) -> Response {
    let mut wanted = Vec::new();
    for (name, text) in &query {
        let kind = Kind::ALL.into_iter().find(|kind| kind.counted_as() == name);
        let (Some(kind), Ok(count)) = (kind, text.parse::<usize>()) else {
            let why = "wait for handshakes=N, delivered=N or failed=N, as in /deliveries?delivered=1\n";
            return (StatusCode::BAD_REQUEST, why).into_response();
        };
        wanted.push((kind, count));
    }
    let mut watching = desk.known.subscribe();
    let has_all = |known: &Known| wanted.iter().all(|(kind, count)| known.arrivals.count(*kind) >= *count);
    // Who waited in vain sees what is there.
    let _ = tokio::time::timeout(WAIT_MAX, watching.wait_for(has_all)).await;
    let text = desk.known.borrow().arrivals.json();
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

/// An echo is given back; whatever is posted is a delivery.
async fn answer(
    State(desk): State<Arc<Desk>>,
    method: Method,
    uri: Uri,
    Query(query): Query<HashMap<String, String>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let is_broken = desk.known.borrow().mood == Mood::Fail;
    let echo = query.get("echo").filter(|_| method == Method::GET);
    if echo.is_none() && method != Method::POST {
        return StatusCode::OK.into_response();
    }
    let signature = match echo {
        // The echo's GET is not signed.
        Some(_) => Signature::Missing,
        None => check::check(&*desk.store, &headers, &body).await,
    };
    let status = match &signature {
        _ if is_broken => StatusCode::INTERNAL_SERVER_ERROR,
        Signature::Wrong(_) => StatusCode::UNAUTHORIZED,
        Signature::Valid(_) | Signature::Missing => StatusCode::OK,
    };
    let arrival = match echo {
        Some(_) => Arrival::of_echo(SystemClock.now(), uri.path(), status),
        None => Arrival::of(SystemClock.now(), uri.path(), &headers, &body).answered(signature, status),
    };
    desk.note(arrival);
    let text = echo.filter(|_| status == StatusCode::OK).cloned().unwrap_or_default();
    (status, text).into_response()
}

impl Desk {
    fn note(&self, arrival: Arrival) {
        let mut line = String::new();
        self.known.send_modify(|known| line = known.arrivals.add(arrival).line(self.paint));
        self.output.say(&line);
    }
}
