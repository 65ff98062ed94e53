//! Sending, with everything that every call needs: repetition where it does no harm, patience that ends, and answers
//! that are read once.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use domain::{FieldError, Random};
use http::header::{HeaderMap, RETRY_AFTER};
use http::{Request, Response};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::Error;
use crate::error::Refused;
use crate::ports::SystemRandom;
use crate::transport::{HttpTransport, Transport, TransportFault};

/// How often a call is made, at most, and how long is waited in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    pub attempts_max: u32,
    /// Where the service asks to wait for longer, its refusal is handed on at once.
    pub wait_max: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { attempts_max: 4, wait_max: Duration::from_secs(60) }
    }
}

const FIRST_PAUSE: Duration = Duration::from_millis(200);
const MESSAGE_CHARS_MAX: usize = 300;

#[derive(Clone)]
pub(crate) struct Wire {
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) random: Arc<dyn Random>,
    pub(crate) patience: Patience,
}

/// What a [`Wire`] is made from; what is not handed in is the machine's own.
pub(crate) struct WireParts {
    pub(crate) transport: Option<Arc<dyn Transport>>,
    pub(crate) random: Arc<dyn Random>,
    pub(crate) patience: Patience,
}

impl Default for WireParts {
    fn default() -> Self {
        Self { transport: None, random: Arc::new(SystemRandom), patience: Patience::default() }
    }
}

impl WireParts {
    pub(crate) fn build(self) -> Result<Wire, Error> {
        let transport = match self.transport {
            Some(transport) => transport,
            None => Arc::new(HttpTransport::new()?),
        };
        Ok(Wire { transport, random: self.random, patience: self.patience })
    }
}

/// Whether a call may be made again where nobody knows if it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    Harmless,
    /// Only where the service said that it did nothing.
    Refused,
}

impl Wire {
    /// The answer, whatever its status, after the repetitions that are due.
    pub(crate) async fn send(
        &self,
        request: &Request<Bytes>,
        again: Again,
    ) -> Result<Response<Bytes>, Error> {
        let mut waited = Duration::ZERO;
        for attempt in 1.. {
            let answer = self.transport.send(request.clone()).await;
            let pause = match &answer {
                Ok(answer) if matches!(answer.status().as_u16(), 429 | 503) => {
                    retry_after(answer.headers()).unwrap_or_else(|| self.pause(attempt))
                }
                Err(TransportFault::Unreachable(_) | TransportFault::TimedOut(_))
                    if again == Again::Harmless =>
                {
                    self.pause(attempt)
                }
                _ => return answer.map_err(|fault| told(request, fault)),
            };
            if attempt >= self.patience.attempts_max || waited.saturating_add(pause) > self.patience.wait_max
            {
                return answer.map_err(|fault| told(request, fault));
            }
            waited += pause;
            tokio::time::sleep(pause).await;
        }
        Err(Error::unusable("the patience", "it allows for no attempt"))
    }

    /// Twice as long each time, half of it by chance, so that many who fail together do not come back together.
    fn pause(&self, attempt: u32) -> Duration {
        let mut byte = [0];
        self.random.fill(&mut byte);
        let whole = FIRST_PAUSE * 2_u32.saturating_pow(attempt.min(8) - 1);
        whole / 2 + whole / 2 * u32::from(byte[0]) / 255
    }
}

fn told(request: &Request<Bytes>, fault: TransportFault) -> Error {
    let call = call_of(request);
    match fault {
        TransportFault::Unreachable(reason) => Error::Unreachable { call, reason },
        TransportFault::TimedOut(after) => Error::TimedOut { call, after },
        TransportFault::TooLarge { bytes_max } => Error::TooLarge { call, bytes_max },
    }
}

/// Without the query, which may hold secrets.
pub(crate) fn call_of(request: &Request<Bytes>) -> String {
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

/// A good answer's body, typed.
pub(crate) fn read<T: DeserializeOwned>(call: &str, answer: &Response<Bytes>) -> Result<T, Error> {
    serde_json::from_slice(answer.body())
        .map_err(|error| Error::Unreadable { call: call.to_owned(), reason: error.to_string() })
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Problem {
    message: String,
    request_id: String,
    errors: Vec<FieldError>,
}

/// What an answer that is no 2xx says.
pub(crate) fn refusal(call: &str, answer: &Response<Bytes>) -> Error {
    let status = answer.status();
    let problem: Problem = serde_json::from_slice(answer.body()).unwrap_or_else(|_| {
        let text = String::from_utf8_lossy(answer.body());
        Problem { message: text.chars().take(MESSAGE_CHARS_MAX).collect(), ..Problem::default() }
    });
    Error::Refused(Box::new(Refused {
        call: call.to_owned(),
        status: status.as_u16(),
        message: problem.message,
        request_id: problem.request_id,
        errors: problem.errors,
        retry_after: retry_after(answer.headers()),
    }))
}
