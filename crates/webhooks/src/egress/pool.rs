//! The connection pool: a stack of idle connections for each origin, one limit for all sockets, and a fair queue for
//! them. An origin that has many connections gets another one only where none becomes free for a while.

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

use super::metered_stream::Meter;
use state::{State, Waiter};

/// How much longer a request waits for a free connection for each request that waits already. It limits how fast the
/// number of connections to an origin grows.
const GROWTH_STEP: Duration = Duration::from_micros(250);
/// A request waits at most this fraction (1/10) of its remaining time before it opens a connection of its own.
const GROWTH_WAIT_DIVISOR: u32 = 10;

/// Owns the idle connections: dropping the pool closes them.
pub(super) struct Pool(Arc<Shared>);

/// An open connection; a task of its own drives the socket. Dropping it closes the connection in order.
pub(super) struct Connection {
    pub(super) sender: SendRequest<Full<Bytes>>,
    task: AbortHandle,
    meter: Meter,
    number: u64,
    origin: Arc<str>,
}

/// A connection in use. [`Lease::put_back`] returns it to the pool when its response is complete; dropping it aborts the
/// connection.
pub(super) struct Lease {
    connection: Option<Connection>,
    shared: Arc<Shared>,
    pub(super) reused: bool,
}

/// Permission for one socket, held from before it is dialled until it is closed.
pub(super) struct SocketPermit {
    shared: Arc<Shared>,
    origin: Arc<str>,
    number: u64,
}

/// What a request gets: a connection, or permission to open one.
pub(super) enum Grant {
    Connection(Lease),
    Socket(SocketPermit),
}

#[allow(clippy::struct_field_names, reason = "limits end in _max")]
pub(super) struct Limits {
    pub(super) sockets_max: usize,
    pub(super) idle_per_host_max: usize,
    pub(super) idle_max: Duration,
    pub(super) eager_per_host_max: usize,
    pub(super) grow_after: Duration,
}

struct Shared {
    limits: Limits,
    state: Mutex<State>,
}

impl Pool {
    pub(super) fn new(limits: Limits) -> Self {
        Self(Arc::new(Shared { limits, state: Mutex::default() }))
    }

    /// The newest idle connection to `origin` (unless `must_be_new`), or permission to open one. Where every socket is in
    /// use it waits in the queue, and closes the oldest idle connection to make room. `None` once the pool is dropped.
    pub(super) async fn take(&self, origin: &str, must_be_new: bool, deadline: Instant) -> Option<Grant> {
        if !must_be_new && let Some(connection) = self.wait_for_free(origin, deadline).await {
            return Some(Grant::Connection(Lease::new(connection, &self.0, true)));
        }
        let receiver = {
            let mut state = self.0.state.lock();
            if !must_be_new && let Some(connection) = state.take_newest_idle(origin) {
                drop(state);
                return Some(Grant::Connection(Lease::new(connection, &self.0, true)));
            }
            if state.open < self.0.limits.sockets_max {
                return Some(Grant::Socket(state.open_socket(&self.0, origin)));
            }
            let (sender, receiver) = oneshot::channel();
            state.waiting.push_back(Waiter { origin: origin.into(), must_be_new, sender });
            let oldest = state.take_oldest_idle();
            drop(state);
            drop(oldest);
            receiver
        };
        receiver.await.ok()
    }

    /// An idle connection to `origin`; where it has many, also one that becomes free within a short wait. Where the socket
    /// limit is reached it does not wait here, because then the queue for sockets decides.
    async fn wait_for_free(&self, origin: &str, deadline: Instant) -> Option<Connection> {
        let (mut receiver, pause) = {
            let mut state = self.0.state.lock();
            if let Some(connection) = state.take_newest_idle(origin) {
                return Some(connection);
            }
            let limits = &self.0.limits;
            if state.open >= limits.sockets_max {
                return None;
            }
            let host = state.hosts.get_mut(origin).filter(|host| host.open >= limits.eager_per_host_max)?;
            host.drop_abandoned();
            let longer = GROWTH_STEP.saturating_mul(u32::try_from(host.waiting.len()).unwrap_or(u32::MAX));
            let (sender, receiver) = oneshot::channel();
            host.waiting.push_back(sender);
            let remaining = deadline.saturating_duration_since(Instant::now());
            (receiver, limits.grow_after.saturating_add(longer).min(remaining / GROWTH_WAIT_DIVISOR))
        };
        if let Ok(connection) = timeout(pause, &mut receiver).await {
            return connection.ok();
        }
        // A connection may have been sent just now.
        receiver.close();
        receiver.try_recv().ok()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.is_closed = true;
        state.idle_order.clear();
        let idle: Vec<_> = state.hosts.values_mut().map(|host| std::mem::take(&mut host.idle)).collect();
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        drop((idle, waiting));
    }
}

