//! Gives every request an id, says it in the answer and in the log, and writes problems out with it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{HeaderName, HeaderValue, STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS};
use axum::middleware::Next;
use axum::response::Response;
use domain::{Guid, Random};
use ipnet::IpNet;
use tracing::Instrument;

use crate::address::client_address;
use crate::listener::Peer;
use crate::measure::{Measures, SideMeasures, Stopwatch};
use crate::problem::write_body;
use crate::unchanged::without_length;

pub const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const CHARS_MAX: usize = 64;

#[derive(Clone, Debug)]
pub struct RequestId(pub Arc<str>);

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

    fn next(&self) -> Guid {
        let number = self.next.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        let mut bytes = self.process;
        bytes.iter_mut().rev().zip(number.iter().rev()).for_each(|(byte, of_number)| *byte ^= *of_number);
        Guid::derived_from(bytes)
    }
}

impl std::fmt::Debug for Outermost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Outermost")
    }
}

/// The outermost layer of a listener. A caller's own id is kept where it is well-formed.
pub async fn outermost(State(with): State<Arc<Outermost>>, mut request: Request, next: Next) -> Response {
    let id = given(&request).unwrap_or_else(|| with.ids.next().to_string().into());
    request.extensions_mut().insert(RequestId(id.clone()));
    let peer = request.extensions().get::<Peer>().map(|peer| peer.0.ip());
    let address = client_address(peer, request.headers(), &with.trusted_proxies);
    request.extensions_mut().insert(address);
    let route = request.extensions().get::<MatchedPath>().cloned();
    let method = request.method().clone();
    let span = tracing::info_span!("request", id = &*id);
    let watch = Stopwatch::start();
    let answered = next.run(request).instrument(span.clone()).await;
    let mut response = write_body(answered, &id);
    without_length(&mut response);
    let took = watch.elapsed();
    let route = route.as_ref().map_or("none", MatchedPath::as_str);
    with.measures.answered(&method, route, response.status(), took);
    span.in_scope(|| {
        let status = response.status().as_u16();
        let milliseconds = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        if status >= 500 {
            tracing::warn!(%method, route, status, milliseconds, "answered");
        } else {
            tracing::debug!(%method, route, status, milliseconds, "answered");
        }
    });
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(&id) {
        headers.insert(X_REQUEST_ID, value);
    }
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if with.is_https {
        let year = HeaderValue::from_static("max-age=31536000; includeSubDomains");
        headers.insert(STRICT_TRANSPORT_SECURITY, year);
    }
    response
}

fn given(request: &Request) -> Option<Arc<str>> {
    let id = request.headers().get(X_REQUEST_ID)?.to_str().ok()?;
    let fine = !id.is_empty()
        && id.len() <= CHARS_MAX
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    fine.then(|| id.into())
}
