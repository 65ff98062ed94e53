//! The pages: who is not signed in is sent to sign in, who is sees the companies and how many customers the copy has.

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

use crate::copy::Copy;
use crate::say;
use crate::step::Step;

/// Sign-ins that may be under way; past that the oldest are forgotten with all others.
const PENDING_MAX: usize = 1000;
const COOKIE_NAME: &str = "keep-in-step";

pub(crate) struct Desk {
    sign_in: SignIn,
    session: Session,
    api: Api,
    copy: Arc<Copy>,
    step: Arc<Step>,
    pending: Mutex<HashMap<String, PendingSignIn>>,
}

impl Desk {
    pub(crate) fn new(sign_in: SignIn, session: Session, api: Api, copy: Arc<Copy>, step: Arc<Step>) -> Self {
        Self { sign_in, session, api, copy, step, pending: Mutex::default() }
    }

    fn pending(&self) -> MutexGuard<'_, HashMap<String, PendingSignIn>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn router(desk: Arc<Desk>, secret: Secret) -> Router {
    let receiver = ReceiverLayer::new(secret).on_mismatch(|why| say(&why.to_string()));
    Router::new()
        .route("/", get(home))
        .route("/sign-in", get(sign_in))
        .route("/callback", get(callback))
        .route("/sign-out", post(sign_out))
        .route("/copy.json", get(copy))
        .route("/hooks", post(hook).layer(receiver))
        .with_state(desk)
}

/// What the service delivers; the layer in front has verified it and answers the Acknowledge. What fails comes again.
async fn hook(State(desk): State<Arc<Desk>>, event: Event) -> StatusCode {
    match desk.step.take(event).await {
        Ok(()) => StatusCode::OK,
        Err(failure) => {
            say(&failure.to_string());
            StatusCode::INTERNAL_SERVER_ERROR
        }
    }
}

/// The browser takes the name of what it began along, so that no other can finish it.
async fn sign_in(State(desk): State<Arc<Desk>>) -> Response {
    let started = desk.sign_in.start(&AuthorizationRequest::accounting());
    let cookie = format!(
        "{COOKIE_NAME}={}; HttpOnly; SameSite=Lax; Path=/callback; Max-Age=600",
        started.pending.state()
    );
    let mut pending = desk.pending();
    if pending.len() >= PENDING_MAX {
        pending.clear();
    }
    pending.insert(started.pending.state().to_owned(), started.pending);
    let mut answer = go_to(&started.url);
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        answer.headers_mut().insert(SET_COOKIE, cookie);
    }
    answer
}

async fn callback(State(desk): State<Arc<Desk>>, RawQuery(query): RawQuery, headers: HeaderMap) -> Response {
    let begun = cookie(&headers).and_then(|state| desk.pending().remove(state));
    let Some(pending) = begun else {
        return page(
            StatusCode::BAD_REQUEST,
            "<p>This browser has begun no sign-in. <a href=/sign-in>Begin</a>.</p>",
        );
    };
    let finished = async {
        let signed_in = desk.sign_in.finish(&pending, &query.unwrap_or_default()).await?;
        desk.session.save_tokens(&signed_in.tokens).await
    };
    match finished.await {
        Ok(()) => {
            desk.step.wake();
            go_to("/")
        }
        Err(error) => failed(&error),
    }
}

async fn sign_out(State(desk): State<Arc<Desk>>) -> Response {
    match desk.session.sign_out().await {
        Ok(()) => go_to("/"),
        Err(error) => failed(&error),
    }
}

async fn home(State(desk): State<Arc<Desk>>) -> Response {
    let companies: Result<Vec<Company>, Error> = desk.api.companies().stream().try_collect().await;
    let companies = match companies {
        Ok(companies) => companies,
        Err(Error::SignInRequired { .. }) => {
            return page(StatusCode::OK, "<p><a href=/sign-in>Sign in</a> to see your companies.</p>");
        }
        Err(error) => return failed(&error),
    };
    let copied = desk.copy.all().unwrap_or_default();
    let mut rows = String::new();
    for company in &companies {
        let customers = copied.get(&company.correlation_id).map_or(0, std::collections::BTreeMap::len);
        let (name, number) = (escaped(&company.vat_name), escaped(&company.vat_number));
        let _ = write!(rows, "<tr><td>{name}<td>{number}<td>{}<td>{customers}", company.state);
    }
    let head = "<tr><th>Company<th>Tax number<th>State<th>Customers in the copy";
    let out = "<form method=post action=/sign-out><button>Sign out</button></form>";
    page(StatusCode::OK, &format!("<table>{head}{rows}</table>{out}"))
}

async fn copy(State(desk): State<Arc<Desk>>) -> Response {
    match desk.copy.all() {
        Ok(all) => axum::Json(all).into_response(),
        Err(failure) => page(StatusCode::INTERNAL_SERVER_ERROR, &escaped(&failure.to_string())),
    }
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get(COOKIE)?.to_str().ok()?;
    cookies.split("; ").find_map(|pair| pair.strip_prefix(COOKIE_NAME)?.strip_prefix('='))
}

fn failed(error: &Error) -> Response {
    let text = format!("<p>{}</p><p><a href=/>Back</a></p>", escaped(&error.to_string()));
    page(StatusCode::BAD_GATEWAY, &text)
}

fn go_to(address: &str) -> Response {
    let Ok(address) = HeaderValue::from_str(address) else {
        return page(StatusCode::INTERNAL_SERVER_ERROR, "An address cannot be written into a header.");
    };
    (StatusCode::SEE_OTHER, [(LOCATION, address)]).into_response()
}

fn page(status: StatusCode, body: &str) -> Response {
    let text =
        format!("<!doctype html><meta charset=utf-8><title>Keep in step</title><h1>Keep in step</h1>{body}");
    (status, [(CONTENT_TYPE, "text/html; charset=utf-8")], text).into_response()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
