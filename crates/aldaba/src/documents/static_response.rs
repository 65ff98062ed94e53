//! A response that never changes: its body, plain and gzipped, with an ETag.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, VARY};
use axum::http::{Response, StatusCode};
use bytes::Bytes;
use web::encoding::{self, Encoding};
use web::if_none_match_matches;

/// Clients revalidate before every use.
pub(super) const REVALIDATE: &str = "no-cache";
pub(super) const IMMUTABLE: &str = "public, max-age=31536000, immutable";
pub(super) const NO_STORE: &str = "no-store";

pub(super) struct StaticResponse {
    content_type: &'static str,
    cache_control: &'static str,
    /// Distinguishes contents; not cryptographic.
    pub(super) hash: String,
    pub(super) plain: Bytes,
    /// None if compression does not make it smaller.
    gzip: Option<Bytes>,
}

impl StaticResponse {
    pub(super) fn new(
        content_type: &'static str,
        cache_control: &'static str,
        plain: impl Into<Bytes>,
    ) -> Self {
        let plain = plain.into();
        let mut hasher = DefaultHasher::new();
        plain.hash(&mut hasher);
        let gzip = Some(Encoding::Gzip.encode(&plain)).filter(|gzip| gzip.len() < plain.len());
        Self { content_type, cache_control, hash: format!("{:016x}", hasher.finish()), plain, gzip }
    }

    /// The body in an accepted encoding, or 304 if the client's copy is current.
    pub(super) fn respond(&self, request_headers: &HeaderMap) -> Response<Body> {
        let etag = HeaderValue::from_str(&format!("W/\"{}\"", self.hash)).ok();
        let is_current = etag.as_ref().is_some_and(|etag| if_none_match_matches(request_headers, etag));
        let gzip =
            self.gzip.as_ref().filter(|_| encoding::negotiate(request_headers, &[Encoding::Gzip]).is_some());
        let body = if is_current { Body::empty() } else { Body::from(gzip.unwrap_or(&self.plain).clone()) };
        let mut response = Response::new(body);
        if is_current {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        }
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(self.cache_control));
        headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
        if gzip.is_some() && !is_current {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static(Encoding::Gzip.name()));
        }
        headers.extend(etag.map(|etag| (ETAG, etag)));
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_body_is_not_compressed() {
        assert!(StaticResponse::new("text/plain", REVALIDATE, "a").gzip.is_none());
        assert!(StaticResponse::new("text/plain", REVALIDATE, "a".repeat(1000)).gzip.is_some());
    }
}
