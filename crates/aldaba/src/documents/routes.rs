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
use super::static_response::{NO_STORE, REVALIDATE, StaticResponse};
use super::swagger_page::{self, FILES};

const JSON: &str = "application/json";

/// Made when somebody first asks for it: a start waits for none of it.
type LazyResponse = LazyLock<StaticResponse, Box<dyn FnOnce() -> StaticResponse + Send>>;

/// What a listener shows of a document.
struct PageState {
    page: LazyResponse,
    settings: StaticResponse,
}

pub(crate) fn router(document: Document) -> Router {
    let Document { title, text, address, page } = document;
    // One day the settings may be another for each who is signed in.
    let settings = json!({"document": address, "authorize": {}}).to_string();
    let shown = PageState {
        page: LazyLock::new(Box::new(move || {
            StaticResponse::new("text/html; charset=utf-8", REVALIDATE, swagger_page::html(title, address))
        })),
        settings: StaticResponse::new(JSON, NO_STORE, settings),
    };
    let mut router = Router::new();
    if let Some(text) = text {
        let text: Arc<LazyResponse> =
            Arc::new(LazyLock::new(Box::new(move || StaticResponse::new(JSON, REVALIDATE, text()))));
        router =
            router.route(address, get(async move |request_headers: HeaderMap| text.answer(&request_headers)));
    }
    router
        .route(page.trim_end_matches('/'), get(async move || Redirect::permanent(page)))
        .route(page, get(page_of))
        .route(&format!("{page}settings.json"), get(settings_of))
        .route(&format!("{page}{{file}}"), get(file))
        .with_state(Arc::new(shown))
}

/// The AsyncAPI document, for who writes receivers.
pub(crate) fn asyncapi_router() -> Router {
    let text: Arc<LazyResponse> =
        Arc::new(LazyLock::new(Box::new(|| StaticResponse::new(JSON, REVALIDATE, super::asyncapi() + "\n"))));
    Router::new()
        .route("/asyncapi.json", get(async move |request_headers: HeaderMap| text.answer(&request_headers)))
}

async fn page_of(State(shown): State<Arc<PageState>>, request_headers: HeaderMap) -> Response<Body> {
    let mut answer = shown.page.answer(&request_headers);
    let headers = answer.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(swagger_page::POLICY));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    answer
}

async fn settings_of(State(shown): State<Arc<PageState>>, request_headers: HeaderMap) -> Response<Body> {
    shown.settings.answer(&request_headers)
}

async fn file(Path(name): Path<String>, request_headers: HeaderMap) -> Response<Body> {
    match FILES.find(&name) {
        Some(file) => file.static_response.answer(&request_headers),
        None => web::problem::not_found().await.into_response(),
    }
}
