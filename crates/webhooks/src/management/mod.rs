//! The webhook management API of both families: subscriptions, deliveries, replays, health. It answers requests that have
//! passed the gateway's gate; `actions.rs` is what it does to a webhook, for the portal too.

mod accounting;
mod actions;
mod body;
mod built_in;
mod errors;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod history;
mod history_json;
mod invoicing;
mod openapi;
mod ownership;
mod receiver;
mod record;
mod request;
mod response;
mod route;
mod secret;

use std::sync::Arc;

use axum::body::Body;
use axum::http::Method;
use axum::response::{IntoResponse as _, Response};
use domain::Random;
use store::Store;
use web::ErrorResponse;

pub use actions::{ActionError, ActionResult, OVERLAP_DEFAULT, OVERLAP_MAX, SECRET_BYTES_MAX};
pub use built_in::BuiltInSubscription;
pub use openapi::{asyncapi, openapi};
pub use receiver::HostCheck;
pub use request::ManagementRequest;
pub use route::{Operation, Route, RouteGroup};

use crate::egress::Egress;
use crate::history::History;
use crate::{EngineNotifier, ReceiverAddresses};

/// The upper bound of the configurable limit of webhooks per tenant and client.
pub const WEBHOOKS_MAX: usize = 200_000;

/// What the management API needs from outside.
#[derive(Clone)]
pub struct Ports {
    pub store: Arc<dyn Store>,
    pub random: Arc<dyn Random>,
    /// Checks a receiver's address at subscription.
    pub egress: Egress,
    pub notifier: Arc<dyn EngineNotifier>,
    pub history: History,
}

impl std::fmt::Debug for Ports {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ports")
    }
}

#[derive(Clone, Debug)]
pub struct Settings {
    /// The base of links.
    pub base_url: String,
    /// For each tenant and client; `WEBHOOKS_MAX` at most.
    pub webhooks_max: usize,
    /// The same in the sandboxes of teams.
    pub sandbox_webhooks_max: usize,
    /// Whether the sandboxes of teams are open.
    pub is_sandbox_open: bool,
    pub host_check: HostCheck,
    /// Whether receivers may listen on loopback, over plain http and on any port.
    pub is_local: bool,
}

/// The management API of both families.
#[derive(Debug)]
pub struct Management {
    ports: Ports,
    settings: Settings,
    built_in_receivers: ReceiverAddresses,
}

type HandlerResult = Result<Response, ErrorResponse>;

impl Management {
    pub fn new(ports: Ports, settings: Settings) -> Self {
        let built_in_receivers = ReceiverAddresses::new(&settings.base_url);
        Self { ports, settings, built_in_receivers }
    }

    /// Handles a request to one of the routes. `body` has not been read yet and may have any length.
    pub async fn respond(&self, route: Route, request: ManagementRequest, body: Body) -> Response {
        let context = request.response_context(route.method() == Method::GET);
        let response = match self.run(route, &request, body).await {
            Ok(response) => response,
            Err(error) if route.has_result() => return response::operation_error(error, &context),
            Err(error) => error.into_response(),
        };
        response::encode(response, &context).await
    }

    async fn run(&self, route: Route, request: &ManagementRequest, body: Body) -> HandlerResult {
        let Route { group, operation } = route;
        if let RouteGroup::Resource(_) = group {
            request.check_context()?;
        }
        match (group, operation) {
            (RouteGroup::Resource(resource), Operation::Events) => Ok(accounting::list_events(resource)),
            (RouteGroup::Resource(resource), Operation::Subscribe) => {
                self.subscribe(resource, request, body).await
            }
            (RouteGroup::Resource(resource), Operation::Unsubscribe) => {
                self.unsubscribe(resource, request, body).await
            }
            (RouteGroup::Resource(_), Operation::Status) => self.set_status(group, request, body).await,
            (RouteGroup::Resource(_), Operation::Change) => self.handle_change(group, request, body).await,
            (RouteGroup::Resource(_), Operation::Delete) => self.delete(group, request).await,
            (RouteGroup::Invoicing, Operation::Subscribe) => self.subscribe_invoicing(request, body).await,
            (RouteGroup::Invoicing, Operation::Status) => self.pause(request, body).await,
            (RouteGroup::Invoicing, Operation::Delete) => self.delete_invoicing(request).await,
            (_, Operation::List) => self.list_records(group, request).await,
            (_, Operation::Record) => self.show_record(group, request).await,
            (_, Operation::Secret) => self.rotate(group, request, body).await,
            (_, Operation::Deliveries) => self.deliveries(group, request).await,
            (_, Operation::Delivery) => self.delivery(group, request).await,
            (_, Operation::ReplayDelivery) => self.replay_delivery(group, request).await,
            (_, Operation::Replay) => self.replay(group, request, body).await,
            (_, Operation::Test) => self.send_test_event(group, request).await,
            (_, Operation::Health) => self.health(group, request).await,
            (RouteGroup::Invoicing, Operation::Events | Operation::Unsubscribe | Operation::Change) => {
                Err(errors::webhook_not_found())
            }
        }
    }
}