impl SocketPermit {
    /// Uses the permit for an opened connection; `drive` runs its socket until it is closed.
    pub(super) fn attach<F>(self, sender: SendRequest<Full<Bytes>>, drive: F, meter: Meter) -> Lease
    where
        F: Future<Output = hyper::Result<()>> + Send + 'static,
    {
        let (origin, number, shared) = (self.origin.clone(), self.number, self.shared.clone());
        let task = tokio::spawn(async move {
            // Dropped last, however the task ends: the permit is free when the socket is closed.
            let _permit = self;
            if let Err(error) = drive.await {
                tracing::trace!(%error, "a connection to a receiver ended");
            }
        });
        let connection = Connection { sender, task: task.abort_handle(), meter, number, origin };
        Lease::new(connection, &shared, false)
    }
}

impl Drop for SocketPermit {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        let closed = state.close_socket(&self.origin, self.number, self.shared.limits.eager_per_host_max);
        let next = state
            .next_waiter()
            .map(|waiter| (waiter.sender, state.open_socket(&self.shared, &waiter.origin)));
        drop(state);
        // Dropping a sender makes the request that waited for a free connection open its own.
        drop(closed);
        if let Some((sender, permit)) = next {
            // A request that has just stopped waiting returns the permit, and the next in the queue gets it.
            drop(sender.send(Grant::Socket(permit)));
        }
    }
}

impl Lease {
    fn new(connection: Connection, shared: &Arc<Shared>, reused: bool) -> Self {
        Self { connection: Some(connection), shared: shared.clone(), reused }
    }

    /// The connection, for one more request.
    pub(super) fn sender(&mut self) -> Option<&mut SendRequest<Full<Bytes>>> {
        let connection = self.connection.as_mut()?;
        connection.meter.reset();
        Some(&mut connection.sender)
    }

    /// Returns the connection to the pool for the next request.
    pub(super) fn put_back(mut self) {
        if let Some(connection) = self.connection.take() {
            self.shared.put_back(connection);
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
    fn put_back(self: &Arc<Self>, connection: Connection) {
        let mut state = self.state.lock();
        if state.is_closed || connection.sender.is_closed() {
            drop(state);
            return;
        }
        match state.front_waiter() {
            Some(waiter) if waiter.origin == connection.origin && !waiter.must_be_new => {
                let waiter = state.waiting.pop_front();
                drop(state);
                let lease = Lease::new(connection, self, true);
                if let Some(Err(Grant::Connection(mut lease))) =
                    waiter.map(|waiter| waiter.sender.send(Grant::Connection(lease)))
                    && let Some(connection) = lease.connection.take()
                {
                    // The request has just stopped waiting.
                    self.put_back(connection);
                }
            }
            // Another origin is first in the queue: this connection closes, and its permit goes to the queue.
            Some(_) => drop(state),
            None => {
                let Some(connection) = state.hand_over(connection) else { return };
                let surplus = state.add_idle(connection, self.limits.idle_per_host_max);
                let needs_sweeper = !std::mem::replace(&mut state.has_sweeper, true);
                drop(state);
                drop(surplus);
                if needs_sweeper {
                    tokio::spawn(sweep(Arc::downgrade(self)));
                }
            }
        }
    }

    /// Removes connections that have been idle for too long; returns them, and when the next one will have been.
    fn expire(&self, now: Instant) -> (Vec<Connection>, Option<Instant>) {
        let mut state = self.state.lock();
        let mut expired = Vec::new();
        loop {
            match state.oldest_idle_since().map(|since| since + self.limits.idle_max) {
                Some(end) if end <= now => expired.extend(state.take_oldest_idle()),
                Some(end) => return (expired, Some(end)),
                None => {
                    state.has_sweeper = false;
                    return (expired, None);
                }
            }
        }
    }
}

/// Closes idle connections when their time is over. It ends when none is idle or the pool is dropped, so it is no task for
/// the supervisor. Were it to fail, idle connections would live until the receiver or a limit of the pool closes them.
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
