//! The gateway's URL map: the list, the records and the change feed of every resource of the catalogue, and the gated
//! routes of other crates.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::routing::{MethodRouter, get};

use crate::Gateway;
use crate::endpoint::Endpoint;
use crate::gated_route::GatedRoute;

/// Every route below the areas' prefixes, with and without a trailing slash. Unknown paths get 404 before the gate.
pub fn router(gateway: Arc<Gateway>) -> Router {
    let mut routes = Router::new();
    for (index, endpoint) in Endpoint::all().enumerate() {
        routes = add(routes, &endpoint.path(), &read_methods(endpoint, index));
    }
    let paths = counted_paths(&gateway.gated_routes);
    for route in &gateway.gated_routes {
        let index = paths.iter().position(|path| *path == route.path).unwrap_or(usize::MAX);
        routes = add(routes, &route.path, &route.clone().method_router(index));
    }
    routes.with_state(gateway)
}

type Methods = MethodRouter<Arc<Gateway>>;

/// Adds a path with and without a trailing slash.
fn add(routes: Router<Arc<Gateway>>, path: &str, methods: &Methods) -> Router<Arc<Gateway>> {
    routes.route(path, methods.clone()).route(&format!("{path}/"), methods.clone())
}

/// The paths that calls are counted under: the endpoints' in their order, then those of the gated routes, each once.
pub(crate) fn counted_paths(gated_routes: &[GatedRoute]) -> Arc<[String]> {
    let mut paths: Vec<String> = Endpoint::all().map(Endpoint::path).collect();
    for route in gated_routes {
        if !paths.contains(&route.path) {
            paths.push(route.path.clone());
        }
    }
    paths.into()
}

fn read_methods(endpoint: Endpoint, index: usize) -> Methods {
    get(move |State(gateway): State<Arc<Gateway>>, request: Request| async move {
        gateway.handle_read(endpoint, index, request).await
    })
}
