//! The local webhook receiver: responds to handshakes and deliveries, verifies signatures and prints each request.
//! `PUT /mood` makes it fail, to watch retries. Its listener also serves the pages of dev.

mod page;
mod received_request;
mod webhook_secrets;

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

use super::callback::{self, Callbacks};
use super::site::{self, PageRequest, wants_page};
use super::terminal_style::TerminalStyle;
use crate::exit::Failure;
use crate::output::Output;
use crate::signature_check::SignatureCheck;
use crate::wiring::SystemClock;
use received_request::{ReceivedRequest, RequestHistory, RequestKind};

/// The longest time that `/deliveries` waits for more requests.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// The response to deliveries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ResponseMode {
    #[default]
    Ok,
    Fail,
}

impl ResponseMode {
    fn description(self) -> &'static str {
        match self {
            Self::Ok => "ok: the receiver responds with 200\n",
            Self::Fail => "fail: the receiver responds with 500\n",
        }
    }
}

/// The receiver's state; `/deliveries` waits for changes of it.
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
    url: String,
}

/// Binds the receiver's address; nothing is served yet.
pub(super) async fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), Failure> {
    let cannot = |error: std::io::Error| Failure::AddressInUse {
        why: format!("the receiver cannot listen on {address}: {error}"),
        remedy: "choose another address".into(),
    };
    let listener = TcpListener::bind(address).await.map_err(cannot)?;
    let bound = listener.local_addr().map_err(cannot)?;
    Ok((listener, bound))
}

/// Serves the receiver and the pages of dev until the program exits. `url` ends with a slash.
pub(super) fn serve(
    listener: TcpListener,
    url: String,
    store: Arc<dyn Store>,
    callbacks: Arc<Callbacks>,
    output: Output,
) {
    let state = watch::Sender::new(ReceiverState::default());
    let receiver = Arc::new(Receiver { store, output, style: TerminalStyle::for_stderr(), state, url });
    let sign_in = Router::new()
        .route("/sign-in", get(callback::begin))
        .route("/sign-in/{id}", get(callback::show))
        .with_state(callbacks);
    let router = Router::new()
        .route("/mood", get(mode).put(set_mode))
        .route("/deliveries", get(deliveries))
        .route("/look/{asset}", get(site::asset))
        .fallback(any(receive))
        .with_state(receiver)
        .merge(sign_in);
    tokio::spawn(async move { axum::serve(listener, router).await });
}

async fn mode(State(receiver): State<Arc<Receiver>>) -> &'static str {
    receiver.state.borrow().mode.description()
}

async fn set_mode(State(receiver): State<Arc<Receiver>>, body: String) -> Response {
    let mode = match body.trim() {
        "ok" => ResponseMode::Ok,
        "fail" => ResponseMode::Fail,
        _ => {
            let why = "the mood must be ok or fail, for example: curl -X PUT $RECEIVER/mood -d fail\n";
            return (StatusCode::BAD_REQUEST, why).into_response();
        }
    };
    receiver.state.send_modify(|state| state.mode = mode);
    mode.description().into_response()
}

/// The last requests: for programs JSON, oldest first, one per line; for browsers a page, newest first. With `handshakes`,
/// `delivered` or `failed`, waits until there are that many.
async fn deliveries(
    State(receiver): State<Arc<Receiver>>,
    uri: Uri,
    headers: HeaderMap,
    Query(query): Query<HashMap<String, String>>,
) -> Response {
    let is_browser = wants_page(&headers);
    let mut wanted = Vec::new();
    for (name, text) in query.iter().filter(|(name, _)| !is_browser || *name != "lang") {
        let kind = RequestKind::ALL.into_iter().find(|kind| kind.query_name() == name);
        let (Some(kind), Ok(count)) = (kind, text.parse::<usize>()) else {
            let why = "the query must be handshakes=N, delivered=N or failed=N, for example /deliveries?delivered=1\n";
            return (StatusCode::BAD_REQUEST, why).into_response();
        };
        wanted.push((kind, count));
    }
    let mut changes = receiver.state.subscribe();
    let has_all =
        |state: &ReceiverState| wanted.iter().all(|(kind, count)| state.history.count(*kind) >= *count);
    // After a timeout the response is the current state.
    let _ = tokio::time::timeout(WAIT_MAX, changes.wait_for(has_all)).await;
    if is_browser {
        let state = receiver.state.borrow();
        let request = PageRequest::new(&uri, &headers);
        return page::deliveries(&request, &state.history, state.mode, &receiver.url);
    }
    let text = receiver.state.borrow().history.json();
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

/// Responds to an echo handshake (GET) or a delivery (POST).
async fn receive(
    State(receiver): State<Arc<Receiver>>,
    method: Method,
    uri: Uri,
    Query(query): Query<HashMap<String, String>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let is_failing = receiver.state.borrow().mode == ResponseMode::Fail;
    let echo = query.get("echo").filter(|_| method == Method::GET);
    if echo.is_none() && method != Method::POST {
        let is_browser = wants_page(&headers);
        return if is_browser { pages::see_other("/deliveries") } else { StatusCode::OK.into_response() };
    }
    let signature = match echo {
        // The GET of the echo handshake has no signature.
        Some(_) => SignatureCheck::Missing,
        None => webhook_secrets::check_signature(&*receiver.store, &headers, &body).await,
    };
    let status = match &signature {
        _ if is_failing => StatusCode::INTERNAL_SERVER_ERROR,
        SignatureCheck::Wrong(_) => StatusCode::UNAUTHORIZED,
        SignatureCheck::Valid(_) | SignatureCheck::Missing => StatusCode::OK,
    };
    let request = match echo {
        Some(_) => ReceivedRequest::echo(SystemClock.now(), uri.path(), status),
        None => ReceivedRequest::delivery(SystemClock.now(), uri.path(), &headers, &body)
            .with_response(signature, status),
    };
    receiver.record(request);
    let text = echo.filter(|_| status == StatusCode::OK).cloned().unwrap_or_default();
    (status, text).into_response()
}

impl Receiver {
    fn record(&self, request: ReceivedRequest) {
        let mut line = String::new();
        self.state.send_modify(|state| line = state.history.add(request).line(self.style));
        self.output.styled_message(&line);
    }
}
