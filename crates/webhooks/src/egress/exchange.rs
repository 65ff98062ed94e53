//! One request and its answer over an open connection.

use std::time::{Duration, UNIX_EPOCH};

use bytes::{Bytes, BytesMut};
use domain::Ticks;
use http::header::{RETRY_AFTER, SET_COOKIE};
use http::{HeaderMap, Method, Request, StatusCode, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};

use super::call::{Answer, Phase, Progress};
use super::failure::{Failure, is_gone};
use super::pool::Lease;

/// What is read of an answer.
pub const ANSWER_BYTES_MAX: usize = 16 * 1024;

/// A request that can be made a second time.
pub(super) struct Errand {
    pub(super) method: Method,
    pub(super) uri: Uri,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    pub(super) now: Ticks,
}

/// Why an exchange came to nothing.
pub(super) enum Fault {
    /// The connection was gone before anything was answered.
    Gone(Failure),
    Final(Failure),
}

impl Fault {
    pub(super) fn into_failure(self) -> Failure {
        match self {
            Self::Gone(failure) | Self::Final(failure) => failure,
        }
    }
}

impl Errand {
    /// `last`: this one will not be asked for again.
    fn request(&mut self, last: bool) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(self.body.clone()));
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = if last { std::mem::take(&mut self.headers) } else { self.headers.clone() };
        request
    }

    /// Sends the request and reads the answer; the connection is kept if the whole of it was read.
    pub(super) async fn run(&mut self, mut lease: Lease, progress: &mut Progress) -> Result<Answer, Fault> {
        progress.enter(Phase::Answer);
        progress.reuses(lease.reused);
        let request = self.request(!lease.reused);
        let gone = |error: &hyper::Error| {
            let failure = Failure::of_http(error);
            if is_gone(error) { Fault::Gone(failure) } else { Fault::Final(failure) }
        };
        let response = match lease.sender() {
            Some(sender) => {
                sender.ready().await.map_err(|error| gone(&error))?;
                sender.send_request(request).await.map_err(|error| gone(&error))?
            }
            None => return Err(Fault::Gone(Failure::Broken("it is closed".into()))),
        };
        progress.enter(Phase::Body);
        let (head, body) = response.into_parts();
        let (body, is_whole) = read(body).await.map_err(|error| Fault::Final(Failure::of_http(&error)))?;
        if is_whole && head.status != StatusCode::SWITCHING_PROTOCOLS {
            lease.keep();
        }
        Ok(Answer {
            status: head.status.as_u16(),
            sets_cookie: head.headers.contains_key(SET_COOKIE),
            retry_after: retry_after(&head.headers, self.now),
            body,
        })
    }
}

/// The body as far as it is read, and whether that was all of it.
async fn read(mut body: Incoming) -> hyper::Result<(Bytes, bool)> {
    let mut first = Bytes::new();
    let mut rest = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        if first.is_empty() && rest.is_empty() {
            first = data;
        } else {
            // Most answers come in one piece and are not copied.
            if rest.is_empty() {
                rest.extend_from_slice(&first);
            }
            rest.extend_from_slice(&data);
        }
        let length = first.len().max(rest.len());
        if length >= ANSWER_BYTES_MAX {
            let is_whole = length == ANSWER_BYTES_MAX && body.is_end_stream();
            let mut whole = if rest.is_empty() { first } else { rest.freeze() };
            whole.truncate(ANSWER_BYTES_MAX);
            return Ok((whole, is_whole));
        }
    }
    Ok((if rest.is_empty() { first } else { rest.freeze() }, true))
}

/// Seconds, or a date; anything else is as if it had not been said.
fn retry_after(headers: &HeaderMap, now: Ticks) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let then = httpdate::parse_http_date(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(Ticks::from_unix_seconds(i64::try_from(then.as_secs()).ok()?).since(now))
}
