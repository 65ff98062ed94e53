//! Receives the requests of the service: verifies signatures, answers handshakes, and passes on verified events.

use std::sync::Arc;

use bytes::Bytes;
use domain::Guid;
use http::header::{ALLOW, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

use super::diagnose::SignatureMismatch;
use super::event::{Event, Notification};
use super::verify::Verifier;

/// The default size limit of a body, larger than any notification.
pub const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The error of an HTTP body.
pub(super) type BodyError = Box<dyn std::error::Error + Send + Sync>;
type ApiError = Arc<dyn Fn(&SignatureMismatch) + Send + Sync>;

#[derive(Clone)]
pub(super) struct DeliveryReceiver {
    pub(super) verifier: Verifier,
    pub(super) body_bytes_max: usize,
    pub(super) on_mismatch: Option<ApiError>,
}

impl std::fmt::Debug for DeliveryReceiver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut debug = f.debug_struct("Gate");
        debug
            .field("verifier", &self.verifier)
            .field("body_bytes_max", &self.body_bytes_max)
            .finish_non_exhaustive()
    }
}

/// A request with a valid signature and an event.
pub(super) struct VerifiedDelivery {
    pub(super) parts: Parts,
    pub(super) body: Bytes,
    pub(super) event: Event,
}

impl DeliveryReceiver {
    /// Returns an event for the application, or the response to send if there is none.
    pub(super) async fn receive<B>(&self, request: Request<B>) -> Result<VerifiedDelivery, Response<Bytes>>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<BodyError>,
    {
        let (parts, body) = request.into_parts();
        match parts.method {
            Method::GET => return Err(echo(parts.uri.query().unwrap_or_default())),
            Method::POST => {}
            _ => {
                let mut response =
                    text_response(StatusCode::METHOD_NOT_ALLOWED, "Send deliveries with POST.");
                response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, POST"));
                return Err(response);
            }
        }
        let body = self.read_body(&parts, body).await?;
        if let Err(mismatch) = self.verifier.verify(&parts.headers, &body) {
            if let Some(callback) = &self.on_mismatch {
                callback(&mismatch);
            }
            // The reason would help an attacker.
            return Err(text_response(StatusCode::UNAUTHORIZED, "The signature does not match."));
        }
        match Notification::parse(&parts.headers, &body) {
            Ok(Notification::Acknowledge { .. }) => Err(text_response(StatusCode::OK, "")),
            Ok(Notification::Event(event)) => Ok(VerifiedDelivery { parts, body, event }),
            Err(invalid) => Err(text_response(StatusCode::BAD_REQUEST, &invalid.to_string())),
        }
    }

    async fn read_body<B>(&self, parts: &Parts, body: B) -> Result<Bytes, Response<Bytes>>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<BodyError>,
    {
        let too_large = || {
            let message = format!("The body must have at most {} bytes.", self.body_bytes_max);
            text_response(StatusCode::PAYLOAD_TOO_LARGE, &message)
        };
        let content_length =
            parts.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        if content_length.is_some_and(|length: usize| length > self.body_bytes_max) {
            return Err(too_large());
        }
        let read = Limited::new(body, self.body_bytes_max).collect().await;
        read.map(http_body_util::Collected::to_bytes).map_err(|error| {
            if error.is::<LengthLimitError>() {
                too_large()
            } else {
                text_response(StatusCode::BAD_REQUEST, "The body is incomplete.")
            }
        })
    }
}

/// The handshake of invoicing. It is not signed, so only a GUID is echoed.
fn echo(query: &str) -> Response<Bytes> {
    let echo = query.split('&').find_map(|pair| pair.strip_prefix("echo="));
    match echo.and_then(Guid::parse) {
        Some(guid) => text_response(StatusCode::OK, &guid.to_string()),
        None => text_response(StatusCode::BAD_REQUEST, "GET requires the query echo=<GUID>."),
    }
}

pub(super) fn text_response(status: StatusCode, text: &str) -> Response<Bytes> {
    let mut response = Response::new(Bytes::copy_from_slice(text.as_bytes()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}
