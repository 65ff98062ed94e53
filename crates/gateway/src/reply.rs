//! Answers of the reads: ready bodies with their validators, and 304 where the reader has it already.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue, IF_NONE_MATCH, VARY,
};
use axum::http::{Response, StatusCode};

use crate::asked::Asked;
use crate::context::CONTEXT;

/// JSON under a weak validator that moves with what it is made from.
pub(crate) fn json(
    asked: &Asked,
    etag: &str,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: impl FnOnce() -> Body,
) -> Response<Body> {
    let etag = format!("W/\"{:x}-{etag}\"", whose(asked));
    let is_same = is_known(&asked.headers, &etag);
    let mut response = Response::new(if is_same { Body::empty() } else { body() });
    if is_same {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let own = response.headers_mut();
    own.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    own.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    own.insert(VARY, HeaderValue::from_static("authorization, context, accept-encoding"));
    if let Ok(etag) = HeaderValue::from_str(&etag) {
        own.insert(ETAG, etag);
    }
    own.extend(headers);
    response
}

/// One address means another answer under another token or context: the validator tells them apart.
fn whose(asked: &Asked) -> u64 {
    let mut hasher = DefaultHasher::new();
    asked.caller.tenant.hash(&mut hasher);
    asked.headers.get(CONTEXT).map(HeaderValue::as_bytes).hash(&mut hasher);
    hasher.finish()
}

/// Whether the reader names this validator; weakly, as RFC 9110 has it for reads.
fn is_known(asked: &HeaderMap, etag: &str) -> bool {
    let opaque = |text: &str| text.trim().trim_start_matches("W/").to_owned();
    let wanted = opaque(etag);
    let lines = asked.get_all(IF_NONE_MATCH).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|one| one.trim() == "*" || opaque(one) == wanted)
}

/// A JSON array of bodies that are JSON already.
pub(crate) fn array(bodies: &[Box<str>]) -> Body {
    let length = bodies.iter().map(|body| body.len() + 1).sum::<usize>() + 2;
    let mut text = String::with_capacity(length);
    text.push('[');
    for (index, body) in bodies.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        text.push_str(body);
    }
    text.push(']');
    Body::from(text)
}

/// The log's position of an answer: follow the feed from here.
pub(crate) fn position(head: u64) -> (HeaderName, HeaderValue) {
    (HeaderName::from_static("x-sequence-version"), HeaderValue::from(head))
}
