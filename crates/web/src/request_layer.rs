//! The outermost layer of a listener. It gives every request an id and a client address, and finishes every
//! response: the error body, the request id, security headers, metrics and the access log.

use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::{MatchedPath, Request};
use axum::http::header::{
    CONNECTION, HOST, HeaderMap, HeaderValue, STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{Method, Version};
use axum::response::{IntoResponse as _, Response};
use domain::{ErrorCode, Random};
use ipnet::IpNet;
use tower::{Layer, Service};

use crate::address::{ClientAddress, UnnamedProxy, client_address, unnamed_proxy};
use crate::conditional::remove_length_of_not_modified;
use crate::error_response::{ErrorResponse, write_body};
use crate::listener::PeerAddress;
use crate::metrics::{ListenerMetrics, Metrics, Stopwatch};
use crate::request_id::{CURRENT, RequestId, RequestIds, X_REQUEST_ID};

/// The request's id and origin; an extension of every request.
#[derive(Clone, Debug)]
pub struct RequestContext {
    pub id: RequestId,
    pub address: ClientAddress,
}

/// The settings and counters of one listener's [`RequestLayer`].
pub struct RequestLayerConfig {
    ids: RequestIds,
    metrics: ListenerMetrics,
    trusted_proxies: Vec<IpNet>,
    /// The setting that lists them.
    proxies_key: &'static str,
    /// Whether a proxy that is not trusted is worth a warning, which is given once.
    warns_of_proxy: AtomicBool,
    unnamed_proxy: UnnamedProxy,
    is_https: bool,
    draining: Arc<AtomicBool>,
}

impl RequestLayerConfig {
    /// `listener` is the value of the metrics' label `side`.
    pub fn new(listener: &'static str, random: &dyn Random, metrics: &Metrics) -> Self {
        let (ids, metrics) = (RequestIds::new(random), metrics.for_listener(listener));
        let warns_of_proxy = AtomicBool::new(false);
        Self {
            ids,
            metrics,
            trusted_proxies: Vec::new(),
            proxies_key: "",
            warns_of_proxy,
            unnamed_proxy: UnnamedProxy::default(),
            is_https: false,
            draining: Arc::default(),
        }
    }

    /// Proxies whose `X-Forwarded-For` is trusted, and the setting that lists them. The first request that another proxy
    /// forwards is logged.
    pub fn behind(mut self, trusted_proxies: Vec<IpNet>, key: &'static str) -> Self {
        self.trusted_proxies = trusted_proxies;
        self.proxies_key = key;
        self.warns_of_proxy = AtomicBool::new(true);
        self
    }

    /// Remembers the last proxy that forwards requests and is not trusted.
    pub fn noting(mut self, unnamed_proxy: UnnamedProxy) -> Self {
        self.unnamed_proxy = unnamed_proxy;
        self
    }

    fn warn_of_proxy(&self, peer: Option<IpAddr>, headers: &HeaderMap) {
        let Some(peer) = unnamed_proxy(peer, headers, &self.trusted_proxies) else { return };
        self.unnamed_proxy.note(peer);
        if self.warns_of_proxy.load(Ordering::Relaxed) && self.warns_of_proxy.swap(false, Ordering::Relaxed) {
            let key = self.proxies_key;
            tracing::warn!(
                %peer,
                "a request has X-Forwarded-For or Forwarded, but {key} does not list its sender, so limits and the audit \
                 use the sender's address; if it is your proxy, add it to {key} (this is logged once)"
            );
        }
    }

    /// Whether clients use https; responses then carry `Strict-Transport-Security`.
    pub fn over_https(mut self, is_https: bool) -> Self {
        self.is_https = is_https;
        self
    }

    /// Turns true when the service is about to stop: HTTP/1 clients are then told to use another connection.
    pub fn draining(mut self, draining: Arc<AtomicBool>) -> Self {
        self.draining = draining;
        self
    }

    fn finish(
        &self,
        response: Response,
        RequestContext { id, address }: RequestContext,
        (method, version): (&Method, Version),
        route: &str,
        watch: Stopwatch,
    ) -> Response {
        let mut response = write_body(response, id.as_str());
        remove_length_of_not_modified(&mut response);
        let (status, elapsed) = (response.status(), watch.elapsed());
        self.metrics.record(method, route, status, elapsed);
        log_response(&id, address, method, route, status.as_u16(), elapsed);
        let headers = response.headers_mut();
        if let Ok(id) = HeaderValue::from_str(id.as_str()) {
            headers.insert(X_REQUEST_ID, id);
        }
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if self.is_https {
            let year = HeaderValue::from_static("max-age=31536000; includeSubDomains");
            headers.insert(STRICT_TRANSPORT_SECURITY, year);
        }
        if version < Version::HTTP_2 && self.draining.load(Ordering::Relaxed) {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

impl std::fmt::Debug for RequestLayerConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RequestLayerConfig")
    }
}

/// The outermost layer of a listener.
#[derive(Clone, Debug)]
pub struct RequestLayer(Arc<RequestLayerConfig>);

impl RequestLayer {
    pub fn new(config: RequestLayerConfig) -> Self {
        Self(Arc::new(config))
    }
}

impl<S> Layer<S> for RequestLayer {
    type Service = RequestService<S>;

    fn layer(&self, inner: S) -> RequestService<S> {
        RequestService { inner, config: self.0.clone() }
    }
}

/// One route inside the layer.
#[derive(Clone, Debug)]
pub struct RequestService<S> {
    inner: S,
    config: Arc<RequestLayerConfig>,
}

impl<S> Service<Request> for RequestService<S>
where
    S: Service<Request, Response = Response, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        let config = self.config.clone();
        let id = RequestId::from_client(&request).unwrap_or_else(|| config.ids.next());
        let peer = request.extensions_mut().remove::<PeerAddress>().map(|peer| peer.0.ip());
        config.warn_of_proxy(peer, request.headers());
        let address = client_address(peer, request.headers(), &config.trusted_proxies);
        let context = RequestContext { id, address };
        request.extensions_mut().insert(context.clone());
        let route = request.extensions().get::<MatchedPath>().cloned();
        let (method, version) = (request.method().clone(), request.version());
        let watch = Stopwatch::start();
        // A proxy may have read the other one (RFC 9112, 3.2).
        if request.headers().get_all(HOST).iter().count() > 1 {
            let message = "The header Host must be sent only once.";
            let refused = ErrorResponse::new(ErrorCode::InvalidParameter, message).into_response();
            let finished = config.finish(refused, context, (&method, version), "none", watch);
            return Box::pin(std::future::ready(Ok(finished)));
        }
        let handling = CURRENT.scope(id, self.inner.call(request));
        Box::pin(async move {
            let Ok(response) = handling.await;
            let route = route.as_ref().map_or("none", MatchedPath::as_str);
            Ok(config.finish(response, context, (&method, version), route, watch))
        })
    }
}

/// Logs every response at level debug, and server errors at level warn.
fn log_response(
    id: &RequestId,
    address: ClientAddress,
    method: &Method,
    route: &str,
    status: u16,
    elapsed: Duration,
) {
    let is_error = status >= 500;
    if !is_error && !tracing::enabled!(tracing::Level::DEBUG) {
        return;
    }
    let milliseconds = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
    let address = address.0;
    CURRENT.sync_scope(*id, || {
        if is_error {
            tracing::warn!(%address, %method, route, status, milliseconds, "request completed");
        } else {
            tracing::debug!(%address, %method, route, status, milliseconds, "request completed");
        }
    });
}
