//! The map of the read APIs: for every resource of the catalogue its list, its records and its feed.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, get};
use domain::Area;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::SizeAbove;

use crate::endpoint::Endpoint;
use crate::gate::{Need, gate};
use crate::{Gateway, feed, payroll, reads};

/// Shorter answers gain nothing.
const COMPRESSED_FROM_BYTES: u64 = 1024;

type Routes = Router<Arc<Gateway>>;

/// Everything below the areas' prefixes. Paths that are not here are nobody's, before any gate.
pub fn router(gateway: Arc<Gateway>) -> Router {
    let area = |area: Area, routes: Routes| {
        let need = (gateway.clone(), Need::of(area));
        routes.route_layer(from_fn_with_state(need, gate))
    };
    Area::ALL
        .into_iter()
        .map(|one| area(one, routes(one)))
        .fold(Router::new(), Router::merge)
        .layer(CompressionLayer::new().compress_when(SizeAbove::new(COMPRESSED_FROM_BYTES)))
        .with_state(gateway)
}

/// The routes of one area, each with and without a slash at its end.
fn routes(area: Area) -> Routes {
    Endpoint::all().filter(|endpoint| endpoint.area() == area).fold(Router::new(), |routes, endpoint| {
        let path = endpoint.path();
        routes.route(&path, methods(endpoint)).route(&format!("{path}/"), methods(endpoint))
    })
}

fn methods(endpoint: Endpoint) -> MethodRouter<Arc<Gateway>> {
    match endpoint {
        Endpoint::List(resource) => {
            get(move |state, caller, uri, headers| reads::list(resource, state, caller, uri, headers))
        }
        Endpoint::One(resource) => {
            get(move |state, caller, id, uri, headers| reads::one(resource, state, caller, id, uri, headers))
        }
        Endpoint::Feed(resource) => {
            get(move |state, caller, uri, headers| feed::of_resource(resource, state, caller, uri, headers))
        }
        Endpoint::PayrollCompanies => get(payroll::companies),
        Endpoint::InvoicingFeed => get(feed::of_invoicing),
    }
}
