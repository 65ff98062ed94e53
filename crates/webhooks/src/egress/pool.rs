//! Connections that are kept: a stack for each origin, one bound over all sockets, and a fair queue for them. An origin
//! with many connections gets more of them one by one, and only where none becomes free.

mod state;

use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1::SendRequest;
use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout};

use state::{State, Waiter};

/// How much longer a call waits for a connection to be free for each that waits already: so fast, at the most, does the
/// number of connections to an origin grow.
const GROWTH_STEP: Duration = Duration::from_micros(250);
/// Nor does it wait for more than this part of the time that it has left.
const GROWTH_PART: u32 = 10;

/// The pool's owner; with it go the connections that nobody uses.
pub(super) struct Pool(Arc<Shared>);

/// An open connection; its socket lives in a task of its own. Let go, it is closed in good order.
pub(super) struct Connection {
    pub(super) sender: SendRequest<Full<Bytes>>,
    task: AbortHandle,
    number: u64,
    origin: Arc<str>,
}

/// A connection in use: [kept](Lease::keep) when its answer is complete, else cut off where it stands.
pub(super) struct Lease {
    connection: Option<Connection>,
    shared: Arc<Shared>,
    pub(super) reused: bool,
}

/// The right to one socket, from before it is dialled until it is closed.
pub(super) struct Room {
    shared: Arc<Shared>,
    origin: Arc<str>,
    number: u64,
}

/// What a call gets: a connection, or room for one.
pub(super) enum Grant {
    Connection(Lease),
    Room(Room),
}

#[allow(clippy::struct_field_names, reason = "what is bounded says so in its name")]
pub(super) struct Bounds {
    pub(super) sockets_max: usize,
    pub(super) idle_per_host_max: usize,
    pub(super) idle_max: Duration,
    pub(super) eager_per_host_max: usize,
    pub(super) grow_after: Duration,
}

struct Shared {
    bounds: Bounds,
    state: Mutex<State>,
}

impl Pool {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self(Arc::new(Shared { bounds, state: Mutex::default() }))
    }

    /// The newest idle connection to `origin` (unless it must be a fresh one), or room to open one. Where every
    /// socket is busy it waits its turn; where one is idle elsewhere, that one is closed. Nothing once the pool ends.
    pub(super) async fn take(&self, origin: &str, fresh: bool, deadline: Instant) -> Option<Grant> {
        if !fresh && let Some(connection) = self.free(origin, deadline).await {
            return Some(Grant::Connection(Lease::new(connection, &self.0, true)));
        }
        let turn = {
            let mut state = self.0.state.lock();
            if !fresh && let Some(connection) = state.newest(origin) {
                drop(state);
                return Some(Grant::Connection(Lease::new(connection, &self.0, true)));
            }
            if state.open < self.0.bounds.sockets_max {
                return Some(Grant::Room(state.enter(&self.0, origin)));
            }
            let (promise, turn) = oneshot::channel();
            state.waiting.push_back(Waiter { origin: origin.into(), fresh, promise });
            let oldest = state.oldest();
            drop(state);
            drop(oldest);
            turn
        };
        turn.await.ok()
    }

    /// A connection to `origin` that is idle; where it has many, also one that soon will be. Where every socket is taken
    /// the queue for all is the only one.
    async fn free(&self, origin: &str, deadline: Instant) -> Option<Connection> {
        let (mut turn, pause) = {
            let mut state = self.0.state.lock();
            if let Some(connection) = state.newest(origin) {
                return Some(connection);
            }
            let bounds = &self.0.bounds;
            if state.open >= bounds.sockets_max {
                return None;
            }
            let host = state.hosts.get_mut(origin).filter(|host| host.open >= bounds.eager_per_host_max)?;
            host.forget_the_gone();
            let longer = GROWTH_STEP.saturating_mul(u32::try_from(host.waiting.len()).unwrap_or(u32::MAX));
            let (promise, turn) = oneshot::channel();
            host.waiting.push_back(promise);
            let left = deadline.saturating_duration_since(Instant::now());
            (turn, bounds.grow_after.saturating_add(longer).min(left / GROWTH_PART))
        };
        if let Ok(turn) = timeout(pause, &mut turn).await {
            return turn.ok();
        }
        // It may have come at this very moment.
        turn.close();
        turn.try_recv().ok()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.is_closed = true;
        state.stays.clear();
        let idle: Vec<_> = state.hosts.values_mut().map(|host| std::mem::take(&mut host.idle)).collect();
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        drop((idle, waiting));
    }
}

