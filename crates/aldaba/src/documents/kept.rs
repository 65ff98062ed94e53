//! An answer that is made once: its bytes, packed as well, under a validator.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, VARY};
use axum::http::{Response, StatusCode};
use bytes::Bytes;
use web::encoding::{self, Encoding};
use web::if_none_match_matches;

/// Asked about before it is used.
pub(super) const FRESH: &str = "no-cache";
pub(super) const FOR_EVER: &str = "public, max-age=31536000, immutable";
pub(super) const NOT_AT_ALL: &str = "no-store";

pub(super) struct Kept {
    content_type: &'static str,
    /// How long a reader may keep it.
    control: &'static str,
    /// Tells contents apart; guards nothing.
    pub(super) mark: String,
    pub(super) plain: Bytes,
    /// None where packing gains nothing.
    packed: Option<Bytes>,
}

impl Kept {
    pub(super) fn new(content_type: &'static str, control: &'static str, plain: impl Into<Bytes>) -> Self {
        let plain = plain.into();
        let mut hasher = DefaultHasher::new();
        plain.hash(&mut hasher);
        let packed = Some(Encoding::Gzip.encode(&plain)).filter(|packed| packed.len() < plain.len());
        Self { content_type, control, mark: format!("{:016x}", hasher.finish()), plain, packed }
    }

    /// The bytes as the reader takes them, or 304 where it has them.
    pub(super) fn answer(&self, asked: &HeaderMap) -> Response<Body> {
        let etag = HeaderValue::from_str(&format!("W/\"{}\"", self.mark)).ok();
        let is_same = etag.as_ref().is_some_and(|etag| if_none_match_matches(asked, etag));
        let packed = self.packed.as_ref().filter(|_| encoding::negotiate(asked, &[Encoding::Gzip]).is_some());
        let body = if is_same { Body::empty() } else { Body::from(packed.unwrap_or(&self.plain).clone()) };
        let mut answer = Response::new(body);
        if is_same {
            *answer.status_mut() = StatusCode::NOT_MODIFIED;
        }
        let headers = answer.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(self.control));
        headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
        if packed.is_some() && !is_same {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static(Encoding::Gzip.name()));
        }
        headers.extend(etag.map(|etag| (ETAG, etag)));
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_short_is_not_packed() {
        assert!(Kept::new("text/plain", FRESH, "a").packed.is_none());
        assert!(Kept::new("text/plain", FRESH, "a".repeat(1000)).packed.is_some());
    }
}
