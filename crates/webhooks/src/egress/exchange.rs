//! Sends one request over an open connection and reads its response.

use std::time::{Duration, UNIX_EPOCH};

use bytes::{Bytes, BytesMut};
use domain::Ticks;
use http::header::{RETRY_AFTER, SET_COOKIE};
use http::{HeaderMap, Method, Request, StatusCode, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};

use super::error::{EgressError, is_connection_gone};
use super::pool::Lease;
use super::request::{MaySend, Phase, Progress, ReceiverResponse};

/// How much of a response body is read.
pub const RESPONSE_BYTES_MAX: usize = 16 * 1024;

/// A request that is ready to be sent, a second time too.
pub(super) struct PreparedRequest {
    pub(super) method: Method,
    pub(super) uri: Uri,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    pub(super) now: Ticks,
}

/// Why an exchange failed.
pub(super) enum ExchangeError {
    /// The connection was closed before any response arrived.
    ConnectionGone(EgressError),
    Final(EgressError),
}

impl ExchangeError {
    pub(super) fn into_error(self) -> EgressError {
        match self {
            Self::ConnectionGone(error) | Self::Final(error) => error,
        }
    }
}

impl PreparedRequest {
    /// `is_last`: the request will not be sent again, so that its headers can be moved.
    fn build(&mut self, is_last: bool) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(self.body.clone()));
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() =
            if is_last { std::mem::take(&mut self.headers) } else { self.headers.clone() };
        request
    }

    /// Sends the request and reads the response. The connection goes back to the pool if the whole response was read.
    pub(super) async fn send(
        &mut self,
        mut lease: Lease,
        may_send: &MaySend<'_>,
        progress: &mut Progress,
    ) -> Result<ReceiverResponse, ExchangeError> {
        progress.enter(Phase::Response);
        progress.set_reused(lease.reused);
        let request = self.build(!lease.reused);
        let failed = |error: &hyper::Error| {
            let is_gone = is_connection_gone(error);
            let error = EgressError::from_http(error);
            if is_gone { ExchangeError::ConnectionGone(error) } else { ExchangeError::Final(error) }
        };
        let response = match lease.sender() {
            Some(sender) => {
                sender.ready().await.map_err(|error| failed(&error))?;
                if !may_send() {
                    lease.put_back();
                    return Err(ExchangeError::Final(EgressError::NotAllowed));
                }
                sender.send_request(request).await.map_err(|error| failed(&error))?
            }
            None => return Err(ExchangeError::ConnectionGone(EgressError::Broken("it is closed".into()))),
        };
        progress.enter(Phase::Body);
        let (head, body) = response.into_parts();
        let body = read_body(body).await;
        let (body, is_complete) =
            body.map_err(|error| ExchangeError::Final(EgressError::from_http(&error)))?;
        if is_complete && head.status != StatusCode::SWITCHING_PROTOCOLS {
            lease.put_back();
        }
        Ok(ReceiverResponse {
            status: head.status.as_u16(),
            sets_cookie: head.headers.contains_key(SET_COOKIE),
            retry_after: retry_after(&head.headers, self.now),
            body,
        })
    }
}

/// The body up to the limit, and whether that is all of it.
pub(super) async fn read_body(mut body: Incoming) -> hyper::Result<(Bytes, bool)> {
    let mut first = Bytes::new();
    let mut joined = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        if first.is_empty() && joined.is_empty() {
            first = data;
        } else {
            // Most bodies arrive in one frame and are not copied.
            if joined.is_empty() {
                joined.extend_from_slice(&first);
            }
            joined.extend_from_slice(&data);
        }
        let length = first.len().max(joined.len());
        if length >= RESPONSE_BYTES_MAX {
            let is_complete = length == RESPONSE_BYTES_MAX && body.is_end_stream();
            let mut bytes = if joined.is_empty() { first } else { joined.freeze() };
            bytes.truncate(RESPONSE_BYTES_MAX);
            return Ok((bytes, is_complete));
        }
    }
    Ok((if joined.is_empty() { first } else { joined.freeze() }, true))
}

/// Retry-After as seconds or as an HTTP date; anything else is ignored.
pub(super) fn retry_after(headers: &HeaderMap, now: Ticks) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(Ticks::from_unix_seconds(i64::try_from(date.as_secs()).ok()?).since(now))
}
