//! Serves a document and the page over it; both are open to everybody, and neither holds a secret.

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::Response;
use axum::http::header::{CONTENT_SECURITY_POLICY, HeaderMap, HeaderValue, REFERRER_POLICY, X_FRAME_OPTIONS};
use axum::response::{IntoResponse as _, Redirect};
use axum::routing::get;
use serde_json::json;

use super::Document;
use super::kept::{FRESH, Kept, NOT_AT_ALL};
use super::page::{self, FILES};

const JSON: &str = "application/json";

/// Made when somebody first asks for it: a start waits for none of it.
type Lazily = LazyLock<Kept, Box<dyn FnOnce() -> Kept + Send>>;

/// What a listener shows of a document.
struct Shown {
    page: Lazily,
    settings: Kept,
}

pub(crate) fn router(document: Document) -> Router {
    let Document { title, text, address, page } = document;
    // One day the settings may be another for each who is signed in.
    let settings = json!({"document": address, "authorize": {}}).to_string();
    let shown = Shown {
        page: LazyLock::new(Box::new(move || {
            Kept::new("text/html; charset=utf-8", FRESH, page::html(title, address))
        })),
        settings: Kept::new(JSON, NOT_AT_ALL, settings),
    };
    let mut router = Router::new();
    if let Some(text) = text {
        let text: Arc<Lazily> = Arc::new(LazyLock::new(Box::new(move || Kept::new(JSON, FRESH, text()))));
        router = router.route(address, get(async move |asked: HeaderMap| text.answer(&asked)));
    }
    router
        .route(page.trim_end_matches('/'), get(async move || Redirect::permanent(page)))
        .route(page, get(page_of))
        .route(&format!("{page}settings.json"), get(settings_of))
        .route(&format!("{page}{{file}}"), get(file))
        .with_state(Arc::new(shown))
}

/// The AsyncAPI document, for who writes receivers.
pub(crate) fn notifications() -> Router {
    let text: Arc<Lazily> =
        Arc::new(LazyLock::new(Box::new(|| Kept::new(JSON, FRESH, super::asyncapi() + "\n"))));
    Router::new().route("/asyncapi.json", get(async move |asked: HeaderMap| text.answer(&asked)))
}

async fn page_of(State(shown): State<Arc<Shown>>, asked: HeaderMap) -> Response<Body> {
    let mut answer = shown.page.answer(&asked);
    let headers = answer.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(page::POLICY));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    answer
}

async fn settings_of(State(shown): State<Arc<Shown>>, asked: HeaderMap) -> Response<Body> {
    shown.settings.answer(&asked)
}

async fn file(Path(name): Path<String>, asked: HeaderMap) -> Response<Body> {
    match FILES.find(&name) {
        Some(file) => file.kept.answer(&asked),
        None => web::error_response::not_found().await.into_response(),
    }
}
