//! Responses: JSON with an ETag, operation results, and failed operations.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, VARY,
};
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse as _;
use bytes::Bytes;
use domain::{ErrorCode, FieldError, Guid, WebhookId};
use serde::Serialize;
use web::encoding::{self, Encoding};
use web::{ErrorResponse, if_none_match_matches};

use super::request::ResponseContext;

/// Shorter bodies gain nothing from a content encoding.
const ENCODED_FROM_BYTES: usize = 1024;

/// The `responseState` of an operation that succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperationState {
    Subscribed = 3,
    Unsubscribed = 4,
    Deleted = 5,
    Changed = 6,
    StatusSet = 7,
}

/// The `responseState` of an operation that failed.
const FAILED: u8 = 1;
const NO_STORE: &str = "no-store";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OperationResult<'a> {
    response_state: u8,
    webhook_id: Guid,
    errors: &'a [FieldError],
    #[serde(flatten)]
    problem: Option<ProblemPart<'a>>,
}

/// The members of the common error body.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ProblemPart<'a> {
    status_code: u16,
    code: &'static str,
    message: &'a str,
    request_id: &'a str,
}

/// A JSON body that `encode` writes once it knows the validators and encodings that the client sent.
#[derive(Clone)]
struct JsonPayload {
    body: Bytes,
    cache: &'static str,
}

/// A JSON response that may be cached after revalidation.
pub(super) fn json(value: &impl Serialize) -> Response<Body> {
    json_response(StatusCode::OK, value, "private, no-cache")
}

/// A JSON response that must not be stored: it holds a secret or the result of an operation.
pub(super) fn uncached_json(value: &impl Serialize) -> Response<Body> {
    json_response(StatusCode::OK, value, NO_STORE)
}

/// 202 with a JSON body.
pub(super) fn accepted_json(value: &impl Serialize) -> Response<Body> {
    json_response(StatusCode::ACCEPTED, value, NO_STORE)
}

fn json_response(status: StatusCode, value: &impl Serialize, cache: &'static str) -> Response<Body> {
    match serde_json::to_vec(value) {
        Ok(body) => {
            let mut response = status.into_response();
            response.extensions_mut().insert(JsonPayload { body: body.into(), cache });
            response
        }
        Err(error) => {
            tracing::error!(%error, "a response cannot be serialized");
            ErrorResponse::new(ErrorCode::InternalError, "Something went wrong on our side.").into_response()
        }
    }
}

pub(super) fn operation_result(state: OperationState, webhook: WebhookId) -> Response<Body> {
    let result =
        OperationResult { response_state: state as u8, webhook_id: webhook, errors: &[], problem: None };
    uncached_json(&result)
}

pub(super) fn with_header(
    mut response: Response<Body>,
    name: HeaderName,
    value: Option<HeaderValue>,
) -> Response<Body> {
    if let Some(value) = value {
        response.headers_mut().insert(name, value);
    }
    response
}

/// A failed operation: an operation result that is an error body too. Errors that are not the caller's get the plain
/// error body.
pub(super) fn operation_error(error: ErrorResponse, context: &ResponseContext) -> Response<Body> {
    let problem = &error.problem;
    if !matches!(problem.status, 400 | 404 | 409 | 413) {
        return error.into_response();
    }
    let result = OperationResult {
        response_state: FAILED,
        webhook_id: context.webhook.unwrap_or(Guid::from_bytes([0; 16])),
        errors: &problem.errors,
        problem: Some(ProblemPart {
            status_code: problem.status,
            code: problem.code.as_str(),
            message: &problem.message,
            request_id: &context.request_id,
        }),
    };
    let body = serde_json::to_vec(&result).unwrap_or_default();
    let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::BAD_REQUEST);
    let mut response = (status, body).into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response.headers_mut().extend(error.headers);
    response
}

/// Writes the body: none where the client's ETag still matches, compressed where that helps.
pub(super) async fn encode(mut response: Response<Body>, context: &ResponseContext) -> Response<Body> {
    let Some(JsonPayload { body, cache }) = response.extensions_mut().remove::<JsonPayload>() else {
        return response;
    };
    let etag = context.is_read.then(|| etag_of(&body));
    let is_same = etag.as_ref().is_some_and(|etag| if_none_match_matches(&context.headers, etag));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(if context.is_read { cache } else { NO_STORE }));
    headers.insert(VARY, HeaderValue::from_static("authorization, accept-encoding"));
    headers.extend(etag.map(|etag| (ETAG, etag)));
    if is_same {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return response;
    }
    let encoding = if body.len() < ENCODED_FROM_BYTES {
        None
    } else {
        encoding::negotiate(&context.headers, &Encoding::ALL)
    };
    let Some(encoding) = encoding else { return response.map(|_| Body::from(body)) };
    response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static(encoding.name()));
    let plain = body.clone();
    let encoded = tokio::task::spawn_blocking(move || encoding.encode(&plain)).await;
    let encoded = encoded.unwrap_or_else(|_| encoding.encode(&body));
    response.map(|_| Body::from(encoded))
}

fn etag_of(body: &Bytes) -> HeaderValue {
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    let text = format!("W/\"{:x}-{}\"", hasher.finish(), body.len());
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("W/\"\""))
}
