//! What others need to know: the configuration document, the public keys, and the pages' styles.
//! All are ready to serve.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL,
    CONTENT_TYPE, ETAG, HeaderMap, HeaderValue,
};
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse as _;
use bytes::Bytes;
use web::if_none_match_matches;

use super::answer::Answer;
use crate::Identity;

pub(super) async fn configuration(State(identity): State<Arc<Identity>>, headers: HeaderMap) -> Answer {
    cached(&headers, &identity.discovery.body, &identity.discovery.etag)
}

pub(super) async fn jwks(State(identity): State<Arc<Identity>>, headers: HeaderMap) -> Answer {
    let published = identity.keys.published();
    cached(&headers, &published.body, &published.etag)
}

/// Any page may ask for what is public anyway.
pub(super) async fn options() -> Answer {
    let mut answer = StatusCode::NO_CONTENT.into_response();
    let headers = answer.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET"));
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("if-none-match"));
    answer
}

fn cached(asked: &HeaderMap, body: &Bytes, etag: &HeaderValue) -> Answer {
    let is_same = if_none_match_matches(asked, etag);
    let mut answer = Response::new(if is_same { Body::empty() } else { Body::from(body.clone()) });
    if is_same {
        *answer.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=300"));
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(ETAG, etag.clone());
    answer
}

/// Styles and icon. Their names change with their contents, so they may be kept for ever.
pub(super) async fn asset(Path(name): Path<String>) -> Answer {
    let found = ui::asset::find(&name);
    let Some(asset) = found else {
        return web::error_response::not_found().await.into_response();
    };
    let mut answer = Response::new(Body::from(asset.body));
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(asset.content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    answer
}
