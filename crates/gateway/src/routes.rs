//! The map of the read APIs: for every resource of the catalogue its list, its records and its feed.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::Response;
use axum::routing::{MethodRouter, get};
use web::Refusal;

use crate::Gateway;
use crate::asked::Asked;
use crate::endpoint::Endpoint;

/// Everything below the areas' prefixes, each with and without a slash at its end. Paths that are not here are
/// nobody's, before any gate.
pub fn router(gateway: Arc<Gateway>) -> Router {
    let mut routes = Router::new();
    for (place, endpoint) in Endpoint::all().enumerate() {
        let path = endpoint.path();
        routes = routes
            .route(&path, methods(endpoint, place))
            .route(&format!("{path}/"), methods(endpoint, place));
    }
    routes.with_state(gateway)
}

fn methods(endpoint: Endpoint, place: usize) -> MethodRouter<Arc<Gateway>> {
    get(move |State(gateway): State<Arc<Gateway>>, request: Request| async move {
        gateway.call(endpoint, place, request).await
    })
}

impl Gateway {
    pub(crate) async fn answer(&self, endpoint: Endpoint, asked: &Asked) -> Result<Response<Body>, Refusal> {
        match endpoint {
            Endpoint::List(resource) => self.list(resource, asked).await,
            Endpoint::One(resource) => self.one(resource, asked).await,
            Endpoint::Feed(resource) => self.feed(&[resource], asked).await,
            Endpoint::PayrollCompanies => self.payroll_companies(asked).await,
            Endpoint::InvoicingFeed => self.invoicing_feed(asked).await,
        }
    }
}
