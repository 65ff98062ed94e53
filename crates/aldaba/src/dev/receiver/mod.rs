//! The local receiver: answers handshakes and deliveries, so that webhooks have somewhere to go at once; checks their
//! signatures and tells of each; and can be broken and mended, so that retries can be watched.

mod received_request;
mod signature_check;

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

use super::terminal_style::TerminalStyle;
use crate::exit::Failure;
use crate::output::Output;
use crate::wiring::SystemClock;
use received_request::{ReceivedRequest, RequestHistory, RequestKind};
use signature_check::SignatureCheck;

/// How long who asks for deliveries that are still to come is kept waiting.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// How deliveries are answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ResponseMode {
    #[default]
    Ok,
    Fail,
}

impl ResponseMode {
    fn tell(self) -> &'static str {
        match self {
            Self::Ok => "ok: deliveries are answered 200\n",
            Self::Fail => "fail: deliveries are answered 500\n",
        }
    }
}

/// What the receiver knows; who waits is told when it changes.
#[derive(Debug, Default)]
struct ReceiverState {
    mode: ResponseMode,
    history: RequestHistory,
}

struct Receiver {
    store: Arc<dyn Store>,
    output: Output,
    style: TerminalStyle,
    state: watch::Sender<ReceiverState>,
}

/// Starts the receiver and returns its address; it ends with the program.
pub(super) async fn start(
    address: SocketAddr,
    store: Arc<dyn Store>,
    output: Output,
) -> Result<SocketAddr, Failure> {
    let cannot = |error: std::io::Error| Failure::AddressInUse {
        why: format!("the receiver cannot listen on {address}: {error}"),
        remedy: "choose another address".into(),
    };
    let listener = TcpListener::bind(address).await.map_err(cannot)?;
    let bound = listener.local_addr().map_err(cannot)?;
    let state = watch::Sender::new(ReceiverState::default());
    let receiver = Receiver { store, output, style: TerminalStyle::for_stderr(), state };
    let router = Router::new()
        .route("/mood", get(mode).put(set_mode))
        .route("/deliveries", get(deliveries))
        .fallback(any(answer))
        .with_state(Arc::new(receiver));
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(bound)
}

async fn mode(State(receiver): State<Arc<Receiver>>) -> &'static str {
    receiver.state.borrow().mode.tell()
}

async fn set_mode(State(receiver): State<Arc<Receiver>>, word: String) -> Response {
    let mode = match word.trim() {
        "ok" => ResponseMode::Ok,
        "fail" => ResponseMode::Fail,
        _ => {
            let why = "the receiver's mood is ok or fail, as in: curl -X PUT $RECEIVER/mood -d fail\n";
            return (StatusCode::BAD_REQUEST, why).into_response();
        }
    };
    receiver.state.send_modify(|state| state.mode = mode);
    mode.tell().into_response()
}

/// The last deliveries, oldest first, one a line; with `handshakes`, `delivered` or `failed`, as soon as there were that
/// many.
async fn deliveries(
    State(receiver): State<Arc<Receiver>>,
    Query(query): Query<HashMap<String, String>>,
) -> Response {
    let mut wanted = Vec::new();
    for (name, text) in &query {
        let kind = RequestKind::ALL.into_iter().find(|kind| kind.counted_as() == name);
        let (Some(kind), Ok(count)) = (kind, text.parse::<usize>()) else {
            let why = "wait for handshakes=N, delivered=N or failed=N, as in /deliveries?delivered=1\n";
            return (StatusCode::BAD_REQUEST, why).into_response();
        };
        wanted.push((kind, count));
    }
    let mut watching = receiver.state.subscribe();
    let has_all =
        |state: &ReceiverState| wanted.iter().all(|(kind, count)| state.history.count(*kind) >= *count);
    // Who waited in vain sees what is there.
    let _ = tokio::time::timeout(WAIT_MAX, watching.wait_for(has_all)).await;
    let text = receiver.state.borrow().history.json();
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

/// An echo is given back; whatever is posted is a delivery.
async fn answer(
    State(receiver): State<Arc<Receiver>>,
    method: Method,
    uri: Uri,
    Query(query): Query<HashMap<String, String>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let is_broken = receiver.state.borrow().mode == ResponseMode::Fail;
    let echo = query.get("echo").filter(|_| method == Method::GET);
    if echo.is_none() && method != Method::POST {
        return StatusCode::OK.into_response();
    }
    let signature = match echo {
        // The echo's GET is not signed.
        Some(_) => SignatureCheck::Missing,
        None => signature_check::check_signature(&*receiver.store, &headers, &body).await,
    };
    let status = match &signature {
        _ if is_broken => StatusCode::INTERNAL_SERVER_ERROR,
        SignatureCheck::Wrong(_) => StatusCode::UNAUTHORIZED,
        SignatureCheck::Valid(_) | SignatureCheck::Missing => StatusCode::OK,
    };
    let received_request = match echo {
        Some(_) => ReceivedRequest::of_echo(SystemClock.now(), uri.path(), status),
        None => {
            ReceivedRequest::of(SystemClock.now(), uri.path(), &headers, &body).answered(signature, status)
        }
    };
    receiver.note(received_request);
    let text = echo.filter(|_| status == StatusCode::OK).cloned().unwrap_or_default();
    (status, text).into_response()
}

impl Receiver {
    fn note(&self, received_request: ReceivedRequest) {
        let mut line = String::new();
        self.state.send_modify(|state| line = state.history.add(received_request).line(self.style));
        self.output.say(&line);
    }
}
