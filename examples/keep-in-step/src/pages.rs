//! The HTTP routes: sign-in and sign-out, a page with the companies and the number of their copied customers, the copy
//! as JSON, and the webhook receiver.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aldaba_client::api::{Api, Company};
use aldaba_client::receiver::{Event, ReceiverLayer};
use aldaba_client::sign_in::{AuthorizationRequest, PendingSignIn, Session, SignIn};
use aldaba_client::{Error, Secret, TryStreamExt as _};
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::header::{CONTENT_TYPE, COOKIE, HeaderMap, LOCATION, SET_COOKIE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};

use crate::local_copy::LocalCopy;
use crate::log;
use crate::sync::Synchronizer;

/// The maximum number of pending sign-ins; beyond it, all of them are dropped.
const PENDING_MAX: usize = 1000;
const COOKIE_NAME: &str = "keep-in-step";

pub(crate) struct AppState {
    sign_in: SignIn,
    session: Session,
    api: Api,
    copy: Arc<LocalCopy>,
    synchronizer: Arc<Synchronizer>,
    pending: Mutex<HashMap<String, PendingSignIn>>,
}

impl AppState {
    pub(crate) fn new(
        sign_in: SignIn,
        session: Session,
        api: Api,
        copy: Arc<LocalCopy>,
        synchronizer: Arc<Synchronizer>,
    ) -> Self {
        Self { sign_in, session, api, copy, synchronizer, pending: Mutex::default() }
    }

    fn pending(&self) -> MutexGuard<'_, HashMap<String, PendingSignIn>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn router(app: Arc<AppState>, secret: Secret) -> Router {
    let receiver = ReceiverLayer::new(secret).on_mismatch(|why| log(&why.to_string()));
    Router::new()
        .route("/", get(home))
        .route("/sign-in", get(sign_in))
        .route("/callback", get(callback))
        .route("/sign-out", post(sign_out))
        .route("/copy.json", get(copy))
        .route("/hooks", post(receive_webhook).layer(receiver))
        .with_state(app)
}

/// Receives a webhook. The layer has verified its signature, and answers the Acknowledge itself. After a 500, the
/// service retries.
async fn receive_webhook(State(app): State<Arc<AppState>>, event: Event) -> StatusCode {
    match app.synchronizer.handle_event(event).await {
        Ok(()) => StatusCode::OK,
        Err(failure) => {
            log(&failure.to_string());
            StatusCode::INTERNAL_SERVER_ERROR
        }
    }
}

/// Starts a sign-in. A cookie binds it to this browser, so that no other browser can finish it.
async fn sign_in(State(app): State<Arc<AppState>>) -> Response {
    let started = app.sign_in.start(&AuthorizationRequest::accounting());
    let cookie = format!(
        "{COOKIE_NAME}={}; HttpOnly; SameSite=Lax; Path=/callback; Max-Age=600",
        started.pending.state()
    );
    let mut pending = app.pending();
    if pending.len() >= PENDING_MAX {
        pending.clear();
    }
    pending.insert(started.pending.state().to_owned(), started.pending);
    let mut response = redirect(&started.url);
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response
}

async fn callback(
    State(app): State<Arc<AppState>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let pending = cookie(&headers).and_then(|state| app.pending().remove(state));
    let Some(pending) = pending else {
        return page(
            StatusCode::BAD_REQUEST,
            "<p>There is no pending sign-in in this browser. <a href=/sign-in>Sign in</a>.</p>",
        );
    };
    let finished = async {
        let signed_in = app.sign_in.finish(&pending, &query.unwrap_or_default()).await?;
        app.session.save_tokens(&signed_in.tokens).await
    };
    match finished.await {
        Ok(()) => {
            app.synchronizer.request_pass();
            redirect("/")
        }
        Err(error) => error_page(&error),
    }
}

async fn sign_out(State(app): State<Arc<AppState>>) -> Response {
    match app.session.sign_out().await {
        Ok(()) => redirect("/"),
        Err(error) => error_page(&error),
    }
}

async fn home(State(app): State<Arc<AppState>>) -> Response {
    let companies: Result<Vec<Company>, Error> = app.api.companies().stream().try_collect().await;
    let companies = match companies {
        Ok(companies) => companies,
        Err(Error::SignInRequired { .. }) => {
            return page(StatusCode::OK, "<p><a href=/sign-in>Sign in</a> to see your companies.</p>");
        }
        Err(error) => return error_page(&error),
    };
    let copied = app.copy.all().unwrap_or_default();
    let mut rows = String::new();
    for company in &companies {
        let customers = copied.get(&company.correlation_id).map_or(0, std::collections::BTreeMap::len);
        let (name, number) = (escape_html(&company.vat_name), escape_html(&company.vat_number));
        let _ = write!(rows, "<tr><td>{name}<td>{number}<td>{}<td>{customers}", company.state);
    }
    let head = "<tr><th>Company<th>Tax number<th>State<th>Customers in the copy";
    let out = "<form method=post action=/sign-out><button>Sign out</button></form>";
    page(StatusCode::OK, &format!("<table>{head}{rows}</table>{out}"))
}

async fn copy(State(app): State<Arc<AppState>>) -> Response {
    match app.copy.all() {
        Ok(all) => axum::Json(all).into_response(),
        Err(failure) => page(StatusCode::INTERNAL_SERVER_ERROR, &escape_html(&failure.to_string())),
    }
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get(COOKIE)?.to_str().ok()?;
    cookies.split("; ").find_map(|pair| pair.strip_prefix(COOKIE_NAME)?.strip_prefix('='))
}

fn error_page(error: &Error) -> Response {
    let text = format!("<p>{}</p><p><a href=/>Back</a></p>", escape_html(&error.to_string()));
    page(StatusCode::BAD_GATEWAY, &text)
}

fn redirect(address: &str) -> Response {
    let Ok(address) = HeaderValue::from_str(address) else {
        return page(StatusCode::INTERNAL_SERVER_ERROR, "The URL cannot be written into a header.");
    };
    (StatusCode::SEE_OTHER, [(LOCATION, address)]).into_response()
}

fn page(status: StatusCode, body: &str) -> Response {
    let text =
        format!("<!doctype html><meta charset=utf-8><title>Keep in step</title><h1>Keep in step</h1>{body}");
    (status, [(CONTENT_TYPE, "text/html; charset=utf-8")], text).into_response()
}

fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
