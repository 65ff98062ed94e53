//! The map of the read APIs: for every resource of the catalogue its list, its records and its feed.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, get};
use domain::{Area, Resource};
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::SizeAbove;

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

fn routes(area: Area) -> Routes {
    match area {
        Area::Accounting | Area::Core | Area::Import => {
            Resource::family().filter(|resource| resource.area() == area).fold(Router::new(), family)
        }
        Area::Payroll => at(Router::new(), "/payroll/api/companies", || get(payroll::companies)),
        Area::Invoicing => at(Router::new(), "/invoicing/api/changes", || get(feed::of_invoicing)),
    }
}

fn family(routes: Routes, resource: Resource) -> Routes {
    let path = resource.path();
    let routes = at(routes, &path, || {
        get(move |state, caller, uri, headers| reads::list(resource, state, caller, uri, headers))
    });
    let routes = at(routes, &format!("{path}/changes"), || {
        get(move |state, caller, uri, headers| feed::of_resource(resource, state, caller, uri, headers))
    });
    at(routes, &format!("{path}/{{id}}"), || {
        get(move |state, caller, id, uri, headers| reads::one(resource, state, caller, id, uri, headers))
    })
}

/// A route with and without a slash at its end.
fn at(routes: Routes, path: &str, methods: impl Fn() -> MethodRouter<Arc<Gateway>>) -> Routes {
    routes.route(path, methods()).route(&format!("{path}/"), methods())
}
