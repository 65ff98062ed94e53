//! Gives every request an id, says it in the answer and in the log, and writes problems out with it.

use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use domain::Random;
use ipnet::IpNet;
use tracing::Instrument;

use crate::address::client_address;
use crate::listener::Peer;
use crate::measure::{Measures, Stopwatch};
use crate::problem::write_body;

pub const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const CHARS_MAX: usize = 64;

#[derive(Clone, Debug)]
pub struct RequestId(pub Arc<str>);

/// What the outermost layer needs.
pub struct Outermost {
    pub random: Arc<dyn Random>,
    pub measures: Measures,
    /// Which listener this is, for the measures.
    pub side: &'static str,
    /// Proxies whose word counts for where a request comes from.
    pub trusted_proxies: Arc<[IpNet]>,
}

impl std::fmt::Debug for Outermost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Outermost")
    }
}

/// The outermost layer of a listener. A caller's own id is kept where it is well-formed.
pub async fn outermost(State(with): State<Arc<Outermost>>, mut request: Request, next: Next) -> Response {
    let id = given(&request).unwrap_or_else(|| with.random.guid().to_string().into());
    request.extensions_mut().insert(RequestId(id.clone()));
    let peer = request.extensions().get::<Peer>().map(|peer| peer.0.ip());
    let address = client_address(peer, request.headers(), &with.trusted_proxies);
    request.extensions_mut().insert(address);
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let method = request.method().clone();
    let span = tracing::info_span!("request", id = &*id, %method, route);
    let watch = Stopwatch::start();
    let answered = next.run(request).instrument(span.clone()).await;
    let mut response = write_body(answered, &id);
    let took = watch.elapsed();
    with.measures.answered(with.side, &method, &route, response.status(), took);
    span.in_scope(|| {
        let status = response.status().as_u16();
        let milliseconds = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        if status >= 500 {
            tracing::warn!(status, milliseconds, "answered");
        } else {
            tracing::debug!(status, milliseconds, "answered");
        }
    });
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(X_REQUEST_ID, value);
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
