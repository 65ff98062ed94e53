//! What is asked of the egress and what comes back: one call, its answer, and where the time went.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use domain::Ticks;
use domain::receiver_url::ReceiverUrl;
use http::{HeaderMap, Method};
use tokio::time::Instant;

use super::failure::Failure;

/// One request to a receiver.
#[derive(Clone, Debug)]
pub struct Call {
    pub url: Arc<ReceiverUrl>,
    pub method: Method,
    /// Joined to the address's own query, if it has one.
    pub query: Option<String>,
    /// All but Host, User-Agent and Content-Length, which are added: leave room for three more.
    pub headers: HeaderMap,
    pub body: Bytes,
    /// Over everything: a free socket, the name, the connection, TLS, the request and the whole answer.
    pub deadline: Duration,
    /// What a date in Retry-After is counted from.
    pub now: Ticks,
}

/// How a call went.
#[derive(Clone, Debug)]
pub struct Sent {
    pub result: Result<Answer, Failure>,
    pub timing: Timing,
}

/// What a receiver answered, whatever its status. Redirects are answers too: nobody follows them.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub sets_cookie: bool,
    pub retry_after: Option<Duration>,
    /// At most [`ANSWER_BYTES_MAX`](super::ANSWER_BYTES_MAX); what was longer is cut there.
    pub body: Bytes,
}

/// Where the time went. Phases that a kept connection spares are zero.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timing {
    /// Waiting for one of our own sockets, or for a connection to the receiver, to be free.
    pub socket: Duration,
    pub resolve: Duration,
    pub connect: Duration,
    pub tls: Duration,
    /// From the request to the head of its answer.
    pub first_byte: Duration,
    pub total: Duration,
    /// Whether the answer came over a connection that an earlier call had opened.
    pub reused: bool,
}

/// What a call is busy with; told where its time runs out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Socket,
    Resolve,
    Connect,
    Tls,
    Answer,
    Body,
}

impl std::fmt::Display for Phase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Socket => "waiting for a free socket",
            Self::Resolve => "resolving the name",
            Self::Connect => "connecting",
            Self::Tls => "agreeing on TLS",
            Self::Answer => "waiting for the answer",
            Self::Body => "reading the answer",
        })
    }
}

/// Follows a call through its phases.
#[derive(Debug)]
pub(super) struct Progress {
    phase: Phase,
    since: Instant,
    started: Instant,
    timing: Timing,
}

impl Progress {
    pub(super) fn start(now: Instant) -> Self {
        Self { phase: Phase::Socket, since: now, started: now, timing: Timing::default() }
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    pub(super) fn enter(&mut self, phase: Phase) {
        if phase != self.phase {
            self.settle(Instant::now());
            self.phase = phase;
        }
    }

    pub(super) fn reuses(&mut self, reused: bool) {
        self.timing.reused = reused;
    }

    pub(super) fn end(mut self) -> Timing {
        let now = Instant::now();
        self.settle(now);
        self.timing.total = now - self.started;
        self.timing
    }

    fn settle(&mut self, now: Instant) {
        let spent = now - self.since;
        self.since = now;
        match self.phase {
            Phase::Socket => self.timing.socket += spent,
            Phase::Resolve => self.timing.resolve += spent,
            Phase::Connect => self.timing.connect += spent,
            Phase::Tls => self.timing.tls += spent,
            Phase::Answer => self.timing.first_byte += spent,
            Phase::Body => (),
        }
    }
}
