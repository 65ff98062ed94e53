//! The request that the egress sends, the receiver's response, and how the time was spent.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use domain::receiver_url::ReceiverUrl;
use domain::{Ticks, WebhookId};
use http::{HeaderMap, Method};
use store::AttemptTiming;
use tokio::time::Instant;

use super::error::EgressError;

/// Whether a request may still be sent; the egress asks just before it writes the first byte, each time that it writes it.
pub type MaySend<'a> = dyn Fn() -> bool + Send + Sync + 'a;

/// One request to a receiver.
#[derive(Clone, Debug)]
pub struct OutboundRequest {
    /// The webhook that it is for; None: it is no delivery.
    pub webhook: Option<WebhookId>,
    pub url: Arc<ReceiverUrl>,
    pub method: Method,
    /// Appended to the address's own query, if it has one.
    pub query: Option<String>,
    /// All but Host, User-Agent and Content-Length, which the egress adds: leave capacity for three more.
    pub headers: HeaderMap,
    pub body: Bytes,
    /// For everything together: a free socket, name resolution, connecting, TLS, the request and the whole response.
    pub timeout: Duration,
    /// The time from which a date in Retry-After is counted.
    pub now: Ticks,
}

/// A request's result.
#[derive(Clone, Debug)]
pub struct Exchange {
    pub result: Result<ReceiverResponse, EgressError>,
    /// Phases that a reused connection skips are zero.
    pub timing: AttemptTiming,
    /// Whether the response came over a connection that an earlier request had opened.
    pub reused: bool,
}

impl Exchange {
    /// A request that failed before anything was sent.
    pub fn failed(error: EgressError) -> Self {
        Self { result: Err(error), timing: AttemptTiming::default(), reused: false }
    }
}

/// A receiver's response, whatever its status. A redirect is a response too: the egress does not follow it.
#[derive(Clone, Debug)]
pub struct ReceiverResponse {
    pub status: u16,
    pub sets_cookie: bool,
    pub retry_after: Option<Duration>,
    /// At most [`RESPONSE_BYTES_MAX`](super::RESPONSE_BYTES_MAX); a longer body is cut there.
    pub body: Bytes,
}

/// What a request is waiting for; a timeout names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// A free socket of our own, or a free connection to the receiver.
    Socket,
    Resolve,
    Connect,
    Tls,
    Response,
    Body,
}

impl std::fmt::Display for Phase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Socket => "waiting for a free socket",
            Self::Resolve => "resolving the name",
            Self::Connect => "connecting",
            Self::Tls => "negotiating TLS",
            Self::Response => "waiting for the response",
            Self::Body => "reading the response",
        })
    }
}

/// Follows a request through its phases and measures them.
#[derive(Debug)]
pub(super) struct Progress {
    phase: Phase,
    phase_started: Instant,
    started: Instant,
    timing: AttemptTiming,
    reused: bool,
}

impl Progress {
    pub(super) fn start(now: Instant) -> Self {
        Self {
            phase: Phase::Socket,
            phase_started: now,
            started: now,
            timing: AttemptTiming::default(),
            reused: false,
        }
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    pub(super) fn enter(&mut self, phase: Phase) {
        if phase != self.phase {
            self.end_phase(Instant::now());
            self.phase = phase;
        }
    }

    pub(super) fn set_reused(&mut self, reused: bool) {
        self.reused = reused;
    }

    pub(super) fn end(mut self, result: Result<ReceiverResponse, EgressError>) -> Exchange {
        let now = Instant::now();
        self.end_phase(now);
        self.timing.total = now - self.started;
        Exchange { result, timing: self.timing, reused: self.reused }
    }

    fn end_phase(&mut self, now: Instant) {
        let elapsed = now - self.phase_started;
        self.phase_started = now;
        match self.phase {
            Phase::Resolve => self.timing.resolve += elapsed,
            Phase::Connect => self.timing.connect += elapsed,
            Phase::Tls => self.timing.tls += elapsed,
            Phase::Response => self.timing.wait += elapsed,
            // Part of the total only.
            Phase::Socket | Phase::Body => (),
        }
    }
}
