//! Wires the webhook management API and puts its routes behind the gate.

use std::sync::Arc;

use ::webhooks::Nudge;
use ::webhooks::egress::Egress;
use ::webhooks::history::History;
use ::webhooks::management::{ManagementRequest, Management, Ports, Route, Settings};
use domain::Scope;
use gateway::{Answering, Guest, Visit};
use store::Store;

use super::SystemRandom;
use crate::config::Config;

/// The routes of the webhook management API, behind the gate. `nudge` is told of every change before it is answered.
pub(crate) fn guests(
    config: &Config,
    store: Arc<dyn Store>,
    egress: Egress,
    nudge: Arc<dyn Nudge>,
    history: History,
) -> Vec<Guest> {
    let settings = Settings {
        base_url: config.server.base_url.clone(),
        webhooks_max: config.delivery.webhooks_max,
        host_check: config.delivery.host_check,
        is_local: config.egress.loopback,
    };
    let ports = Ports { store, random: Arc::new(SystemRandom), egress, nudge, history };
    let management = Arc::new(Management::new(ports, settings));
    Route::all().map(|route| guest(&management, route)).collect()
}

fn guest(management: &Arc<Management>, route: Route) -> Guest {
    let management = management.clone();
    let answer = move |visit: Visit| -> Answering {
        let management = management.clone();
        let Visit { caller, names, parts, body, now, address, request_id } = visit;
        let call = ManagementRequest { caller, names, uri: parts.uri, headers: parts.headers, now, address, request_id };
        Box::pin(async move { management.respond(route, call, body).await })
    };
    Guest {
        area: route.area(),
        scope: Scope::Webhooks,
        method: route.method(),
        path: route.path(),
        answer: Arc::new(answer),
    }
}
