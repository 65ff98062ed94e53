//! The listener: takes connections within bounds, with or without TLS, and ends in order: no new requests,
//! those under way finish, and what takes too long is cut off.

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

const BACKLOG_PAUSE: Duration = Duration::from_millis(50);

/// What one listener takes at the most.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub connections_max: usize,
    pub header_timeout: Duration,
    pub header_bytes_max: usize,
    pub handshake_timeout: Duration,
    /// How long requests under way have to finish once the end has been called.
    pub drain_timeout: Duration,
}

impl Default for Bounds {
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

/// Calls the end for all listeners that hold its other half.
#[derive(Clone, Debug)]
pub struct Stopper(watch::Sender<bool>);

impl Stopper {
    pub fn new() -> (Self, watch::Receiver<bool>) {
        let (sender, receiver) = watch::channel(false);
        (Self(sender), receiver)
    }

    pub fn stop(&self) {
        let _ = self.0.send(true);
    }
}

#[derive(Debug)]
pub struct Listener {
    tcp: TcpListener,
    tls: Option<Arc<ServerConfig>>,
    bounds: Bounds,
}

impl Listener {
    pub async fn bind(
        address: SocketAddr,
        tls: Option<Arc<ServerConfig>>,
        bounds: Bounds,
    ) -> std::io::Result<Self> {
        Ok(Self { tcp: TcpListener::bind(address).await?, tls, bounds })
    }

    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.tcp.local_addr()
    }

    /// Serves until the end is called, then drains.
    pub async fn serve(self, router: Router, mut stopped: watch::Receiver<bool>) {
        let connections = Arc::new(Semaphore::new(self.bounds.connections_max));
        let graceful = GracefulShutdown::new();
        let server = Server { tls: self.tls.map(TlsAcceptor::from), bounds: self.bounds };
        loop {
            let place = tokio::select! {
                place = connections.clone().acquire_owned() => place,
                _ = stopped.wait_for(|stop| *stop) => break,
            };
            let accepted = tokio::select! {
                accepted = self.tcp.accept() => accepted,
                _ = stopped.wait_for(|stop| *stop) => break,
            };
            let (stream, peer) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Out of file handles, most likely: let some connections end first.
                    tracing::warn!(%error, "a connection could not be accepted");
                    let _ = tokio::time::timeout(BACKLOG_PAUSE, stopped.wait_for(|stop| *stop)).await;
                    continue;
                }
            };
            let (server, router, watcher) = (server.clone(), router.clone(), graceful.watcher());
            tokio::spawn(async move {
                server.connection(stream, peer, router, watcher).await;
                drop(place);
            });
        }
        drop(self.tcp);
        if tokio::time::timeout(self.bounds.drain_timeout, graceful.shutdown()).await.is_err() {
            tracing::warn!("some requests took too long to finish and were cut off");
        }
    }
}

#[derive(Clone)]
struct Server {
    tls: Option<TlsAcceptor>,
    bounds: Bounds,
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
                match tokio::time::timeout(self.bounds.handshake_timeout, tls.accept(stream)).await {
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
            request.extensions_mut().insert(Peer(peer));
            // A router is always ready.
            router.clone().call(request)
        });
        let mut builder = Builder::new(TokioExecutor::new());
        builder
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(self.bounds.header_timeout)
            .max_buf_size(self.bounds.header_bytes_max.max(8192));
        builder
            .http2()
            .timer(TokioTimer::new())
            .max_header_list_size(u32::try_from(self.bounds.header_bytes_max).unwrap_or(u32::MAX));
        let connection = builder.serve_connection(TokioIo::new(stream), service);
        if let Err(error) = watcher.watch(connection.into_owned()).await {
            tracing::debug!(%error, "a connection ended early");
        }
    }
}

/// Who is at the other end of the connection.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub SocketAddr);
