//! Public documents: `/.well-known/openid-configuration`, the JSON Web Key Set, and the static files of the
//! pages.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL,
    CONTENT_TYPE, ETAG, HeaderMap, HeaderValue,
};
use axum::response::IntoResponse as _;
use bytes::Bytes;
use web::if_none_match_matches;

use super::response::Response;
use crate::openapi::{Authentication, OperationDoc, ResponseDoc};
use crate::site::Site;

pub(super) const CONFIGURATION_DOC: OperationDoc = OperationDoc {
    id: "discovery",
    summary: "Read the discovery document",
    description: "The OpenID Connect discovery document. Client libraries configure themselves from it.",
    authentication: Authentication::None,
    parameters: &[],
    responses: &[ResponseDoc::Json("200", "Claims")],
};

pub(super) const JWKS_DOC: OperationDoc = OperationDoc {
    id: "keys",
    summary: "Read the keys that verify tokens",
    description: "A JSON Web Key Set. Select the key by the `kid` of the token; fetch the set again if the `kid` is \
                  unknown.",
    authentication: Authentication::None,
    parameters: &[],
    responses: &[ResponseDoc::Json("200", "Claims")],
};

pub(super) async fn configuration(State(identity): State<Arc<Site>>, headers: HeaderMap) -> Response {
    cacheable(&headers, &identity.discovery.body, &identity.discovery.etag)
}

pub(super) async fn jwks(State(identity): State<Arc<Site>>, headers: HeaderMap) -> Response {
    let published = identity.keys.published();
    cacheable(&headers, &published.body, &published.etag)
}

/// CORS preflight: the documents are public, so every origin may read them.
pub(super) async fn preflight() -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET"));
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("if-none-match"));
    response
}

fn cacheable(request_headers: &HeaderMap, body: &Bytes, etag: &HeaderValue) -> Response {
    let is_same = if_none_match_matches(request_headers, etag);
    let mut response = Response::new(if is_same { Body::empty() } else { Body::from(body.clone()) });
    if is_same {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=300"));
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(ETAG, etag.clone());
    response
}

/// The stylesheet, the favicon and the script for passkeys. Their names contain a hash of the content, so browsers may
/// cache them for ever.
pub(super) async fn asset(Path(name): Path<String>) -> Response {
    let found = ui::asset::find(&name);
    let Some(asset) = found else {
        return web::error_response::not_found().await.into_response();
    };
    let mut response = Response::new(Body::from(asset.body));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(asset.content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    response
}
