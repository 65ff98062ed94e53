//! What a connection is doing, and by when its peer must have acted. The decision is a pure function of the state and
//! the deadlines; a connection waits for it beside its HTTP work.

use std::sync::Arc;
use std::time::Duration;

use axum::http::Version;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

/// How long a connection that is being closed has for its last frames.
const CLOSE_GRACE: Duration = Duration::from_secs(1);
/// A connection is closed once its client has cancelled this many requests more than it has let finish.
const CANCELLED_MAX: u64 = 200;

/// How long a peer may take. Each step has its own deadline, so that one step cannot use up the time of another.
#[derive(Clone, Copy, Debug)]
pub struct Deadlines {
    /// For the TLS handshake.
    pub handshake: Duration,
    /// For the first request of a connection, and for a request's header from its first byte.
    pub header: Duration,
    /// Between two pieces of a request's body.
    pub body: Duration,
    /// Between two pieces of a response that the peer takes.
    pub write: Duration,
    /// Between two requests.
    pub idle: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            handshake: Duration::from_secs(10),
            header: Duration::from_secs(10),
            body: Duration::from_secs(20),
            write: Duration::from_secs(20),
            idle: Duration::from_secs(25),
        }
    }
}

impl Deadlines {
    /// How long all requests of a connection must have waited for their peer before a new connection may replace it.
    fn stall_min(&self) -> Duration {
        self.body / 10
    }

    fn shortest(&self) -> Duration {
        let Self { handshake, header, body, write, idle } = *self;
        [handshake, header, body, write, idle, CLOSE_GRACE].into_iter().min().unwrap_or(CLOSE_GRACE)
    }
}

/// Why the server closed a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CloseReason {
    Handshake,
    Header,
    Body,
    Write,
    Idle,
    /// A new connection took its place.
    Replaced,
    /// Its client cancelled too many requests.
    Cancelled,
    Shutdown,
}

impl CloseReason {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Handshake => "handshake",
            Self::Header => "header",
            Self::Body => "body",
            Self::Write => "write",
            Self::Idle => "idle",
            Self::Replaced => "replaced",
            Self::Cancelled => "cancelled",
            Self::Shutdown => "shutdown",
        }
    }

    /// Whether the peer gets a moment to see the end coming (GOAWAY), or the connection closes at once.
    pub(crate) fn is_gentle(self) -> bool {
        matches!(self, Self::Idle | Self::Replaced | Self::Shutdown)
    }
}

/// How willingly a connection is given up for a new one; the first is given up first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Expendable {
    /// It has not sent a request yet.
    Silent,
    /// It is between two requests.
    Idle,
    /// All its requests wait for its client.
    Stalled,
}

/// The activity of one connection, shared by its stream, its bodies and the listener.
#[derive(Debug)]
pub(crate) struct Activity {
    deadlines: Deadlines,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Clone, Copy, Debug)]
struct State {
    is_handshaking: bool,
    is_http2: bool,
    requests: usize,
    completed: u64,
    cancelled: u64,
    /// Since when there is no request.
    idle_since: Instant,
    /// When the first byte after the last request came.
    header_since: Option<Instant>,
    /// Requests whose handler waits for more of the body.
    bodies_waiting: usize,
    /// Responses of which a piece waits to be taken.
    responses_waiting: usize,
    /// When the peer last sent a piece of a body or took a piece of a response.
    progress_at: Instant,
    /// Since when the socket takes no bytes.
    blocked_since: Option<Instant>,
    closing: Option<(Instant, CloseReason)>,
    replaced: Option<Expendable>,
}

impl State {
    fn new(now: Instant, is_handshaking: bool) -> Self {
        Self {
            is_handshaking,
            is_http2: false,
            requests: 0,
            completed: 0,
            cancelled: 0,
            idle_since: now,
            header_since: None,
            bodies_waiting: 0,
            responses_waiting: 0,
            progress_at: now,
            blocked_since: None,
            closing: None,
            replaced: None,
        }
    }

    fn was_used(&self) -> bool {
        self.completed + self.cancelled > 0
    }

    /// Until when the peer may stay as it is, and why the connection closes then. None while it is the server's turn.
    fn due(&self, deadlines: &Deadlines) -> Option<(Instant, CloseReason)> {
        if let Some(since) = self.blocked_since {
            return Some((since + deadlines.write, CloseReason::Write));
        }
        if self.requests > 0 {
            return (self.responses_waiting > 0)
                .then(|| (self.progress_at + deadlines.write, CloseReason::Write));
        }
        if let Some((since, reason)) = self.closing {
            return Some((since.max(self.idle_since) + CLOSE_GRACE, reason));
        }
        Some(match self.header_since {
            _ if self.is_handshaking => (self.idle_since + deadlines.handshake, CloseReason::Handshake),
            _ if !self.was_used() => (self.idle_since + deadlines.header, CloseReason::Header),
            Some(since) if !self.is_http2 => (since + deadlines.header, CloseReason::Header),
            _ => (self.idle_since + deadlines.idle, CloseReason::Idle),
        })
    }

    /// What closes the connection whatever its peer does.
    fn verdict(&self) -> Option<CloseReason> {
        if self.cancelled > self.completed + CANCELLED_MAX {
            return Some(CloseReason::Cancelled);
        }
        (self.replaced.is_some() && self.closing.is_none()).then_some(CloseReason::Replaced)
    }

