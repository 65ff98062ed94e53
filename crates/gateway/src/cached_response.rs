//! A JSON response of a read that can be sent many times: its body, its ETag and its headers, encoded once per
//! encoding that clients accept, and sent as 304 to clients that already have it.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, OnceLock};

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, VARY,
};
use axum::http::{Response, StatusCode};
use bytes::Bytes;
use store::CollectionVersion;
use web::encoding::{self, Encoding};
use web::if_none_match_matches;

use crate::context::CONTEXT_HEADER;
use crate::errors::number;
use crate::reads::ReadRequest;

const X_SEQUENCE_VERSION: HeaderName = HeaderName::from_static("x-sequence-version");
/// Shorter bodies gain nothing from an encoding.
const ENCODED_FROM_BYTES: usize = 1024;
/// Longer bodies are encoded on the blocking thread pool.
const ENCODED_IN_POOL_FROM_BYTES: usize = 32 * 1024;

const ETAG_BYTES_USUAL: usize = 64;

/// A JSON body with a weak ETag that changes with the data it is made from.
#[derive(Clone, Debug)]
pub(crate) struct CachedResponse {
    /// Changes with every change of the data in the response.
    version: u64,
    /// `X-Sequence-Version` of lists: the log position from which to follow the feed.
    log_position: Option<u64>,
    etag: HeaderValue,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: Bytes,
    encoded: [OnceLock<Bytes>; 2],
}

impl CachedResponse {
    /// `discriminants` tell responses of the same version and path apart, such as pages of a list.
    pub(crate) fn new(request: &ReadRequest, version: u64, discriminants: &[u64], body: Bytes) -> Self {
        let mut etag = String::with_capacity(ETAG_BYTES_USUAL);
        // Plain pushes instead of `format!`: this runs for every read.
        etag.push_str("W/\"");
        etag.push_str(itoa::Buffer::new().format(tenant_and_context_hash(request)));
        for number in [version].iter().chain(discriminants) {
            etag.push('-');
            etag.push_str(itoa::Buffer::new().format(*number));
        }
        etag.push('"');
        let etag = HeaderValue::try_from(etag).unwrap_or(HeaderValue::from_static("W/\"\""));
        Self { version, log_position: None, etag, headers: Vec::new(), body, encoded: Default::default() }
    }

    pub(crate) fn with_headers(
        mut self,
        headers: impl IntoIterator<Item = (HeaderName, HeaderValue)>,
    ) -> Self {
        self.headers = headers.into_iter().collect();
        self
    }

    pub(crate) fn with_log_position(mut self, head: u64) -> Self {
        self.log_position = Some(head);
        self
    }

    /// This response with the log's current position, if its collection still has the version that it was read at.
    pub(crate) fn confirm(self: &Arc<Self>, current: CollectionVersion) -> Option<Arc<Self>> {
        if current.version != self.version {
            None
        } else if self.log_position == Some(current.head) {
            Some(self.clone())
        } else {
            Some(Arc::new(Self::clone(self).with_log_position(current.head)))
        }
    }

    /// The same with a body without spare capacity, to be stored in the cache.
    pub(crate) fn compact(self) -> Self {
        Self { body: Bytes::copy_from_slice(&self.body), ..self }
    }

    pub(crate) fn body_bytes(&self) -> usize {
        self.body.len()
    }

    /// The memory it takes, including the encoded bodies that exist by now.
    pub(crate) fn bytes(&self) -> usize {
        let headers: usize = self.headers.iter().map(|(_, value)| value.len() + 64).sum();
        let encoded: usize = self.encoded.iter().filter_map(OnceLock::get).map(Bytes::len).sum();
        self.body.len() + encoded + headers + 512
    }

    /// The HTTP response, for a read that is not stored in the cache. Moves the body and headers where it can.
    pub(crate) async fn into_response(self, request: &ReadRequest) -> Response<Body> {
        if if_none_match_matches(&request.headers, &self.etag) || self.encoding(request).is_some() {
            return self.to_response(request).await;
        }
        let Self { etag, log_position, headers, body, .. } = self;
        build_response(Body::from(body), etag, log_position, headers)
    }

    /// The HTTP response: 304 if the client has it, else the body in the encoding that the client prefers.
    pub(crate) async fn to_response(&self, request: &ReadRequest) -> Response<Body> {
        if if_none_match_matches(&request.headers, &self.etag) {
            let mut not_modified = self.with_body(Body::empty());
            *not_modified.status_mut() = StatusCode::NOT_MODIFIED;
            return not_modified;
        }
        let Some(encoding) = self.encoding(request) else {
            return self.with_body(Body::from(self.body.clone()));
        };
        let mut response = self.with_body(Body::from(self.encoded_body(encoding).await));
        response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static(encoding.name()));
        response
    }

    fn with_body(&self, body: Body) -> Response<Body> {
        build_response(body, self.etag.clone(), self.log_position, self.headers.iter().cloned())
    }

    fn encoding(&self, request: &ReadRequest) -> Option<Encoding> {
        let is_long = self.body.len() >= ENCODED_FROM_BYTES;
        is_long.then(|| encoding::negotiate(&request.headers, &Encoding::ALL)).flatten()
    }

    /// Encodes the body once per encoding.
    async fn encoded_body(&self, encoding: Encoding) -> Bytes {
        let cell = &self.encoded[encoding as usize];
        if let Some(bytes) = cell.get() {
            return bytes.clone();
        }
        if self.body.len() < ENCODED_IN_POOL_FROM_BYTES {
            return cell.get_or_init(|| encoding.encode(&self.body)).clone();
        }
        let body = self.body.clone();
        match tokio::task::spawn_blocking(move || encoding.encode(&body)).await {
            Ok(bytes) => cell.get_or_init(|| bytes).clone(),
            Err(_) => cell.get_or_init(|| encoding.encode(&self.body)).clone(),
        }
    }
}

fn build_response(
    body: Body,
    etag: HeaderValue,
    log_position: Option<u64>,
    headers: impl IntoIterator<Item = (HeaderName, HeaderValue)>,
) -> Response<Body> {
    let mut response = Response::new(body);
    let map = response.headers_mut();
    map.reserve(16);
    map.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    map.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    map.insert(VARY, HeaderValue::from_static("authorization, context, accept-encoding"));
    map.insert(ETAG, etag);
    for (name, value) in headers {
        map.insert(name, value);
    }
    if let Some(head) = log_position {
        map.insert(X_SEQUENCE_VERSION, number(head));
    }
    response
}

/// Part of the ETag: the same path has another response for another tenant or context.
fn tenant_and_context_hash(request: &ReadRequest) -> u64 {
    let mut hasher = DefaultHasher::new();
    request.caller.tenant.hash(&mut hasher);
    request.headers.get(&CONTEXT_HEADER).map(HeaderValue::as_bytes).hash(&mut hasher);
    hasher.finish()
}
