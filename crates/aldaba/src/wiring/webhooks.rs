//! Wires the webhook management API and puts its routes behind the gate.

use std::sync::Arc;

use ::webhooks::EngineNotifier;
use ::webhooks::egress::Egress;
use ::webhooks::history::History;
use ::webhooks::management::{Management, ManagementRequest, Ports, Route, Settings};
use domain::Scope;
use gateway::{AuthorizedRequest, GatedRoute, ResponseFuture};
use store::Store;

use super::BasePorts;
use crate::config::Config;

/// The management of webhooks. `notifier` learns of every change before the response is sent.
pub(crate) fn management(
    config: &Config,
    base: &BasePorts,
    store: Arc<dyn Store>,
    egress: Egress,
    notifier: Arc<dyn EngineNotifier>,
    history: History,
) -> Arc<Management> {
    let settings = Settings {
        base_url: config.server.base_url.clone(),
        webhooks_max: config.delivery.webhooks_max,
        sandbox_webhooks_max: config.portal.sandbox_webhooks,
        is_sandbox_open: config.portal.is_sandbox_open,
        host_check: config.delivery.host_check,
        is_local: config.egress.loopback,
    };
    let ports = Ports { store, random: base.random.clone(), egress, notifier, history };
    Arc::new(Management::new(ports, settings))
}

/// The routes of the webhook management API, behind the gate.
pub(crate) fn gated_routes(management: &Arc<Management>) -> Vec<GatedRoute> {
    Route::all().map(|route| gated_route(management, route)).collect()
}

fn gated_route(management: &Arc<Management>, route: Route) -> GatedRoute {
    let management = management.clone();
    let handler = move |request: AuthorizedRequest| -> ResponseFuture {
        let management = management.clone();
        let AuthorizedRequest { caller, path_params, parts, body, now, address, request_id } = request;
        let (uri, headers) = (parts.uri, parts.headers);
        let request = ManagementRequest { caller, path_params, uri, headers, now, address, request_id };
        Box::pin(async move { management.respond(route, request, body).await })
    };
    GatedRoute {
        area: route.area(),
        scope: Scope::Webhooks,
        method: route.method(),
        path: route.path(),
        handler: Arc::new(handler),
    }
}
