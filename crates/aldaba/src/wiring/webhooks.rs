//! Builds the management of webhooks and puts its routes behind the gate.

use std::sync::Arc;

use ::webhooks::EngineNotifier;
use ::webhooks::egress::Egress;
use ::webhooks::management::{Call, Management, Ports, Route, Settings};
use domain::Scope;
use gateway::{AuthorizedRequest, GatedRoute, ResponseFuture};
use store::Store;

use super::BasePorts;
use crate::config::Config;

/// The management's routes. `nudge` learns of every change before the response is sent.
pub(crate) fn gated_routes(
    config: &Config,
    base: &BasePorts,
    store: Arc<dyn Store>,
    egress: Egress,
    nudge: Arc<dyn EngineNotifier>,
) -> Vec<GatedRoute> {
    let settings = Settings {
        base_url: config.server.base_url.clone(),
        webhooks_max: config.delivery.webhooks_max,
        host_check: config.delivery.host_check,
        is_local: config.egress.loopback,
        window: config.delivery.window,
    };
    let ports = Ports { store, random: base.random.clone(), egress, nudge };
    let management = Arc::new(Management::new(ports, settings));
    Route::all().map(|route| gated_route(&management, route)).collect()
}

fn gated_route(management: &Arc<Management>, route: Route) -> GatedRoute {
    let management = management.clone();
    let handler = move |request: AuthorizedRequest| -> ResponseFuture {
        let management = management.clone();
        let AuthorizedRequest { caller, path_params: names, parts, body, now, address, request_id } = request;
        let call = Call { caller, names, uri: parts.uri, headers: parts.headers, now, address, request_id };
        Box::pin(async move { management.answer(route, call, body).await })
    };
    GatedRoute {
        area: route.area(),
        scope: Scope::Webhooks,
        method: route.method(),
        path: route.path(),
        handler: Arc::new(handler),
    }
}
