//! Connections that are kept: a stack for each origin, one bound over all sockets, and a fair queue for them. An origin
//! with many connections gets more of them one by one, and only where none becomes free.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1::SendRequest;
use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout};

/// How much longer each call waits for a connection to be free than the one before it, and how long at the most: so fast
/// does the number of connections to an origin grow.
const GROWTH_STEP: Duration = Duration::from_micros(250);
const GROWTH_PAUSE_MAX: Duration = Duration::from_secs(1);

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

#[derive(Default)]
struct State {
    /// Sockets, used, idle and being dialled.
    open: usize,
    /// The last number given to a connection or to a stay among the idle.
    last_number: u64,
    hosts: HashMap<Arc<str>, Host>,
    /// All idle stays, oldest first.
    stays: BTreeMap<u64, Arc<str>>,
    /// Only while every socket is taken.
    waiting: VecDeque<Waiter>,
    is_swept: bool,
    is_closed: bool,
}

#[derive(Default)]
struct Host {
    open: usize,
    /// Oldest first.
    idle: Vec<Idle>,
    /// For one of its connections to be free, while there are many and all are in use.
    waiting: VecDeque<oneshot::Sender<Connection>>,
}

struct Idle {
    stay: u64,
    since: Instant,
    connection: Connection,
}

struct Waiter {
    origin: Arc<str>,
    fresh: bool,
    promise: oneshot::Sender<Grant>,
}

impl Pool {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self(Arc::new(Shared { bounds, state: Mutex::default() }))
    }

    /// The newest idle connection to `origin` (unless it must be a fresh one), or room to open one. Where every
    /// socket is busy it waits its turn; where one is idle elsewhere, that one is closed. Nothing once the pool ends.
    pub(super) async fn take(&self, origin: &str, fresh: bool) -> Option<Grant> {
        if !fresh && let Some(connection) = self.free(origin).await {
            return Some(Grant::Connection(Lease::new(connection, &self.0, true)));
        }
        let turn = {
            let mut state = self.0.state.lock();
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

    /// A connection to `origin` that is idle; where it has many, also one that soon will be.
    async fn free(&self, origin: &str) -> Option<Connection> {
        let (mut turn, pause) = {
            let mut state = self.0.state.lock();
            if let Some(connection) = state.newest(origin) {
                return Some(connection);
            }
            let bounds = &self.0.bounds;
            let host = state.hosts.get_mut(origin).filter(|host| host.open >= bounds.eager_per_host_max)?;
            host.forget_the_gone();
            let longer = GROWTH_STEP.saturating_mul(u32::try_from(host.waiting.len()).unwrap_or(u32::MAX));
            let (promise, turn) = oneshot::channel();
            host.waiting.push_back(promise);
            (turn, bounds.grow_after.saturating_add(longer.min(GROWTH_PAUSE_MAX)))
        };
        if let Ok(turn) = timeout(pause, &mut turn).await {
            return turn.ok();
        }
        // It may have come at this very moment.
        turn.close();
        turn.try_recv().ok()
    }
}

impl Host {
    /// Those at the front of the queue that wait no more.
    fn forget_the_gone(&mut self) {
        while self.waiting.front().is_some_and(oneshot::Sender::is_closed) {
            self.waiting.pop_front();
        }
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
        let gone = state.leave(&self.origin, self.number);
        let next =
            state.next_waiter().map(|waiter| (waiter.promise, state.enter(&self.shared, &waiter.origin)));
        drop(state);
        drop(gone);
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

/// Nothing here drops a connection: what is taken out is handed to the caller, who drops it without the lock.
impl State {
    fn number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    fn enter(&mut self, shared: &Arc<Shared>, origin: &str) -> Room {
        self.open += 1;
        let number = self.number();
        let origin = match self.hosts.get_key_value(origin) {
            Some((origin, _)) => origin.clone(),
            None => origin.into(),
        };
        self.hosts.entry(origin.clone()).or_default().open += 1;
        Room { shared: shared.clone(), origin, number }
    }

    fn leave(&mut self, origin: &Arc<str>, number: u64) -> Option<Connection> {
        self.open -= 1;
        let host = self.hosts.get_mut(origin)?;
        host.open -= 1;
        let is_it = |idle: &Idle| idle.connection.number == number;
        let gone = host.idle.iter().position(is_it).map(|at| host.idle.remove(at));
        if host.open == 0 && host.idle.is_empty() {
            self.hosts.remove(origin);
        }
        gone.map(|idle| {
            self.stays.remove(&idle.stay);
            idle.connection
        })
    }

    /// To the first who waits for a connection of this origin; nobody: here it is again.
    fn hand_on(&mut self, mut connection: Connection) -> Option<Connection> {
        let Some(host) = self.hosts.get_mut(&connection.origin) else { return Some(connection) };
        while let Some(promise) = host.waiting.pop_front() {
            match promise.send(connection) {
                Ok(()) => return None,
                Err(refused) => connection = refused,
            }
        }
        Some(connection)
    }

    fn put(&mut self, connection: Connection, idle_per_host_max: usize) -> Option<Connection> {
        let (stay, origin) = (self.number(), connection.origin.clone());
        let Some(host) = self.hosts.get_mut(&origin) else { return Some(connection) };
        host.idle.push(Idle { stay, since: Instant::now(), connection });
        self.stays.insert(stay, origin);
        let surplus = (host.idle.len() > idle_per_host_max).then(|| host.idle.remove(0));
        surplus.map(|idle| {
            self.stays.remove(&idle.stay);
            idle.connection
        })
    }

    fn newest(&mut self, origin: &str) -> Option<Connection> {
        let host = self.hosts.get_mut(origin)?;
        let at = host.idle.iter().rposition(|idle| !idle.connection.sender.is_closed())?;
        let idle = host.idle.remove(at);
        self.stays.remove(&idle.stay);
        Some(idle.connection)
    }

    fn oldest(&mut self) -> Option<Connection> {
        let (stay, origin) = self.stays.pop_first()?;
        let host = self.hosts.get_mut(&origin)?;
        let at = host.idle.iter().position(|idle| idle.stay == stay)?;
        Some(host.idle.remove(at).connection)
    }

    fn oldest_since(&self) -> Option<Instant> {
        let (stay, origin) = self.stays.first_key_value()?;
        let idle = &self.hosts.get(origin)?.idle;
        idle.iter().find(|idle| idle.stay == *stay).map(|idle| idle.since)
    }

    fn next_waiter(&mut self) -> Option<Waiter> {
        self.front_waiter()?;
        self.waiting.pop_front()
    }

    /// The first in the queue whose time has not run out.
    fn front_waiter(&mut self) -> Option<&Waiter> {
        while self.waiting.front().is_some_and(|waiter| waiter.promise.is_closed()) {
            self.waiting.pop_front();
        }
        self.waiting.front()
    }
}
