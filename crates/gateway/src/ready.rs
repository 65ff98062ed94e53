//! Answers of the reads, ready to be given again and again: bodies with their validators, encoded once for each
//! encoding that readers ask for, and 304 where the reader has it already.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, OnceLock};

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, VARY,
};
use axum::http::{Response, StatusCode};
use bytes::Bytes;
use web::encoding::{self, Encoding};
use web::if_none_match_matches;

use crate::asked::Asked;
use crate::context::CONTEXT_HEADER;
use crate::refusal::number;

const X_SEQUENCE_VERSION: HeaderName = HeaderName::from_static("x-sequence-version");
/// Shorter answers gain nothing from an encoding.
const ENCODED_FROM_BYTES: usize = 1024;
/// Longer ones are encoded off the threads that serve.
const ENCODED_ASIDE_FROM_BYTES: usize = 32 * 1024;

const ETAG_BYTES_USUAL: usize = 64;

/// JSON under a weak validator that moves with what it is made from.
#[derive(Clone, Debug)]
pub(crate) struct Ready {
    /// Moves with every change of what is in the answer.
    pub(crate) version: u64,
    /// The log's position of the answer, on lists: follow the feed from here.
    head: Option<u64>,
    etag: HeaderValue,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: Bytes,
    encoded: [OnceLock<Bytes>; 2],
}

impl Ready {
    /// `mark` tells it apart from other answers of this version at the same address.
    pub(crate) fn new(asked: &Asked, version: u64, mark: &[u64], body: Bytes) -> Self {
        let mut etag = String::with_capacity(ETAG_BYTES_USUAL);
        // Plain pushes: this is written for every answer that is read.
        etag.push_str("W/\"");
        etag.push_str(itoa::Buffer::new().format(whose(asked)));
        for number in [version].iter().chain(mark) {
            etag.push('-');
            etag.push_str(itoa::Buffer::new().format(*number));
        }
        etag.push('"');
        let etag = HeaderValue::try_from(etag).unwrap_or(HeaderValue::from_static("W/\"\""));
        Self { version, head: None, etag, headers: Vec::new(), body, encoded: Default::default() }
    }

    pub(crate) fn with(mut self, headers: impl IntoIterator<Item = (HeaderName, HeaderValue)>) -> Self {
        self.headers = headers.into_iter().collect();
        self
    }

    /// The same, told from another position of the log.
    pub(crate) fn at(mut self, head: u64) -> Self {
        self.head = Some(head);
        self
    }

    pub(crate) fn is_at(&self, head: u64) -> bool {
        self.head == Some(head)
    }

    /// The same without the room that it was made in.
    pub(crate) fn compact(&self) -> Self {
        Self { body: Bytes::copy_from_slice(&self.body), ..self.clone() }
    }

    /// Whether both have one body, not only the same.
    pub(crate) fn has_body_of(&self, other: &Self) -> bool {
        self.body.as_ptr() == other.body.as_ptr()
    }

    pub(crate) fn body_bytes(&self) -> usize {
        self.body.len()
    }

    /// What it takes to keep it, with what was encoded of it by now.
    pub(crate) fn bytes(&self) -> usize {
        let headers: usize = self.headers.iter().map(|(_, value)| value.len() + 64).sum();
        let encoded: usize = self.encoded.iter().filter_map(OnceLock::get).map(Bytes::len).sum();
        self.body.len() + encoded + headers + 512
    }

    /// The answer for the last time, if nobody has kept it: then nothing is copied.
    pub(crate) async fn give(self: Arc<Self>, asked: &Asked) -> Response<Body> {
        match Arc::try_unwrap(self) {
            Ok(own) if !if_none_match_matches(&asked.headers, &own.etag) && own.encoding(asked).is_none() => {
                let Self { etag, head, headers, body, .. } = own;
                response(Body::from(body), etag, head, headers)
            }
            Ok(own) => Arc::new(own).answer(asked).await,
            Err(kept) => kept.answer(asked).await,
        }
    }

    fn encoding(&self, asked: &Asked) -> Option<Encoding> {
        let is_long = self.body.len() >= ENCODED_FROM_BYTES;
        is_long.then(|| encoding::negotiate(&asked.headers, &Encoding::ALL)).flatten()
    }

    pub(crate) async fn answer(self: &Arc<Self>, asked: &Asked) -> Response<Body> {
        if if_none_match_matches(&asked.headers, &self.etag) {
            let mut same = self.response(Body::empty());
            *same.status_mut() = StatusCode::NOT_MODIFIED;
            return same;
        }
        let Some(encoding) = self.encoding(asked) else {
            return self.response(Body::from(self.body.clone()));
        };
        let mut response = self.response(Body::from(self.encoded(encoding).await));
        response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static(encoding.name()));
        response
    }

    fn response(&self, body: Body) -> Response<Body> {
        response(body, self.etag.clone(), self.head, self.headers.iter().cloned())
    }

    async fn encoded(self: &Arc<Self>, encoding: Encoding) -> Bytes {
        let place = &self.encoded[encoding as usize];
        if let Some(bytes) = place.get() {
            return bytes.clone();
        }
        if self.body.len() < ENCODED_ASIDE_FROM_BYTES {
            return place.get_or_init(|| encoding.encode(&self.body)).clone();
        }
        let body = self.body.clone();
        match tokio::task::spawn_blocking(move || encoding.encode(&body)).await {
            Ok(bytes) => place.get_or_init(|| bytes).clone(),
            Err(_) => place.get_or_init(|| encoding.encode(&self.body)).clone(),
        }
    }
}

fn response(
    body: Body,
    etag: HeaderValue,
    head: Option<u64>,
    headers: impl IntoIterator<Item = (HeaderName, HeaderValue)>,
) -> Response<Body> {
    let mut response = Response::new(body);
    let own = response.headers_mut();
    own.reserve(16);
    own.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    own.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    own.insert(VARY, HeaderValue::from_static("authorization, context, accept-encoding"));
    own.insert(ETAG, etag);
    for (name, value) in headers {
        own.insert(name, value);
    }
    if let Some(head) = head {
        own.insert(X_SEQUENCE_VERSION, number(head));
    }
    response
}

/// One address means another answer under another token or context: the validator tells them apart.
fn whose(asked: &Asked) -> u64 {
    let mut hasher = DefaultHasher::new();
    asked.caller.tenant.hash(&mut hasher);
    asked.headers.get(&CONTEXT_HEADER).map(HeaderValue::as_bytes).hash(&mut hasher);
    hasher.finish()
}
