//! What the pool knows under its lock: who is idle where, and who waits.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::{Connection, Grant, Room, Shared};

#[derive(Default)]
pub(super) struct State {
    /// Sockets, used, idle and being dialled.
    pub(super) open: usize,
    /// The last number given to a connection or to a stay among the idle.
    pub(super) last_number: u64,
    pub(super) hosts: HashMap<Arc<str>, Host>,
    /// All idle stays, oldest first.
    pub(super) stays: BTreeMap<u64, Arc<str>>,
    /// Only while every socket is taken.
    pub(super) waiting: VecDeque<Waiter>,
    pub(super) is_swept: bool,
    pub(super) is_closed: bool,
}

#[derive(Default)]
pub(super) struct Host {
    pub(super) open: usize,
    /// Oldest first.
    pub(super) idle: Vec<Idle>,
    /// For one of its connections to be free, while there are many and all are in use.
    pub(super) waiting: VecDeque<oneshot::Sender<Connection>>,
}

pub(super) struct Idle {
    pub(super) stay: u64,
    pub(super) since: Instant,
    pub(super) connection: Connection,
}

/// What goes with a socket that is closed, to be dropped without the lock: the connection, if it was idle, and the promise
/// to one who need not wait any longer for another to be free.
type Left = (Option<Connection>, Option<oneshot::Sender<Connection>>);

pub(super) struct Waiter {
    pub(super) origin: Arc<str>,
    pub(super) fresh: bool,
    pub(super) promise: oneshot::Sender<Grant>,
}

impl Host {
    /// Those at the front of the queue that wait no more.
    pub(super) fn forget_the_gone(&mut self) {
        while self.waiting.front().is_some_and(oneshot::Sender::is_closed) {
            self.waiting.pop_front();
        }
    }
}

/// Nothing here drops a connection: what is taken out is handed to the caller, who drops it without the lock.
impl State {
    pub(super) fn number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    pub(super) fn enter(&mut self, shared: &Arc<Shared>, origin: &str) -> Room {
        self.open += 1;
        let number = self.number();
        let origin = match self.hosts.get_key_value(origin) {
            Some((origin, _)) => origin.clone(),
            None => origin.into(),
        };
        self.hosts.entry(origin.clone()).or_default().open += 1;
        Room { shared: shared.clone(), origin, number }
    }

    pub(super) fn leave(&mut self, origin: &Arc<str>, number: u64, eager_max: usize) -> Left {
        self.open -= 1;
        let Some(host) = self.hosts.get_mut(origin) else { return (None, None) };
        host.open -= 1;
        host.forget_the_gone();
        let promise = if host.open < eager_max.max(1) { host.waiting.pop_front() } else { None };
        let is_it = |idle: &Idle| idle.connection.number == number;
        let gone = host.idle.iter().position(is_it).map(|at| host.idle.remove(at));
        if host.open == 0 && host.idle.is_empty() && host.waiting.is_empty() {
            self.hosts.remove(origin);
        }
        let connection = gone.map(|idle| {
            self.stays.remove(&idle.stay);
            idle.connection
        });
        (connection, promise)
    }

    /// To the first who waits for a connection of this origin; nobody: here it is again.
    pub(super) fn hand_on(&mut self, mut connection: Connection) -> Option<Connection> {
        let Some(host) = self.hosts.get_mut(&connection.origin) else { return Some(connection) };
        while let Some(promise) = host.waiting.pop_front() {
            match promise.send(connection) {
                Ok(()) => return None,
                Err(refused) => connection = refused,
            }
        }
        Some(connection)
    }

    pub(super) fn put(&mut self, connection: Connection, idle_per_host_max: usize) -> Option<Connection> {
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

    pub(super) fn newest(&mut self, origin: &str) -> Option<Connection> {
        let host = self.hosts.get_mut(origin)?;
        let at = host.idle.iter().rposition(|idle| !idle.connection.sender.is_closed())?;
        let idle = host.idle.remove(at);
        self.stays.remove(&idle.stay);
        Some(idle.connection)
    }

    pub(super) fn oldest(&mut self) -> Option<Connection> {
        let (stay, origin) = self.stays.pop_first()?;
        let host = self.hosts.get_mut(&origin)?;
        let at = host.idle.iter().position(|idle| idle.stay == stay)?;
        Some(host.idle.remove(at).connection)
    }

    pub(super) fn oldest_since(&self) -> Option<Instant> {
        let (stay, origin) = self.stays.first_key_value()?;
        let idle = &self.hosts.get(origin)?.idle;
        idle.iter().find(|idle| idle.stay == *stay).map(|idle| idle.since)
    }

    pub(super) fn next_waiter(&mut self) -> Option<Waiter> {
        self.front_waiter()?;
        self.waiting.pop_front()
    }

    /// The first in the queue whose time has not run out.
    pub(super) fn front_waiter(&mut self) -> Option<&Waiter> {
        while self.waiting.front().is_some_and(|waiter| waiter.promise.is_closed()) {
            self.waiting.pop_front();
        }
        self.waiting.front()
    }
}
