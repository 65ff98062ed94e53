//! Answers that a reader has already: whether it names their validator, and 304 without a length, for RFC 9110 lets
//! it carry only that of the body which is not sent (8.6).

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::http::header::{CONTENT_LENGTH, HeaderMap, HeaderValue, IF_NONE_MATCH};
use axum::http::{Response, StatusCode};
use hyper::body::Frame;

/// Whether the reader names this validator; weakly, as RFC 9110 has it for reads.
pub fn is_known(asked: &HeaderMap, etag: &HeaderValue) -> bool {
    let opaque = |text: &[u8]| text.trim_ascii().strip_prefix(b"W/").unwrap_or(text.trim_ascii()).to_vec();
    let lines = asked.get_all(IF_NONE_MATCH).iter();
    lines
        .flat_map(|line| line.as_bytes().split(|byte| *byte == b','))
        .any(|one| one.trim_ascii() == b"*" || opaque(one) == opaque(etag.as_bytes()))
}

/// Takes the length away, so that nobody below puts one there.
pub(crate) fn without_length(response: &mut Response<Body>) {
    if response.status() == StatusCode::NOT_MODIFIED {
        response.headers_mut().remove(CONTENT_LENGTH);
        *response.body_mut() = Body::new(Unsent);
    }
}

/// Nothing, of a length that it does not tell.
struct Unsent;

impl hyper::body::Body for Unsent {
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
    fn a_reader_names_what_it_has() {
        let knows = |lines: &[&'static str], etag: &'static str| {
            let mut asked = HeaderMap::new();
            for line in lines {
                asked.append(IF_NONE_MATCH, HeaderValue::from_static(line));
            }
            is_known(&asked, &HeaderValue::from_static(etag))
        };
        for lines in [&["W/\"a\""][..], &["\"a\""], &["*"], &["\"b\", W/\"a\""], &["\"b\"", " \"a\" "]] {
            assert!(knows(lines, "W/\"a\""), "{lines:?}");
            assert!(knows(lines, "\"a\""), "{lines:?}");
        }
        for lines in [&[][..], &["\"b\""], &["a"], &["\"A\""], &[""]] {
            assert!(!knows(lines, "W/\"a\""), "{lines:?}");
        }
    }
}