    fn expendable(&self, now: Instant, stall_min: Duration) -> Option<Expendable> {
        // The last part of a response may wait in the socket's buffer although its request has ended.
        let is_sending = self.blocked_since.is_some() && self.requests == 0;
        if self.replaced.is_some() {
            None
        } else if self.requests == 0 && !is_sending {
            Some(if self.was_used() { Expendable::Idle } else { Expendable::Silent })
        } else {
            let waits = self.bodies_waiting + self.responses_waiting + usize::from(is_sending);
            let is_stalled =
                waits >= self.requests.max(1) && now.duration_since(self.progress_at) >= stall_min;
            is_stalled.then_some(Expendable::Stalled)
        }
    }
}

impl Activity {
    pub(crate) fn new(deadlines: Deadlines, is_handshaking: bool) -> Arc<Self> {
        let state = State::new(Instant::now(), is_handshaking);
        Arc::new(Self { deadlines, state: Mutex::new(state), changed: Notify::new() })
    }

    pub(crate) fn handshake_done(&self) {
        let mut state = self.state.lock();
        (state.is_handshaking, state.idle_since) = (false, Instant::now());
    }

    pub(crate) fn begin_request(self: &Arc<Self>, version: Version) -> Exchange {
        let mut state = self.state.lock();
        state.requests += 1;
        state.is_http2 = version == Version::HTTP_2;
        (state.header_since, state.progress_at) = (None, Instant::now());
        Exchange { activity: self.clone(), is_answered: false }
    }

    /// Bytes came from the peer.
    pub(crate) fn bytes_read(&self) {
        let mut state = self.state.lock();
        if state.requests == 0 && state.header_since.is_none() {
            state.header_since = Some(Instant::now());
        }
    }

    /// The socket took bytes, or takes none now.
    pub(crate) fn bytes_written(&self, is_blocked: bool) {
        let mut state = self.state.lock();
        if !is_blocked {
            state.blocked_since = None;
            state.progress_at = Instant::now();
        } else if state.blocked_since.is_none() {
            state.blocked_since = Some(Instant::now());
        }
    }

    pub(crate) fn body_waits(&self, waits: bool) {
        let mut state = self.state.lock();
        if waits {
            state.bodies_waiting += 1;
        } else {
            state.bodies_waiting -= 1;
            state.progress_at = Instant::now();
        }
    }

    pub(crate) fn response_waits(&self, waits: bool) {
        let mut state = self.state.lock();
        state.progress_at = Instant::now();
        if waits {
            state.responses_waiting += 1;
        } else {
            state.responses_waiting -= 1;
        }
    }

    /// From now on the connection ends when its requests have. Returns false if that was decided before.
    pub(crate) fn begin_closing(&self, reason: CloseReason) -> bool {
        let mut state = self.state.lock();
        let is_first = state.closing.is_none();
        state.closing.get_or_insert((Instant::now(), reason));
        is_first
    }

    pub(crate) fn expendable(&self, now: Instant) -> Option<Expendable> {
        self.state.lock().expendable(now, self.deadlines.stall_min())
    }

    /// Gives the connection up for a new one, if it is expendable still.
    pub(crate) fn replace(&self, now: Instant) -> bool {
        let mut state = self.state.lock();
        state.replaced = state.replaced.or(state.expendable(now, self.deadlines.stall_min()));
        let is_replaced = state.replaced.is_some();
        drop(state);
        self.changed.notify_one();
        is_replaced
    }

    /// Whether it must close now, although a request may have begun since.
    pub(crate) fn must_close_now(&self) -> bool {
        let state = self.state.lock();
        match state.replaced {
            Some(Expendable::Stalled) => true,
            Some(Expendable::Silent) => state.requests == 0,
            Some(Expendable::Idle) => state.requests == 0 && state.blocked_since.is_none() && !state.is_http2,
            None => false,
        }
    }

    /// Waits until the connection has to close.
    pub(crate) async fn expired(&self) -> CloseReason {
        loop {
            let (verdict, due) = {
                let state = self.state.lock();
                (state.verdict(), state.due(&self.deadlines))
            };
            if let Some(reason) = verdict {
                return reason;
            }
            let now = Instant::now();
            // A state that begins after this look lasts at least the shortest deadline, so none is noticed late.
            let mut look_again = now + self.deadlines.shortest();
            if let Some((due, reason)) = due {
                if due <= now {
                    return reason;
                }
                look_again = look_again.min(due);
            }
            tokio::select! {
                () = tokio::time::sleep_until(look_again) => {}
                () = self.changed.notified() => {}
            }
        }
    }
}

/// One request and its response. Dropping it ends the request.
#[derive(Debug)]
pub(crate) struct Exchange {
    activity: Arc<Activity>,
    is_answered: bool,
}

impl Exchange {
    pub(crate) fn activity(&self) -> &Arc<Activity> {
        &self.activity
    }

    /// The handler has returned its response.
    pub(crate) fn answered(&mut self) {
        self.is_answered = true;
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        let mut state = self.activity.state.lock();
        state.requests -= 1;
        if self.is_answered {
            state.completed += 1;
        } else {
            state.cancelled += 1;
        }
        if state.requests == 0 {
            (state.idle_since, state.header_since) = (Instant::now(), None);
        }
        if state.verdict().is_some() {
            drop(state);
            self.activity.changed.notify_one();
        }
    }
}

#[cfg(test)]
#[path = "activity_tests.rs"]
mod tests;
