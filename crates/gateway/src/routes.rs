//! The map of the gateway: for every resource of the catalogue its list, its records and its feed; and what other rooms
//! answer behind the gate.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::Response;
use axum::routing::{MethodRouter, get};
use web::ErrorResponse;

use crate::Gateway;
use crate::asked::Asked;
use crate::endpoint::Endpoint;
use crate::guest::Guest;

/// Everything below the areas' prefixes, each with and without a slash at its end. Paths that are not here are
/// nobody's, before any gate.
pub fn router(gateway: Arc<Gateway>) -> Router {
    let mut routes = Router::new();
    for (place, endpoint) in Endpoint::all().enumerate() {
        routes = both(routes, &endpoint.path(), &methods(endpoint, place));
    }
    let paths = counted(&gateway.guests);
    for guest in &gateway.guests {
        let place = paths.iter().position(|path| *path == guest.path).unwrap_or(usize::MAX);
        routes = both(routes, &guest.path, &guest.clone().methods(place));
    }
    routes.with_state(gateway)
}

type Methods = MethodRouter<Arc<Gateway>>;

/// An address, with and without a slash at its end.
fn both(routes: Router<Arc<Gateway>>, path: &str, methods: &Methods) -> Router<Arc<Gateway>> {
    routes.route(path, methods.clone()).route(&format!("{path}/"), methods.clone())
}

/// What calls are counted under: every address once, the reads' in the order of their list.
pub(crate) fn counted(guests: &[Guest]) -> Arc<[String]> {
    let mut paths: Vec<String> = Endpoint::all().map(Endpoint::path).collect();
    for guest in guests {
        if !paths.contains(&guest.path) {
            paths.push(guest.path.clone());
        }
    }
    paths.into()
}

fn methods(endpoint: Endpoint, place: usize) -> Methods {
    get(move |State(gateway): State<Arc<Gateway>>, request: Request| async move {
        gateway.call(endpoint, place, request).await
    })
}

impl Gateway {
    pub(crate) async fn answer(
        &self,
        endpoint: Endpoint,
        asked: &Asked,
    ) -> Result<Response<Body>, ErrorResponse> {
        match endpoint {
            Endpoint::List(resource) => self.list(resource, asked).await,
            Endpoint::One(resource) => self.one(resource, asked).await,
            Endpoint::Feed(resource) => self.feed(&[resource], asked).await,
            Endpoint::PayrollCompanies => self.payroll_companies(asked).await,
            Endpoint::InvoicingFeed => self.invoicing_feed(asked).await,
        }
    }
}
