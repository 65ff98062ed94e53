//! Sends requests with retries, and parses responses and error responses.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use domain::{FieldError, Random};
use http::header::{HeaderMap, RETRY_AFTER};
use http::{Request, Response};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::Error;
use crate::error::ApiError;
use crate::ports::SystemRandom;
use crate::transport::{HttpTransport, Transport, TransportError};

/// How often and how long calls are retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The maximum number of attempts, including the first.
    pub attempts_max: u32,
    /// The maximum total time between attempts. If `Retry-After` asks for more, the error is returned at once.
    pub wait_max: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { attempts_max: 4, wait_max: Duration::from_secs(60) }
    }
}

const FIRST_PAUSE: Duration = Duration::from_millis(200);
const MESSAGE_CHARS_MAX: usize = 300;

#[derive(Clone)]
pub(crate) struct HttpClient {
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) random: Arc<dyn Random>,
    pub(crate) retry_policy: RetryPolicy,
}

/// Builds a [`HttpClient`]; the defaults are those of the operating system.
pub(crate) struct HttpClientBuilder {
    pub(crate) transport: Option<Arc<dyn Transport>>,
    pub(crate) random: Arc<dyn Random>,
    pub(crate) retry_policy: RetryPolicy,
}

impl Default for HttpClientBuilder {
    fn default() -> Self {
        Self { transport: None, random: Arc::new(SystemRandom), retry_policy: RetryPolicy::default() }
    }
}

impl HttpClientBuilder {
    pub(crate) fn build(self) -> Result<HttpClient, Error> {
        let transport = match self.transport {
            Some(transport) => transport,
            None => Arc::new(HttpTransport::new()?),
        };
        Ok(HttpClient { transport, random: self.random, retry_policy: self.retry_policy })
    }
}

/// Whether a call may be retried if it is unknown whether the service processed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetrySafety {
    Idempotent,
    /// Retried only if the service answered that it did not process the call (429, 503).
    NotIdempotent,
}

impl HttpClient {
    /// Sends a request with retries and returns the last response, whatever its status.
    pub(crate) async fn send(
        &self,
        request: &Request<Bytes>,
        retry_safety: RetrySafety,
    ) -> Result<Response<Bytes>, Error> {
        let mut waited = Duration::ZERO;
        for attempt in 1.. {
            let response = self.transport.send(request.clone()).await;
            let pause = match &response {
                Ok(response) if matches!(response.status().as_u16(), 429 | 503) => {
                    retry_after(response.headers()).unwrap_or_else(|| self.pause(attempt))
                }
                Err(TransportError::Unreachable(_) | TransportError::TimedOut(_))
                    if retry_safety == RetrySafety::Idempotent =>
                {
                    self.pause(attempt)
                }
                _ => return response.map_err(|error| transport_error(request, error)),
            };
            if attempt >= self.retry_policy.attempts_max
                || waited.saturating_add(pause) > self.retry_policy.wait_max
            {
                return response.map_err(|error| transport_error(request, error));
            }
            waited += pause;
            tokio::time::sleep(pause).await;
        }
        Err(Error::invalid_input("the retry policy", "attempts_max must be at least 1"))
    }

    /// Exponential backoff. Half of the pause is random, so that clients which fail together do not retry together.
    fn pause(&self, attempt: u32) -> Duration {
        let mut byte = [0];
        self.random.fill(&mut byte);
        let pause = FIRST_PAUSE * 2_u32.saturating_pow(attempt.min(8) - 1);
        pause / 2 + pause / 2 * u32::from(byte[0]) / 255
    }
}

fn transport_error(request: &Request<Bytes>, error: TransportError) -> Error {
    let call = call_name(request);
    match error {
        TransportError::Unreachable(reason) => Error::Unreachable { call, reason },
        TransportError::TimedOut(after) => Error::TimedOut { call, after },
        TransportError::TooLarge { bytes_max } => Error::TooLarge { call, bytes_max },
    }
}

/// Method, host and path. Without the query, which may contain secrets.
pub(crate) fn call_name(request: &Request<Bytes>) -> String {
    let uri = request.uri();
    format!(
        "{} {}{}",
        request.method(),
        uri.authority().map_or("", |authority| authority.as_str()),
        uri.path()
    )
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    Some(Duration::from_secs(headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?))
}

/// Parses the body of a successful response.
pub(crate) fn parse_body<T: DeserializeOwned>(call: &str, response: &Response<Bytes>) -> Result<T, Error> {
    serde_json::from_slice(response.body())
        .map_err(|error| Error::InvalidResponse { call: call.to_owned(), reason: error.to_string() })
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Problem {
    code: String,
    message: String,
    request_id: String,
    errors: Vec<FieldError>,
}

/// The error of a response that is not 2xx.
pub(crate) fn error_from_response(call: &str, response: &Response<Bytes>) -> Error {
    let status = response.status();
    let problem: Problem = serde_json::from_slice(response.body()).unwrap_or_else(|_| {
        let text = String::from_utf8_lossy(response.body());
        Problem { message: text.chars().take(MESSAGE_CHARS_MAX).collect(), ..Problem::default() }
    });
    Error::Api(Box::new(ApiError {
        call: call.to_owned(),
        status: status.as_u16(),
        code: problem.code,
        message: problem.message,
        request_id: problem.request_id,
        errors: problem.errors,
        retry_after: retry_after(response.headers()),
    }))
}
