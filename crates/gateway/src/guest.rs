//! Routes that another room answers: the gate stands in front of them as in front of the reads, and whoever answers
//! knows nothing of keys, tokens and limits.

use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequestParts as _, RawPathParams, Request};
use axum::http::request::Parts;
use axum::http::{Method, Response};
use axum::response::IntoResponse as _;
use axum::routing::{MethodFilter, MethodRouter, on};
use domain::{Area, Caller, Scope, Ticks};
use web::error_response::not_found;

use crate::Gateway;
use crate::gate::Need;

/// How much of a refused body is still read, so that its sender sees the answer.
const DRAIN_BYTES_MAX: usize = 16 * 1024 * 1024;

pub type Answering = Pin<Box<dyn Future<Output = Response<Body>> + Send>>;

/// One route of another room.
#[derive(Clone)]
pub struct Guest {
    /// Whose product and scope it asks for.
    pub area: Area,
    /// Asked for besides the area's.
    pub scope: Scope,
    pub method: Method,
    /// Below the base address, with names in braces; what its calls are counted under.
    pub path: String,
    pub answer: Arc<dyn Fn(Visit) -> Answering + Send + Sync>,
}

impl std::fmt::Debug for Guest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Guest({} {})", self.method, self.path)
    }
}

/// A call that has passed the gate.
#[derive(Debug)]
pub struct Visit {
    pub caller: Arc<Caller>,
    /// What the names in the path's braces stand for, decoded.
    pub names: Vec<(String, String)>,
    pub parts: Parts,
    /// Not read yet, and of any length.
    pub body: Body,
    pub now: Ticks,
    /// Where it comes from, as proxies that are trusted tell.
    pub address: IpAddr,
    pub request_id: String,
}

impl Guest {
    pub(crate) fn methods(self, place: usize) -> MethodRouter<Arc<Gateway>> {
        let Ok(method) = MethodFilter::try_from(self.method.clone()) else {
            return MethodRouter::new();
        };
        let guest = Arc::new(self);
        on(
            method,
            move |axum::extract::State(gateway): axum::extract::State<Arc<Gateway>>, request: Request| {
                let guest = guest.clone();
                async move { gateway.receive(&guest, place, request).await }
            },
        )
    }
}

impl Gateway {
    /// One call of a guest, from the gate to its answer.
    async fn receive(&self, guest: &Guest, place: usize, request: Request) -> Response<Body> {
        let (mut parts, body) = request.into_parts();
        let now = self.clock.now();
        let need = Need::of(guest.area).and(guest.scope);
        let admitted = match self.admit(need, &parts, now).await {
            Ok(admitted) => admitted,
            Err(refusal) => {
                web::drain_in_background(body, DRAIN_BYTES_MAX);
                return refusal.into_response();
            }
        };
        // What is no text is nobody's name.
        let answer = match RawPathParams::from_request_parts(&mut parts, &()).await {
            Err(_) => not_found().await.into_response(),
            Ok(names) => {
                let names = names.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
                let known = parts.extensions.get::<web::RequestContext>();
                let address = known.map_or(IpAddr::from([0, 0, 0, 0]), |visit| visit.address.0);
                let request_id = known.map(|visit| visit.id.as_str().to_owned()).unwrap_or_default();
                let caller = admitted.caller.clone();
                (guest.answer)(Visit { caller, names, parts, body, now, address, request_id }).await
            }
        };
        admitted.leave(place, answer, now)
    }
}
