//! The listener: accepts connections within limits, with or without TLS. At shutdown it accepts no new requests, lets
//! those in flight finish, and closes the connections of those that exceed the drain timeout.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio_rustls::TlsAcceptor;
use tower::Service as _;

const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);

/// The limits of one listener.
#[derive(Clone, Copy, Debug)]
pub struct ListenerLimits {
    pub connections_max: usize,
    pub header_timeout: Duration,
    pub header_bytes_max: usize,
    pub handshake_timeout: Duration,
    /// How long requests in flight have to finish once the shutdown has begun.
    pub drain_timeout: Duration,
}

impl Default for ListenerLimits {
    fn default() -> Self {
        Self {
            connections_max: 10_000,
            header_timeout: Duration::from_secs(10),
            header_bytes_max: 64 * 1024,
            handshake_timeout: Duration::from_secs(10),
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
}

impl Listener {
    pub async fn bind(
        address: SocketAddr,
        tls: Option<Arc<ServerConfig>>,
        limits: ListenerLimits,
    ) -> std::io::Result<Self> {
        Ok(Self { tcp: TcpListener::bind(address).await?, tls, limits })
    }

    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.tcp.local_addr()
    }

    /// Serves until the shutdown begins, then drains.
    pub async fn serve(self, router: Router, mut shutdown: watch::Receiver<bool>) {
        let connections = Arc::new(Semaphore::new(self.limits.connections_max));
        let graceful = GracefulShutdown::new();
        let server = Server { tls: self.tls.map(TlsAcceptor::from), limits: self.limits };
        loop {
            let permit = tokio::select! {
                permit = connections.clone().acquire_owned() => permit,
                _ = shutdown.wait_for(|begun| *begun) => break,
            };
            let accepted = tokio::select! {
                accepted = self.tcp.accept() => accepted,
                _ = shutdown.wait_for(|begun| *begun) => break,
            };
            let (stream, peer) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Most likely the process is out of file handles: wait until some connections have closed.
                    tracing::warn!(%error, "a connection could not be accepted");
                    let begun = shutdown.wait_for(|begun| *begun);
                    let _ = tokio::time::timeout(ACCEPT_RETRY_DELAY, begun).await;
                    continue;
                }
            };
            let (server, router, watcher) = (server.clone(), router.clone(), graceful.watcher());
            tokio::spawn(async move {
                server.connection(stream, peer, router, watcher).await;
                drop(permit);
            });
        }
        drop(self.tcp);
        if tokio::time::timeout(self.limits.drain_timeout, graceful.shutdown()).await.is_err() {
            tracing::warn!("some requests took too long to finish and were cut off");
        }
    }
}

#[derive(Clone)]
struct Server {
    tls: Option<TlsAcceptor>,
    limits: ListenerLimits,
}

impl Server {
    async fn connection(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        router: Router,
        watcher: hyper_util::server::graceful::Watcher,
    ) {
        let _ = stream.set_nodelay(true);
        match &self.tls {
            None => self.http(stream, peer, router, watcher).await,
            Some(tls) => {
                match tokio::time::timeout(self.limits.handshake_timeout, tls.accept(stream)).await {
                    Ok(Ok(stream)) => self.http(stream, peer, router, watcher).await,
                    Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
                    Err(_) => tracing::debug!("a TLS handshake took too long"),
                }
            }
        }
    }

    async fn http<S>(
        &self,
        stream: S,
        peer: SocketAddr,
        router: Router,
        watcher: hyper_util::server::graceful::Watcher,
    ) where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(PeerAddress(peer));
            // An axum router is always ready, so `poll_ready` is not needed.
            router.clone().call(request)
        });
        let mut builder = Builder::new(TokioExecutor::new());
        builder
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.header_timeout)
            .max_buf_size(self.limits.header_bytes_max.max(8192));
        builder
            .http2()
            .timer(TokioTimer::new())
            .max_header_list_size(u32::try_from(self.limits.header_bytes_max).unwrap_or(u32::MAX));
        let connection = builder.serve_connection(TokioIo::new(stream), service);
        if let Err(error) = watcher.watch(connection.into_owned()).await {
            tracing::debug!(%error, "a connection ended early");
        }
    }
}

/// The address of the connection's other end; an extension of every request.
#[derive(Clone, Copy, Debug)]
pub struct PeerAddress(pub SocketAddr);
