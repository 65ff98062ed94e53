//! The listener: accepts connections within limits, with or without TLS. At shutdown it accepts no new requests, lets
//! those in flight finish, and closes the connections of those that exceed the drain timeout.

use std::net::SocketAddr;
use std::os::fd::AsRawFd as _;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use ipnet::IpNet;
use rustls::ServerConfig;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use crate::connection::activity::{Activity, Deadlines};
use crate::connection::slots::{Admission, Refusal, Slot, Slots};
use crate::connection::{ConnectionServer, Phase};
use crate::metrics::ConnectionMetrics;

/// Connections that are not accepted yet; the system may allow fewer.
const CONNECTIONS_WAITING_MAX: u32 = 4096;
/// After an error the listener waits this long before it accepts again, twice as long after each further error.
const ACCEPT_PAUSE_MIN: Duration = Duration::from_millis(10);
const ACCEPT_PAUSE_MAX: Duration = Duration::from_secs(1);

/// The limits of one listener.
#[derive(Clone, Debug)]
pub struct ListenerLimits {
    pub connections_max: usize,
    /// Connections of one address (of one /64 of IPv6); 0: no limit.
    pub connections_per_address_max: usize,
    /// Addresses without that limit: proxies, behind which there are many clients.
    pub exempt_addresses: Vec<IpNet>,
    /// A connection whose file descriptor would have this number or a higher one is refused. The system hands out the
    /// lowest free number, so the descriptors above stay free for everything else in the process.
    pub descriptors_max: Option<u64>,
    pub deadlines: Deadlines,
    pub header_bytes_max: usize,
    /// How long requests in flight have to finish once the shutdown has begun.
    pub drain_timeout: Duration,
}

impl Default for ListenerLimits {
    fn default() -> Self {
        Self {
            connections_max: 10_000,
            connections_per_address_max: 0,
            exempt_addresses: Vec::new(),
            descriptors_max: None,
            deadlines: Deadlines::default(),
            header_bytes_max: 64 * 1024,
            drain_timeout: Duration::from_secs(10),
        }
    }
}

/// Starts the shutdown of every task that holds the receiver.
#[derive(Clone, Debug)]
pub struct ShutdownTrigger(watch::Sender<bool>);

impl ShutdownTrigger {
    pub fn new() -> (Self, watch::Receiver<bool>) {
        let (sender, receiver) = watch::channel(false);
        (Self(sender), receiver)
    }

    pub fn trigger(&self) {
        let _ = self.0.send(true);
    }
}

#[derive(Debug)]
pub struct Listener {
    tcp: TcpListener,
    tls: Option<Arc<ServerConfig>>,
    limits: ListenerLimits,
    metrics: ConnectionMetrics,
}

impl Listener {
    pub async fn bind(
        address: SocketAddr,
        tls: Option<Arc<ServerConfig>>,
        limits: ListenerLimits,
        metrics: ConnectionMetrics,
    ) -> std::io::Result<Self> {
        Ok(Self { tcp: listen(address)?, tls, limits, metrics })
    }

    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.tcp.local_addr()
    }

    /// Serves until the shutdown begins, then drains.
    pub async fn serve(self, router: Router, mut shutdown: watch::Receiver<bool>) {
        let Self { tcp, tls, limits, metrics } = self;
        let (phase, _) = watch::channel(Phase::Serving);
        let exempt = limits.exempt_addresses.clone();
        let slots = Arc::new(Slots::new(limits.connections_max, limits.connections_per_address_max, exempt));
        let (tls, limits) = (tls.map(TlsAcceptor::from), Arc::new(limits));
        let accepting = Accepting {
            slots,
            server: ConnectionServer { tls, limits: limits.clone(), metrics, router },
            phase: &phase,
        };
        tokio::select! {
            () = accepting.run(&tcp) => {}
            _ = shutdown.wait_for(|begun| *begun) => {}
        }
        drop(tcp);
        phase.send_replace(Phase::Draining);
        if tokio::time::timeout(limits.drain_timeout, phase.closed()).await.is_err() {
            tracing::warn!("some requests took too long to finish and were cut off");
            phase.send_replace(Phase::Cut);
            phase.closed().await;
        }
    }
}

/// With a long queue of connections that wait to be accepted: where it is full, the system drops connections that clients believe to be
/// open, and they wait in vain for an answer.
fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(CONNECTIONS_WAITING_MAX)
}

/// The listener while it accepts connections.
struct Accepting<'a> {
    slots: Arc<Slots>,
    server: ConnectionServer,
    /// Every connection holds a receiver, so that this is closed when all have ended.
    phase: &'a watch::Sender<Phase>,
}

impl Accepting<'_> {
    async fn run(&self, tcp: &TcpListener) {
        let mut pause = ACCEPT_PAUSE_MIN;
        loop {
            match tcp.accept().await {
                Ok((stream, peer)) => {
                    pause = ACCEPT_PAUSE_MIN;
                    let is_one_closing = self.start(stream, peer);
                    if is_one_closing {
                        // It closes before the next one is accepted, so that its descriptor is free again.
                        tokio::task::yield_now().await;
                    }
                }
                // The peer has given up already.
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionAborted => {}
                Err(error) => {
                    // Most likely the process is out of file descriptors: get one back, and do not spin meanwhile.
                    tracing::warn!(%error, "a connection could not be accepted");
                    self.server.metrics.accept_failed();
                    self.slots.free_one();
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(ACCEPT_PAUSE_MAX);
                }
            }
        }
    }

    /// Serves a connection or refuses it. Returns whether a connection closes: the refused one, or the one it replaces.
    fn start(&self, stream: TcpStream, peer: SocketAddr) -> bool {
        let activity = Activity::new(self.server.limits.deadlines, self.server.tls.is_some());
        let (slot, admission) = match self.admit(&stream, peer, activity.clone()) {
            Ok(admitted) => admitted,
            Err(refusal) => {
                self.server.metrics.refused(refusal);
                return true;
            }
        };
        let (server, phase, open) =
            (self.server.clone(), self.phase.subscribe(), self.server.metrics.opened());
        tokio::spawn(async move {
            server.serve(stream, peer, activity, phase).await;
            drop((slot, open));
        });
        admission == Admission::Replaced
    }

    fn admit(
        &self,
        stream: &TcpStream,
        peer: SocketAddr,
        activity: Arc<Activity>,
    ) -> Result<(Slot, Admission), Refusal> {
        let number = u64::try_from(stream.as_raw_fd()).unwrap_or(u64::MAX);
        if self.server.limits.descriptors_max.is_some_and(|max| number >= max) {
            self.slots.free_one();
            return Err(Refusal::Descriptors);
        }
        self.slots.take(peer.ip(), activity)
    }
}

/// The address of the connection's other end; an extension of every request.
#[derive(Clone, Copy, Debug)]
pub struct PeerAddress(pub SocketAddr);
