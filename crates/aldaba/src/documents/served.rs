//! Serves a document and the page over it; both are open to everybody, and neither holds a secret.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH,
    REFERRER_POLICY, X_FRAME_OPTIONS,
};
use axum::http::{Response, StatusCode};
use axum::response::{IntoResponse as _, Redirect};
use axum::routing::get;
use bytes::Bytes;
use serde_json::json;
use tower_http::compression::CompressionLayer;

use super::Document;
use super::page::{self, FILES};

const JSON: &str = "application/json";
/// Asked about before it is used.
const FRESH: &str = "no-cache";
const FOR_EVER: &str = "public, max-age=31536000, immutable";
/// May one day be another for each who is signed in.
const NOT_KEPT: &str = "no-store";

/// What a listener shows of a document.
struct Shown {
    text: Option<Bytes>,
    page: Bytes,
    settings: Bytes,
}

pub(crate) fn router(document: Document) -> Router {
    let Document { title, text, address, page } = document;
    let shown = Shown {
        text: text.map(|text| Bytes::from(text + "\n")),
        page: page::html(title, address).into(),
        settings: json!({"document": address, "authorize": {}}).to_string().into(),
    };
    let mut router = Router::new();
    if shown.text.is_some() {
        router = router.route(address, get(text_of));
    }
    router
        .route(page.trim_end_matches('/'), get(async move || Redirect::permanent(page)))
        .route(page, get(page_of))
        .route(&format!("{page}settings.json"), get(settings_of))
        .route(&format!("{page}{{file}}"), get(file))
        .layer(CompressionLayer::new())
        .with_state(Arc::new(shown))
}

async fn text_of(State(shown): State<Arc<Shown>>, asked: HeaderMap) -> Response<Body> {
    answer(&asked, JSON, FRESH, shown.text.clone().unwrap_or_default())
}

async fn page_of(State(shown): State<Arc<Shown>>, asked: HeaderMap) -> Response<Body> {
    let mut answer = answer(&asked, "text/html; charset=utf-8", FRESH, shown.page.clone());
    let headers = answer.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(page::POLICY));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    answer
}

async fn settings_of(State(shown): State<Arc<Shown>>, asked: HeaderMap) -> Response<Body> {
    answer(&asked, JSON, NOT_KEPT, shown.settings.clone())
}

async fn file(Path(name): Path<String>, asked: HeaderMap) -> Response<Body> {
    match FILES.find(&name) {
        Some(file) => answer(&asked, file.content_type, FOR_EVER, file.body.clone()),
        None => web::problem::not_found().await.into_response(),
    }
}

/// The bytes under a validator, or 304 where the reader has them.
fn answer(asked: &HeaderMap, content_type: &'static str, kept: &'static str, body: Bytes) -> Response<Body> {
    let etag = format!("W/\"{}\"", page::mark(&body));
    let known = asked.get_all(IF_NONE_MATCH).iter().filter_map(|line| line.to_str().ok());
    let is_same =
        known.flat_map(|line| line.split(',')).any(|one| matches!(one.trim(), "*") || one.trim() == etag);
    let mut answer = Response::new(if is_same { Body::empty() } else { Body::from(body) });
    if is_same {
        *answer.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(kept));
    if let Ok(etag) = HeaderValue::from_str(&etag) {
        headers.insert(ETAG, etag);
    }
    answer
}