impl Room {
    /// Puts an opened connection into this room; `drive` runs its socket until it is closed.
    pub(super) fn fill<F>(self, sender: SendRequest<Full<Bytes>>, drive: F) -> Lease
    where
        F: Future<Output = hyper::Result<()>> + Send + 'static,
    {
        let (origin, number, shared) = (self.origin.clone(), self.number, self.shared.clone());
        let task = tokio::spawn(async move {
            // Dropped last, in whatever way this ends: the room is free when the socket is closed.
            let _room = self;
            if let Err(error) = drive.await {
                tracing::trace!(%error, "a connection to a receiver ended");
            }
        });
        let connection = Connection { sender, task: task.abort_handle(), number, origin };
        Lease::new(connection, &shared, false)
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        let left = state.leave(&self.origin, self.number, self.shared.bounds.eager_per_host_max);
        let next =
            state.next_waiter().map(|waiter| (waiter.promise, state.enter(&self.shared, &waiter.origin)));
        drop(state);
        // A broken promise: who waited for a connection to be free opens one.
        drop(left);
        if let Some((promise, room)) = next {
            // Who has just stopped waiting gives the room back, and the next in the queue gets it.
            drop(promise.send(Grant::Room(room)));
        }
    }
}

impl Lease {
    fn new(connection: Connection, shared: &Arc<Shared>, reused: bool) -> Self {
        Self { connection: Some(connection), shared: shared.clone(), reused }
    }

    pub(super) fn sender(&mut self) -> Option<&mut SendRequest<Full<Bytes>>> {
        self.connection.as_mut().map(|connection| &mut connection.sender)
    }

    /// Gives the connection back for the next call.
    pub(super) fn keep(mut self) {
        if let Some(connection) = self.connection.take() {
            self.shared.keep(connection);
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(connection) = &self.connection {
            connection.task.abort();
        }
    }
}

impl Shared {
    fn keep(self: &Arc<Self>, connection: Connection) {
        let mut state = self.state.lock();
        if state.is_closed || connection.sender.is_closed() {
            drop(state);
            return;
        }
        match state.front_waiter() {
            Some(waiter) if waiter.origin == connection.origin && !waiter.fresh => {
                let waiter = state.waiting.pop_front();
                drop(state);
                let lease = Lease::new(connection, self, true);
                if let Some(Err(Grant::Connection(mut lease))) =
                    waiter.map(|waiter| waiter.promise.send(Grant::Connection(lease)))
                    && let Some(connection) = lease.connection.take()
                {
                    // It stopped waiting at this very moment.
                    self.keep(connection);
                }
            }
            // Another origin's turn: this one closes, and its room goes to the queue.
            Some(_) => drop(state),
            None => {
                let Some(connection) = state.hand_on(connection) else { return };
                let surplus = state.put(connection, self.bounds.idle_per_host_max);
                let sweeper_starts = !std::mem::replace(&mut state.is_swept, true);
                drop(state);
                drop(surplus);
                if sweeper_starts {
                    tokio::spawn(sweep(Arc::downgrade(self)));
                }
            }
        }
    }

    /// Takes out what has been idle for too long; and says when the next one will have been.
    fn expire(&self, now: Instant) -> (Vec<Connection>, Option<Instant>) {
        let mut state = self.state.lock();
        let mut expired = Vec::new();
        loop {
            match state.oldest_since().map(|since| since + self.bounds.idle_max) {
                Some(end) if end <= now => expired.extend(state.oldest()),
                Some(end) => return (expired, Some(end)),
                None => {
                    state.is_swept = false;
                    return (expired, None);
                }
            }
        }
    }
}

/// Closes idle connections when their time is over; ends with the last of them.
async fn sweep(shared: Weak<Shared>) {
    while let Some(shared) = shared.upgrade() {
        let (expired, next) = shared.expire(Instant::now());
        drop(expired);
        drop(shared);
        match next {
            Some(next) => tokio::time::sleep_until(next).await,
            None => return,
        }
    }
}
