//! What integrators call to manage their webhooks, both families: a call that has passed the gate comes in, an answer
//! goes out. The gate itself is another room's.

mod accounting;
mod answer;
mod body;
mod call;
mod deliveries;
mod delivery;
mod health;
mod invoicing;
mod openapi;
mod owned;
mod receiver;
mod record;
mod refusal;
mod replay;
mod route;
mod secret;

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::Method;
use axum::response::{IntoResponse as _, Response};
use domain::Random;
use store::Store;
use web::ErrorResponse;

pub use call::Call;
pub use openapi::{asyncapi, openapi};
pub use receiver::HostCheck;
pub use route::{Operation, Route, Side};

use crate::EngineNotifier;
use crate::egress::Egress;

/// As many webhooks as anybody can be allowed to have.
pub const WEBHOOKS_MAX: usize = 200_000;

/// What the management is given from outside.
#[derive(Clone)]
pub struct Ports {
    pub store: Arc<dyn Store>,
    pub random: Arc<dyn Random>,
    /// Which looks at a receiver's address before it is taken.
    pub egress: Egress,
    pub nudge: Arc<dyn EngineNotifier>,
}

impl std::fmt::Debug for Ports {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ports")
    }
}

#[derive(Clone, Debug)]
pub struct Settings {
    /// Where links lead: `{base_url}`.
    pub base_url: String,
    /// For each tenant and client; `WEBHOOKS_MAX` at most.
    pub webhooks_max: usize,
    pub host_check: HostCheck,
    /// Whether receivers may live on this very machine, over plain http and on any port.
    pub is_local: bool,
    /// How long after its first failure a delivery is tried before the webhook is disabled.
    pub window: Duration,
}

/// The management of both families.
#[derive(Debug)]
pub struct Management {
    ports: Ports,
    settings: Settings,
}

type Answer = Result<Response, ErrorResponse>;

impl Management {
    pub fn new(ports: Ports, settings: Settings) -> Self {
        Self { ports, settings }
    }

    /// Answers a call to one of the routes. The body is not read yet, and of any length.
    pub async fn answer(&self, route: Route, call: Call, body: Body) -> Response {
        let asked = call.asked(route.method() == Method::GET);
        let answer = match self.run(route, &call, body).await {
            Ok(answer) => answer,
            Err(refusal) if route.has_result() => return answer::failed(refusal, &asked),
            Err(refusal) => refusal.into_response(),
        };
        answer::finished(answer, &asked).await
    }

    async fn run(&self, route: Route, call: &Call, body: Body) -> Answer {
        let Route { side, operation } = route;
        if let Side::Of(_) = side {
            call.check_context()?;
        }
        match (side, operation) {
            (Side::Of(resource), Operation::Events) => Ok(accounting::events(resource)),
            (Side::Of(resource), Operation::Subscribe) => self.subscribe(resource, call, body).await,
            (Side::Of(resource), Operation::Unsubscribe) => self.unsubscribe(resource, call, body).await,
            (Side::Of(_), Operation::Status) => self.set_status(side, call, body).await,
            (Side::Of(_), Operation::Change) => self.change_url(side, call, body).await,
            (Side::Of(_), Operation::Delete) => self.delete(side, call).await,
            (Side::Invoicing, Operation::Subscribe) => self.subscribe_entity(call, body).await,
            (Side::Invoicing, Operation::Status) => self.pause(call, body).await,
            (Side::Invoicing, Operation::Delete) => self.delete_entity(call).await,
            (_, Operation::List) => self.list(side, call).await,
            (_, Operation::Record) => self.one(side, call).await,
            (_, Operation::Secret) => self.rotate(side, call, body).await,
            (_, Operation::Deliveries) => self.deliveries(side, call).await,
            (_, Operation::Delivery) => self.delivery(side, call).await,
            (_, Operation::ReplayOne) => self.replay_one(side, call).await,
            (_, Operation::Replay) => self.replay(side, call, body).await,
            (_, Operation::Test) => self.test(side, call).await,
            (_, Operation::Health) => self.health(side, call).await,
            (Side::Invoicing, Operation::Events | Operation::Unsubscribe | Operation::Change) => {
                Err(refusal::no_webhook())
            }
        }
    }
}
