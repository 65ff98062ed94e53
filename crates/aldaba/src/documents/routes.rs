//! Serves the API documents and their Swagger UI pages. They are public and contain no secrets.

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::header::{CONTENT_SECURITY_POLICY, HeaderMap, HeaderValue, REFERRER_POLICY, X_FRAME_OPTIONS};
use axum::http::{Response, Uri};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Redirect};
use axum::routing::get;
use serde_json::{Value, json};

use super::page_location::OnlyHost;
use super::prefill::{Filled, is_for_loopback};
use super::served::ServedDocument;
use super::static_response::{NO_STORE, REVALIDATE, StaticResponse};
use super::swagger_page::{self, FILES};
use super::{Document, Page};

const JSON: &str = "application/json";

/// Built on the first request, so that the start does not wait for it.
type LazyResponse = LazyLock<StaticResponse, Box<dyn FnOnce() -> StaticResponse + Send>>;

/// The page of one document and its settings.
struct PageState {
    page: LazyResponse,
    settings: Value,
    filled: Option<Filled>,
    return_page: LazyResponse,
}

pub(crate) fn router(document: Document) -> Router {
    let Document { title, build, path, page } = document;
    let mut router = Router::new();
    if let Some(build) = build {
        let served = Arc::new(ServedDocument::new(build));
        router = router
            .route(path, get(async move |uri: Uri, headers: HeaderMap| served.respond(uri, headers).await));
    }
    match page {
        Some(page) => router.merge(page_router(page, title, path)),
        None => router,
    }
}

fn page_router(page: Page, title: &'static str, document: &'static str) -> Router {
    let Page { path, only_host, sign_in_redirect_uri, filled } = page;
    let sign_in = sign_in_redirect_uri.map(|uri| json!({"redirectUri": uri}));
    // Relative, because the listener may be behind a proxy with a path prefix.
    let root = "../".repeat(path.matches('/').count() - 1);
    let document = format!("{root}{}", document.trim_start_matches('/'));
    let settings = json!({"document": document, "root": root, "authorize": {}, "signIn": sign_in});
    let html = |cache_control, html: Box<dyn FnOnce() -> String + Send>| -> LazyResponse {
        LazyLock::new(Box::new(move || {
            StaticResponse::new("text/html; charset=utf-8", cache_control, html())
        }))
    };
    let state = PageState {
        page: html(REVALIDATE, Box::new(move || swagger_page::html(title, &document))),
        settings,
        filled,
        return_page: html(NO_STORE, Box::new(swagger_page::return_html)),
    };
    Router::new()
        .route(path.trim_end_matches('/'), get(async move || Redirect::permanent(path)))
        .route(path, get(swagger_ui))
        .route(&format!("{path}settings.json"), get(settings_json))
        .route(&format!("{path}oauth2-redirect.html"), get(return_page))
        .route(&format!("{path}{{file}}"), get(file))
        .with_state(Arc::new(state))
        .layer(middleware::from_fn_with_state(Arc::new(only_host), on_its_host))
}

/// The page does not exist on other hosts.
async fn on_its_host(State(only): State<Arc<OnlyHost>>, request: Request, next: Next) -> Response<Body> {
    if only.allows(request.uri(), request.headers()) {
        next.run(request).await
    } else {
        web::error_response::not_found().await.into_response()
    }
}

/// Serves the AsyncAPI document.
pub(crate) fn asyncapi_router() -> Router {
    let text: Arc<LazyResponse> =
        Arc::new(LazyLock::new(Box::new(|| StaticResponse::new(JSON, REVALIDATE, super::asyncapi() + "\n"))));
    Router::new().route("/asyncapi.json", get(async move |headers: HeaderMap| text.respond(&headers)))
}

async fn swagger_ui(State(state): State<Arc<PageState>>, headers: HeaderMap) -> Response<Body> {
    with_policy(state.page.respond(&headers), swagger_page::POLICY)
}

async fn return_page(State(state): State<Arc<PageState>>, headers: HeaderMap) -> Response<Body> {
    with_policy(state.return_page.respond(&headers), swagger_page::RETURN_POLICY)
}

fn with_policy(mut response: Response<Body>, policy: &'static str) -> Response<Body> {
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// A resource of its own: in `aldaba dev` it has keys and tokens, and is never stored.
async fn settings_json(State(state): State<Arc<PageState>>, uri: Uri, headers: HeaderMap) -> Response<Body> {
    let settings = match state.filled.as_ref().filter(|_| is_for_loopback(&uri, &headers)) {
        Some(filled) => filled.add_to(state.settings.clone()).await,
        None => state.settings.clone(),
    };
    StaticResponse::new(JSON, NO_STORE, settings.to_string()).respond(&headers)
}

async fn file(Path(name): Path<String>, headers: HeaderMap) -> Response<Body> {
    match FILES.find(&name) {
        Some(file) => file.response.respond(&headers),
        None => web::error_response::not_found().await.into_response(),
    }
}
