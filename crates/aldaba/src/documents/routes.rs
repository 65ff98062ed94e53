//! Serves the API documents and their Swagger UI pages. They are public and contain no secrets.

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

/// Built on the first request, so that the start does not wait for it.
type LazyResponse = LazyLock<StaticResponse, Box<dyn FnOnce() -> StaticResponse + Send>>;

/// The page of one document and its settings.
struct PageState {
    page: LazyResponse,
    settings: StaticResponse,
}

pub(crate) fn router(document: Document) -> Router {
    let Document { title, text, path, page } = document;
    // A separate resource, so that it can depend on the signed-in user later.
    let settings = json!({"document": path, "authorize": {}}).to_string();
    let state = PageState {
        page: LazyLock::new(Box::new(move || {
            StaticResponse::new("text/html; charset=utf-8", REVALIDATE, swagger_page::html(title, path))
        })),
        settings: StaticResponse::new(JSON, NO_STORE, settings),
    };
    let mut router = Router::new();
    if let Some(text) = text {
        let text: Arc<LazyResponse> =
            Arc::new(LazyLock::new(Box::new(move || StaticResponse::new(JSON, REVALIDATE, text()))));
        router = router.route(path, get(async move |headers: HeaderMap| text.respond(&headers)));
    }
    router
        .route(page.trim_end_matches('/'), get(async move || Redirect::permanent(page)))
        .route(page, get(swagger_ui))
        .route(&format!("{page}settings.json"), get(settings_json))
        .route(&format!("{page}{{file}}"), get(file))
        .with_state(Arc::new(state))
}

/// Serves the AsyncAPI document.
pub(crate) fn asyncapi_router() -> Router {
    let text: Arc<LazyResponse> =
        Arc::new(LazyLock::new(Box::new(|| StaticResponse::new(JSON, REVALIDATE, super::asyncapi() + "\n"))));
    Router::new().route("/asyncapi.json", get(async move |headers: HeaderMap| text.respond(&headers)))
}

async fn swagger_ui(State(state): State<Arc<PageState>>, headers: HeaderMap) -> Response<Body> {
    let mut response = state.page.respond(&headers);
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(swagger_page::POLICY));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

async fn settings_json(State(state): State<Arc<PageState>>, headers: HeaderMap) -> Response<Body> {
    state.settings.respond(&headers)
}

async fn file(Path(name): Path<String>, headers: HeaderMap) -> Response<Body> {
    match FILES.find(&name) {
        Some(file) => file.response.respond(&headers),
        None => web::error_response::not_found().await.into_response(),
    }
}
