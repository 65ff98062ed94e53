//! An answer that is made once: its bytes, packed as well, under a validator.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Write as _;

use axum::body::Body;
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue,
    IF_NONE_MATCH, VARY,
};
use axum::http::{Response, StatusCode};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

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
        let packed = packed(&plain).filter(|packed| packed.len() < plain.len());
        Self { content_type, control, mark: format!("{:016x}", hasher.finish()), plain, packed }
    }

    /// The bytes as the reader takes them, or 304 where it has them.
    pub(super) fn answer(&self, asked: &HeaderMap) -> Response<Body> {
        let etag = format!("W/\"{}\"", self.mark);
        let is_same = words(asked.get_all(IF_NONE_MATCH)).any(|one| one == "*" || one == etag);
        let packed = self.packed.as_ref().filter(|_| takes_gzip(asked));
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
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        if let Ok(etag) = HeaderValue::from_str(&etag) {
            headers.insert(ETAG, etag);
        }
        answer
    }
}

fn packed(plain: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(plain).ok()?;
    encoder.finish().ok().map(Bytes::from)
}

/// The members of a list that may stand in several lines.
fn words<'a>(lines: impl IntoIterator<Item = &'a HeaderValue>) -> impl Iterator<Item = &'a str> {
    let lines = lines.into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(str::trim)
}

fn takes_gzip(asked: &HeaderMap) -> bool {
    words(asked.get_all(ACCEPT_ENCODING)).any(|one| {
        let (coding, quality) = one.split_once(';').unwrap_or((one, ""));
        let is_refused = quality.trim().strip_prefix("q=").is_some_and(|q| q.trim().parse() == Ok(0.0));
        coding.trim().eq_ignore_ascii_case("gzip") && !is_refused
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_sent_to_who_takes_it() {
        for (line, takes) in [
            ("gzip", true),
            ("br, GZIP;q=0.5", true),
            ("deflate, gzip;q=1.0, *;q=0.5", true),
            ("br", false),
            ("gzip;q=0", false),
            ("gzip; q=0.000", false),
            ("", false),
        ] {
            let mut asked = HeaderMap::new();
            asked.insert(ACCEPT_ENCODING, HeaderValue::from_static(line));
            assert_eq!(takes_gzip(&asked), takes, "{line}");
        }
        assert!(!takes_gzip(&HeaderMap::new()));
    }

    #[test]
    fn what_is_short_is_not_packed() {
        assert!(Kept::new("text/plain", FRESH, "a").packed.is_none());
        assert!(Kept::new("text/plain", FRESH, "a".repeat(1000)).packed.is_some());
    }
}
