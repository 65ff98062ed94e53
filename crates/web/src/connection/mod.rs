//! One connection: TLS, HTTP/1 or HTTP/2, and its end when its peer misses a deadline, a new connection takes its
//! place, or the service stops.

pub(crate) mod activity;
pub(crate) mod bodies;
pub(crate) mod slots;
mod stream;

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::Version;
use hyper::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tower::Service as _;

use activity::{Activity, CloseReason};
use bodies::{RequestBody, ResponseBody};
use stream::MonitoredStream;

use crate::listener::{ListenerLimits, PeerAddress};
use crate::metrics::ConnectionMetrics;

/// Requests at the same time on one HTTP/2 connection.
const STREAMS_MAX: u32 = 100;
/// HTTP/2 streams that the client may have reset before the server took them up.
const RESET_STREAMS_MAX: usize = 20;
/// HTTP/2 streams that the server may have reset because of the client's errors.
const ERROR_STREAMS_MAX: usize = 100;
/// What the server buffers of one HTTP/2 response.
const SEND_BUFFER_BYTES: usize = 64 * 1024;
/// What a client may send before a handler reads it, on one HTTP/2 stream and on all of a connection.
const STREAM_WINDOW_BYTES: u32 = 256 * 1024;
const CONNECTION_WINDOW_BYTES: u32 = 1024 * 1024;
/// The smallest buffer that the HTTP/1 library allows.
const BUFFER_BYTES_MIN: usize = 8192;

fn is_timeout(error: &(dyn std::error::Error + Send + Sync + 'static)) -> bool {
    error.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_timeout)
}

/// How far the service's shutdown is, as connections see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    Serving,
    /// Requests in progress finish; there are no new ones.
    Draining,
    /// Everything closes.
    Cut,
}

/// What the connections of one listener share.
#[derive(Clone)]
pub(crate) struct ConnectionServer {
    pub(crate) tls: Option<TlsAcceptor>,
    pub(crate) limits: Arc<ListenerLimits>,
    pub(crate) metrics: ConnectionMetrics,
    pub(crate) router: Router,
}

impl ConnectionServer {
    /// Serves one connection to its end.
    pub(crate) async fn serve(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        activity: Arc<Activity>,
        mut phase: watch::Receiver<Phase>,
    ) {
        let _ = stream.set_nodelay(true);
        let stream = MonitoredStream::new(stream, activity.clone());
        let Some(tls) = &self.tls else {
            return self.http(stream, peer, activity, phase).await;
        };
        let accepted = tokio::select! {
            accepted = tls.accept(stream) => accepted,
            reason = activity.expired() => return self.metrics.closed(reason),
            _ = phase.wait_for(|phase| *phase > Phase::Serving) => return,
        };
        match accepted {
            Ok(stream) => {
                activity.handshake_done();
                self.http(stream, peer, activity, phase).await;
            }
            Err(error) => tracing::debug!(%error, "a TLS handshake failed"),
        }
    }

    async fn http<S>(
        &self,
        stream: S,
        peer: SocketAddr,
        activity: Arc<Activity>,
        mut phase: watch::Receiver<Phase>,
    ) where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (server, of_requests) = (self.clone(), activity.clone());
        let service = service_fn(move |request: Request<Incoming>| server.call(request, peer, &of_requests));
        let builder = self.builder();
        let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
        let mut seen = Phase::Serving;
        loop {
            tokio::select! {
                ended = connection.as_mut() => {
                    if let Err(error) = ended {
                        // An HTTP/2 client that answers no ping takes nothing either.
                        if is_timeout(&*error) && activity.begin_closing(CloseReason::Write) {
                            self.metrics.closed(CloseReason::Write);
                        }
                        tracing::debug!(%error, "a connection ended early");
                    }
                    return;
                }
                reason = activity.expired() => {
                    let is_first = activity.begin_closing(reason);
                    if is_first {
                        self.metrics.closed(reason);
                    }
                    if !is_first || !reason.is_gentle() || activity.must_close_now() {
                        return;
                    }
                }
                reached = next_phase(&mut phase, seen) => {
                    if reached == Phase::Cut {
                        return;
                    }
                    seen = reached;
                    activity.begin_closing(CloseReason::Shutdown);
                }
            }
            // HTTP/1: the response in progress is the last one. HTTP/2: GOAWAY.
            connection.as_mut().graceful_shutdown();
        }
    }

    fn call(
        &self,
        request: Request<Incoming>,
        peer: SocketAddr,
        activity: &Arc<Activity>,
    ) -> impl Future<Output = Result<hyper::Response<ResponseBody>, std::convert::Infallible>> + use<> {
        let is_http2 = request.version() == Version::HTTP_2;
        let mut exchange = activity.begin_request(request.version());
        let (deadline, metrics) = (self.limits.deadlines.body, self.metrics.clone());
        let mut request =
            request.map(|body| Body::new(RequestBody::new(body, deadline, activity.clone(), metrics)));
        request.extensions_mut().insert(PeerAddress(peer));
        // An axum router is always ready, so `poll_ready` is not needed.
        let answering = self.router.clone().call(request);
        async move {
            let response = answering.await?;
            exchange.answered();
            Ok(response.map(|body| ResponseBody::new(body, exchange, is_http2)))
        }
    }

    fn builder(&self) -> Builder<TokioExecutor> {
        let ListenerLimits { header_bytes_max, deadlines, .. } = &*self.limits;
        let mut builder = Builder::new(TokioExecutor::new());
        // The connection's activity has the deadlines for headers and for idle connections.
        builder
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(None)
            .max_buf_size((*header_bytes_max).max(BUFFER_BYTES_MIN));
        builder
            .http2()
            .timer(TokioTimer::new())
            .max_header_list_size(u32::try_from(*header_bytes_max).unwrap_or(u32::MAX))
            .max_concurrent_streams(STREAMS_MAX)
            .max_pending_accept_reset_streams(RESET_STREAMS_MAX)
            .max_local_error_reset_streams(ERROR_STREAMS_MAX)
            .initial_stream_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
            .max_send_buf_size(SEND_BUFFER_BYTES)
            .keep_alive_interval(deadlines.write / 2)
            .keep_alive_timeout(deadlines.write / 2);
        builder
    }
}

/// Waits for a later phase than the one seen.
async fn next_phase(phase: &mut watch::Receiver<Phase>, seen: Phase) -> Phase {
    match phase.wait_for(|phase| *phase > seen).await {
        Ok(reached) => *reached,
        // The listener is gone without having drained.
        Err(_) => Phase::Cut,
    }
}
