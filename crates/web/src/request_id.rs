//! Gives every request an id, says it in the answer and in the log, and writes problems out with it.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::{MatchedPath, Request};
use axum::http::Method;
use axum::http::header::{HeaderName, HeaderValue, STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS};
use axum::response::Response;
use domain::{Guid, Random};
use ipnet::IpNet;
use tower::{Layer, Service};

use crate::address::{ClientAddress, client_address};
use crate::listener::Peer;
use crate::measure::{Measures, SideMeasures, Stopwatch};
use crate::problem::write_body;
use crate::unchanged::without_length;

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const CHARS_MAX: usize = 64;

tokio::task_local! {
    static CURRENT: RequestId;
}

/// A request's id.
#[derive(Clone, Copy, Debug)]
pub struct RequestId {
    chars: [u8; CHARS_MAX],
    count: usize,
}

impl RequestId {
    /// None where it is not well-formed: an id is short and the same in a header, in a log and in JSON.
    fn read(id: &[u8]) -> Option<Self> {
        let mut chars = [0; CHARS_MAX];
        chars.get_mut(..id.len())?.copy_from_slice(id);
        let is_fine = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
        (!id.is_empty() && id.iter().all(is_fine)).then_some(Self { chars, count: id.len() })
    }

    pub fn as_str(&self) -> &str {
        self.chars.get(..self.count).and_then(|id| std::str::from_utf8(id).ok()).unwrap_or_default()
    }

    /// The id of the request that is being answered, for what is logged on the way. A span for each would cost
    /// more than the rest of this layer, and few requests log anything.
    pub fn current() -> Option<Self> {
        CURRENT.try_with(|id| *id).ok()
    }
}

/// What is known of a request before anybody reads it.
#[derive(Clone, Debug)]
pub struct Visit {
    pub id: RequestId,
    pub address: ClientAddress,
}

/// What the outermost layer needs.
pub struct Outermost {
    ids: RequestIds,
    measures: SideMeasures,
    trusted_proxies: Vec<IpNet>,
    is_https: bool,
}

impl Outermost {
    /// For the listener of this name.
    pub fn new(side: &'static str, random: &dyn Random, measures: &Measures) -> Self {
        let (ids, measures) = (RequestIds::new(random), measures.side(side));
        Self { ids, measures, trusted_proxies: Vec::new(), is_https: false }
    }

    /// Behind proxies whose word counts for where a request comes from.
    pub fn behind(mut self, trusted_proxies: Vec<IpNet>) -> Self {
        self.trusted_proxies = trusted_proxies;
        self
    }

    /// Reached over https, and to be reached over nothing else.
    pub fn over_https(mut self, is_https: bool) -> Self {
        self.is_https = is_https;
        self
    }
}

/// Ids that are told apart, not kept secret: a number of this process behind bytes that no other has.
struct RequestIds {
    process: [u8; 16],
    next: AtomicU64,
}

impl RequestIds {
    fn new(random: &dyn Random) -> Self {
        let mut process = [0; 16];
        random.fill(&mut process);
        Self { process, next: AtomicU64::new(0) }
    }

    fn next(&self) -> RequestId {
        let number = self.next.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        let mut bytes = self.process;
        bytes.iter_mut().rev().zip(number.iter().rev()).for_each(|(byte, of_number)| *byte ^= *of_number);
        let mut text = [0; Guid::CHARS];
        let text = Guid::derived_from(bytes).write_to(&mut text);
        RequestId::read(text.as_bytes()).unwrap_or(RequestId { chars: [0; CHARS_MAX], count: 0 })
    }
}

impl std::fmt::Debug for Outermost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Outermost")
    }
}

/// The outermost layer of a listener. A caller's own id is kept where it is well-formed.
#[derive(Clone, Debug)]
pub struct OutermostLayer(Arc<Outermost>);

impl OutermostLayer {
    pub fn new(with: Outermost) -> Self {
        Self(Arc::new(with))
    }
}

impl<S> Layer<S> for OutermostLayer {
    type Service = Outer<S>;

    fn layer(&self, inner: S) -> Outer<S> {
        Outer { inner, with: self.0.clone() }
    }
}

/// One route with the layer around it.
#[derive(Clone, Debug)]
pub struct Outer<S> {
    inner: S,
    with: Arc<Outermost>,
}

impl<S> Service<Request> for Outer<S>
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
        let with = self.with.clone();
        let id = given(&request).unwrap_or_else(|| with.ids.next());
        let peer = request.extensions_mut().remove::<Peer>().map(|peer| peer.0.ip());
        let address = client_address(peer, request.headers(), &with.trusted_proxies);
        request.extensions_mut().insert(Visit { id, address });
        let route = request.extensions().get::<MatchedPath>().cloned();
        let method = request.method().clone();
        let watch = Stopwatch::start();
        let answering = CURRENT.scope(id, self.inner.call(request));
        Box::pin(async move {
            let Ok(answered) = answering.await;
            let route = route.as_ref().map_or("none", MatchedPath::as_str);
            Ok(with.finish(answered, id, &method, route, watch))
        })
    }
}

impl Outermost {
    fn finish(
        &self,
        answered: Response,
        id: RequestId,
        method: &Method,
        route: &str,
        watch: Stopwatch,
    ) -> Response {
        let mut response = write_body(answered, id.as_str());
        without_length(&mut response);
        let (status, took) = (response.status(), watch.elapsed());
        self.measures.answered(method, route, status, took);
        tell(&id, method, route, status.as_u16(), took);
        let headers = response.headers_mut();
        if let Ok(id) = HeaderValue::from_str(id.as_str()) {
            headers.insert(X_REQUEST_ID, id);
        }
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if self.is_https {
            let year = HeaderValue::from_static("max-age=31536000; includeSubDomains");
            headers.insert(STRICT_TRANSPORT_SECURITY, year);
        }
        response
    }
}

/// A line in the log for every answer, for who wants to see them all; those that went wrong are always told.
fn tell(id: &RequestId, method: &Method, route: &str, status: u16, took: Duration) {
    let milliseconds = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    if status >= 500 {
        CURRENT.sync_scope(*id, || tracing::warn!(%method, route, status, milliseconds, "answered"));
    } else if tracing::enabled!(tracing::Level::DEBUG) {
        CURRENT.sync_scope(*id, || tracing::debug!(%method, route, status, milliseconds, "answered"));
    }
}

fn given(request: &Request) -> Option<RequestId> {
    RequestId::read(request.headers().get(X_REQUEST_ID)?.as_bytes())
}
