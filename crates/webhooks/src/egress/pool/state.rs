//! The pool's state, which its lock protects: idle connections and waiting requests.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::{Connection, Grant, Shared, SocketPermit};

#[derive(Default)]
pub(super) struct State {
    /// All sockets: in use, idle and being dialled.
    pub(super) open: usize,
    /// The last number given to a connection, or to its entry among the idle ones.
    pub(super) last_number: u64,
    pub(super) hosts: HashMap<Arc<str>, Host>,
    /// The origins of all idle connections by `Idle::entry_id`, oldest first.
    pub(super) idle_order: BTreeMap<u64, Arc<str>>,
    /// Requests that wait for a socket; empty unless every socket is in use.
    pub(super) waiting: VecDeque<Waiter>,
    pub(super) has_sweeper: bool,
    pub(super) is_closed: bool,
}

#[derive(Default)]
pub(super) struct Host {
    pub(super) open: usize,
    /// Oldest first.
    pub(super) idle: Vec<Idle>,
    /// Requests that wait for a free connection of this host, while it has many and all are in use.
    pub(super) waiting: VecDeque<oneshot::Sender<Connection>>,
}

pub(super) struct Idle {
    pub(super) entry_id: u64,
    pub(super) since: Instant,
    pub(super) connection: Connection,
}

/// What a closed socket leaves behind, for the caller to drop without the lock: the connection, if it was idle, and the
/// sender of a request that need not wait for a free connection any longer.
type ClosedSocket = (Option<Connection>, Option<oneshot::Sender<Connection>>);

pub(super) struct Waiter {
    pub(super) origin: Arc<str>,
    pub(super) must_be_new: bool,
    pub(super) sender: oneshot::Sender<Grant>,
}

impl Host {
    /// Drops requests at the front of the queue that no longer wait.
    pub(super) fn drop_abandoned(&mut self) {
        while self.waiting.front().is_some_and(oneshot::Sender::is_closed) {
            self.waiting.pop_front();
        }
    }
}

/// No method drops a connection: it returns what it removes, and the caller drops it without the lock.
impl State {
    pub(super) fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    pub(super) fn open_socket(&mut self, shared: &Arc<Shared>, origin: &str) -> SocketPermit {
        self.open += 1;
        let number = self.next_number();
        let origin = match self.hosts.get_key_value(origin) {
            Some((origin, _)) => origin.clone(),
            None => origin.into(),
        };
        self.hosts.entry(origin.clone()).or_default().open += 1;
        SocketPermit { shared: shared.clone(), origin, number }
    }

    pub(super) fn close_socket(&mut self, origin: &Arc<str>, number: u64, eager_max: usize) -> ClosedSocket {
        self.open -= 1;
        let Some(host) = self.hosts.get_mut(origin) else { return (None, None) };
        host.open -= 1;
        host.drop_abandoned();
        let sender = if host.open < eager_max.max(1) { host.waiting.pop_front() } else { None };
        let is_it = |idle: &Idle| idle.connection.number == number;
        let removed = host.idle.iter().position(is_it).map(|at| host.idle.remove(at));
        if host.open == 0 && host.idle.is_empty() && host.waiting.is_empty() {
            self.hosts.remove(origin);
        }
        let connection = removed.map(|idle| {
            self.idle_order.remove(&idle.entry_id);
            idle.connection
        });
        (connection, sender)
    }

    /// Gives the connection to the first request that waits for one of its host; returns it if none waits.
    pub(super) fn hand_over(&mut self, mut connection: Connection) -> Option<Connection> {
        let Some(host) = self.hosts.get_mut(&connection.origin) else { return Some(connection) };
        while let Some(sender) = host.waiting.pop_front() {
            match sender.send(connection) {
                Ok(()) => return None,
                Err(refused) => connection = refused,
            }
        }
        Some(connection)
    }

    pub(super) fn add_idle(
        &mut self,
        connection: Connection,
        idle_per_host_max: usize,
    ) -> Option<Connection> {
        let (entry_id, origin) = (self.next_number(), connection.origin.clone());
        let Some(host) = self.hosts.get_mut(&origin) else { return Some(connection) };
        host.idle.push(Idle { entry_id, since: Instant::now(), connection });
        self.idle_order.insert(entry_id, origin);
        let surplus = (host.idle.len() > idle_per_host_max).then(|| host.idle.remove(0));
        surplus.map(|idle| {
            self.idle_order.remove(&idle.entry_id);
            idle.connection
        })
    }

    pub(super) fn take_newest_idle(&mut self, origin: &str) -> Option<Connection> {
        let host = self.hosts.get_mut(origin)?;
        let at = host.idle.iter().rposition(|idle| !idle.connection.sender.is_closed())?;
        let idle = host.idle.remove(at);
        self.idle_order.remove(&idle.entry_id);
        Some(idle.connection)
    }

    pub(super) fn take_oldest_idle(&mut self) -> Option<Connection> {
        let (entry_id, origin) = self.idle_order.pop_first()?;
        let host = self.hosts.get_mut(&origin)?;
        let at = host.idle.iter().position(|idle| idle.entry_id == entry_id)?;
        Some(host.idle.remove(at).connection)
    }

    pub(super) fn oldest_idle_since(&self) -> Option<Instant> {
        let (entry_id, origin) = self.idle_order.first_key_value()?;
        let idle = &self.hosts.get(origin)?.idle;
        idle.iter().find(|idle| idle.entry_id == *entry_id).map(|idle| idle.since)
    }

    pub(super) fn next_waiter(&mut self) -> Option<Waiter> {
        self.front_waiter()?;
        self.waiting.pop_front()
    }

    /// The first request in the queue that still waits.
    pub(super) fn front_waiter(&mut self) -> Option<&Waiter> {
        while self.waiting.front().is_some_and(|waiter| waiter.sender.is_closed()) {
            self.waiting.pop_front();
        }
        self.waiting.front()
    }
}
