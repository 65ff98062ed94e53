//! Routes of other crates behind the gate: the gateway checks key, token, scope, limit and quota, and the route's
//! handler gets the authorized request.

use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequestParts as _, RawPathParams, Request, State};
use axum::http::request::Parts;
use axum::http::{Method, Response};
use axum::response::IntoResponse as _;
use axum::routing::{MethodFilter, MethodRouter, on};
use domain::{Area, Caller, Scope, Ticks};
use web::error_response::not_found;

use crate::Gateway;
use crate::gate::Requirements;

/// How much of a refused body is still read, so that the client sees the response.
const DRAIN_BYTES_MAX: usize = 16 * 1024 * 1024;

pub type ResponseFuture = Pin<Box<dyn Future<Output = Response<Body>> + Send>>;

/// One route of another crate.
#[derive(Clone)]
pub struct GatedRoute {
    /// Determines the product and the scope that the caller needs.
    pub area: Area,
    /// Required besides the area's scope.
    pub scope: Scope,
    pub method: Method,
    /// Below the base address, with parameter names in braces; calls are counted under it.
    pub path: String,
    pub handler: Arc<dyn Fn(AuthorizedRequest) -> ResponseFuture + Send + Sync>,
}

impl std::fmt::Debug for GatedRoute {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "GatedRoute({} {})", self.method, self.path)
    }
}

/// A request that has passed the gate.
#[derive(Debug)]
pub struct AuthorizedRequest {
    pub caller: Arc<Caller>,
    /// The path's parameters, decoded.
    pub path_params: Vec<(String, String)>,
    pub parts: Parts,
    /// Not read yet, and not limited in length.
    pub body: Body,
    pub now: Ticks,
    /// The client's address; behind trusted proxies the one that they forward.
    pub address: IpAddr,
    pub request_id: String,
}

impl GatedRoute {
    /// `index` is the path's index among the counted paths.
    pub(crate) fn method_router(self, index: usize) -> MethodRouter<Arc<Gateway>> {
        let Ok(method) = MethodFilter::try_from(self.method.clone()) else {
            return MethodRouter::new();
        };
        let route = Arc::new(self);
        on(method, move |State(gateway): State<Arc<Gateway>>, request: Request| {
            let route = route.clone();
            async move { gateway.handle_gated(&route, index, request).await }
        })
    }
}

impl Gateway {
    /// Handles one request of a gated route.
    async fn handle_gated(&self, route: &GatedRoute, index: usize, request: Request) -> Response<Body> {
        let (mut parts, body) = request.into_parts();
        let arrival = self.arrival(route.area, index, &parts);
        let now = arrival.at;
        let requirements = Requirements::of_area(route.area).and(route.scope);
        let admission = match self.admit(requirements, &parts, now).await {
            Ok(admission) => admission,
            Err(rejection) => {
                web::drain_in_background(body, DRAIN_BYTES_MAX);
                return self.reject(arrival, *rejection);
            }
        };
        let response = match RawPathParams::from_request_parts(&mut parts, &()).await {
            // Not UTF-8: no resource has such an id.
            Err(_) => not_found().await.into_response(),
            Ok(params) => {
                let path_params =
                    params.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
                let context = parts.extensions.get::<web::RequestContext>();
                let address = context.map_or(IpAddr::from([0, 0, 0, 0]), |context| context.address.0);
                let request_id = context.map(|context| context.id.as_str().to_owned()).unwrap_or_default();
                let caller = admission.caller.clone();
                let request =
                    AuthorizedRequest { caller, path_params, parts, body, now, address, request_id };
                (route.handler)(request).await
            }
        };
        self.finish(arrival, admission, response)
    }
}
