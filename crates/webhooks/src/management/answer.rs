//! Answers: JSON with a validator, operation results, and what a refused operation looks like.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, VARY,
};
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse as _;
use bytes::Bytes;
use domain::{FieldError, Guid, WebhookId};
use serde::Serialize;
use web::encoding::{self, Encoding};
use web::{ErrorResponse, if_none_match_matches};

use super::call::Asked;

/// Shorter answers gain nothing from an encoding.
const ENCODED_FROM_BYTES: usize = 1024;

/// What has become of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Done {
    Subscribed = 3,
    Unsubscribed = 4,
    Deleted = 5,
    Changed = 6,
    StatusSet = 7,
}

const REFUSED: u8 = 1;
const NOT_KEPT: &str = "no-store";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OperationResult<'a> {
    response_state: u8,
    webhook_id: Guid,
    errors: &'a [FieldError],
    #[serde(flatten)]
    problem: Option<ProblemPart<'a>>,
}

/// What the error body of every API has, too.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ProblemPart<'a> {
    status_code: u16,
    message: &'a str,
    request_id: &'a str,
}

/// JSON that stands in memory until it is known how its reader wants it.
#[derive(Clone)]
struct Told {
    body: Bytes,
    cache: &'static str,
}

/// May be kept, and must be asked about before it is used.
pub(super) fn json(value: &impl Serialize) -> Response<Body> {
    told(StatusCode::OK, value, "private, no-cache")
}

/// Holds a secret: nobody keeps it.
pub(super) fn unkept(value: &impl Serialize) -> Response<Body> {
    told(StatusCode::OK, value, NOT_KEPT)
}

/// Taken, and done later.
pub(super) fn accepted(value: &impl Serialize) -> Response<Body> {
    told(StatusCode::ACCEPTED, value, NOT_KEPT)
}

fn told(status: StatusCode, value: &impl Serialize, cache: &'static str) -> Response<Body> {
    match serde_json::to_vec(value) {
        Ok(body) => {
            let mut response = status.into_response();
            response.extensions_mut().insert(Told { body: body.into(), cache });
            response
        }
        Err(error) => {
            tracing::error!(%error, "an answer cannot be written");
            ErrorResponse::new(StatusCode::INTERNAL_SERVER_ERROR, "Something went wrong on our side.")
                .into_response()
        }
    }
}

pub(super) fn done(state: Done, webhook: WebhookId) -> Response<Body> {
    let result =
        OperationResult { response_state: state as u8, webhook_id: webhook, errors: &[], problem: None };
    unkept(&result)
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

/// A refused operation: its result, which is an error body, too. What is nobody's fault who called is the plain one.
pub(super) fn failed(refusal: ErrorResponse, asked: &Asked) -> Response<Body> {
    let problem = &refusal.problem;
    if !matches!(problem.status, 400 | 404 | 409 | 413) {
        return refusal.into_response();
    }
    let result = OperationResult {
        response_state: REFUSED,
        webhook_id: asked.webhook.unwrap_or(Guid::from_bytes([0; 16])),
        errors: &problem.errors,
        problem: Some(ProblemPart {
            status_code: problem.status,
            message: &problem.message,
            request_id: &asked.request_id,
        }),
    };
    let body = serde_json::to_vec(&result).unwrap_or_default();
    let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::BAD_REQUEST);
    let mut response = (status, body).into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response.headers_mut().extend(refusal.headers);
    response
}

/// Writes the body as its reader wants it: not at all where it has it already, and encoded where that helps.
pub(super) async fn finished(mut response: Response<Body>, asked: &Asked) -> Response<Body> {
    let Some(Told { body, cache }) = response.extensions_mut().remove::<Told>() else { return response };
    let etag = asked.is_read.then(|| validator(&body));
    let is_same = etag.as_ref().is_some_and(|etag| if_none_match_matches(&asked.headers, etag));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(if asked.is_read { cache } else { NOT_KEPT }));
    headers.insert(VARY, HeaderValue::from_static("authorization, accept-encoding"));
    headers.extend(etag.map(|etag| (ETAG, etag)));
    if is_same {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return response;
    }
    let encoding = if body.len() < ENCODED_FROM_BYTES {
        None
    } else {
        encoding::negotiate(&asked.headers, &Encoding::ALL)
    };
    let Some(encoding) = encoding else { return response.map(|_| Body::from(body)) };
    response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static(encoding.name()));
    let plain = body.clone();
    let encoded = tokio::task::spawn_blocking(move || encoding.encode(&plain)).await;
    let encoded = encoded.unwrap_or_else(|_| encoding.encode(&body));
    response.map(|_| Body::from(encoded))
}

fn validator(body: &Bytes) -> HeaderValue {
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    let text = format!("W/\"{:x}-{}\"", hasher.finish(), body.len());
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("W/\"\""))
}
