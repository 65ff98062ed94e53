//! Conditional requests: `If-None-Match`, and 304 responses without `Content-Length`. RFC 9110 (8.6) allows a 304 to
//! carry only the length of the body that a 200 would have had.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::http::header::{CONTENT_LENGTH, HeaderMap, HeaderValue, IF_NONE_MATCH};
use axum::http::{Response, StatusCode};
use hyper::body::Frame;

/// Whether `If-None-Match` lists this ETag. Uses the weak comparison, as RFC 9110 (13.1.2) requires.
pub fn if_none_match_matches(headers: &HeaderMap, etag: &HeaderValue) -> bool {
    let opaque = |text: &[u8]| text.trim_ascii().strip_prefix(b"W/").unwrap_or(text.trim_ascii()).to_vec();
    let lines = headers.get_all(IF_NONE_MATCH).iter();
    lines
        .flat_map(|line| line.as_bytes().split(|byte| *byte == b','))
        .any(|listed| listed.trim_ascii() == b"*" || opaque(listed) == opaque(etag.as_bytes()))
}

/// Removes the length of a 304 response, and keeps hyper from adding one.
pub(crate) fn remove_length_of_not_modified(response: &mut Response<Body>) {
    if response.status() == StatusCode::NOT_MODIFIED {
        response.headers_mut().remove(CONTENT_LENGTH);
        *response.body_mut() = Body::new(EmptyBodyOfUnknownLength);
    }
}

/// An empty body without a size hint, so that hyper writes no `Content-Length: 0`.
struct EmptyBodyOfUnknownLength;

impl hyper::body::Body for EmptyBodyOfUnknownLength {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn if_none_match_compares_weakly() {
        let matches = |lines: &[&'static str], etag: &'static str| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(IF_NONE_MATCH, HeaderValue::from_static(line));
            }
            if_none_match_matches(&headers, &HeaderValue::from_static(etag))
        };
        for lines in [&["W/\"a\""][..], &["\"a\""], &["*"], &["\"b\", W/\"a\""], &["\"b\"", " \"a\" "]] {
            assert!(matches(lines, "W/\"a\""), "{lines:?}");
            assert!(matches(lines, "\"a\""), "{lines:?}");
        }
        for lines in [&[][..], &["\"b\""], &["a"], &["\"A\""], &[""]] {
            assert!(!matches(lines, "W/\"a\""), "{lines:?}");
        }
    }
}
