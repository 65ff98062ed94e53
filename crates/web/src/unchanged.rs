//! An answer of 304 has no length: RFC 9110 lets it carry only that of the body which is not sent (8.6).

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_LENGTH;
use axum::http::{Response, StatusCode};
use hyper::body::Frame;

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
