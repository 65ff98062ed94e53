//! The operator's API over HTTP: the map of its addresses, and the gate in front of them.

#![allow(unused_qualifications, reason = "what the path macro writes")]

mod audit;
mod changes;
mod clients;
mod document;
mod input;
mod memberships;
mod paging;
mod refusal;
mod stats;
mod subscriptions;
mod tenants;
mod users;
mod webhooks;
mod words;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, HeaderValue, LOCATION, WWW_AUTHENTICATE};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use prometheus_client::metrics::counter::Counter;
use serde::Serialize;
use store::BatchCounts;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};
use web::{ErrorResponse, Metrics, drain_in_background};

use crate::OperatorToken;
use crate::admin::{Admin, WebhookAdmin};
use crate::door::Door;

pub(crate) use audit::kinds as audit_kinds;
pub use document::openapi;

/// How much of a stranger's body is still read, so that its sender sees the answer.
const UNAUTHENTICATED_DRAIN_BYTES_MAX: usize = 64 * 1024 * 1024;

type Desk = State<Arc<Operator>>;
type Answered = Result<Response, ErrorResponse>;
type Routes = Vec<UtoipaMethodRouter<Arc<Operator>>>;

/// What the operator's side stands on.
pub struct Operator {
    admin: Admin,
    webhooks: WebhookAdmin,
    door: Door,
    token: OperatorToken,
    accepted: Counter,
    rejected: Counter,
}

impl std::fmt::Debug for Operator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Operator")
    }
}

impl Operator {
    pub fn new(admin: Admin, webhooks: WebhookAdmin, token: OperatorToken, measures: &Metrics) -> Self {
        let (accepted, rejected) = (Counter::default(), Counter::default());
        measures.with_registry(|registry| {
            registry.register("changes_accepted", "Changes accepted and committed", accepted.clone());
            registry.register("changes_rejected", "Changes refused", rejected.clone());
        });
        let door = Door::new(admin.store.clone(), admin.random.clone());
        Self { admin, webhooks, door, token, accepted, rejected }
    }

    /// Counts what a request brings in; what an earlier one under its key had brought in was counted then.
    fn counting(&self) -> impl FnMut(&BatchCounts) + use<> {
        let (accepted, rejected) = (self.accepted.clone(), self.rejected.clone());
        let mut counted = None;
        move |tally| {
            let now = (tally.accepted, tally.rejected);
            let before = counted.replace(now).unwrap_or(now);
            accepted.inc_by(now.0 - before.0);
            rejected.inc_by(now.1 - before.1);
        }
    }
}

/// The operator's API.
pub fn router(operator: Operator) -> Router {
    let operator = Arc::new(operator);
    let (guarded, _) = map().split_for_parts();
    let (open, _) = with(document::routes()).split_for_parts();
    guarded
        .route_layer(middleware::from_fn_with_state(operator.clone(), gate))
        .merge(open)
        .with_state(operator)
}

/// The map of what lies behind the gate; what is not in it is neither served nor documented.
fn map() -> OpenApiRouter<Arc<Operator>> {
    let nouns = [
        tenants::routes(),
        users::routes(),
        memberships::routes(),
        clients::routes(),
        subscriptions::routes(),
        changes::routes(),
        webhooks::routes(),
        stats::routes(),
        audit::routes(),
    ];
    with(nouns.into_iter().flatten().collect())
}

/// Each address with and without a slash at its end; the document names it without.
fn with(routes: Routes) -> OpenApiRouter<Arc<Operator>> {
    routes.into_iter().fold(OpenApiRouter::default(), |router, one| {
        let slashed: Vec<String> = one.1.paths.keys().map(|path| format!("{path}/")).collect();
        let methods = one.2.clone();
        slashed.iter().fold(router.routes(one), |router, path| router.route(path, methods.clone()))
    })
}

async fn gate(State(operator): Desk, request: Request, next: Next) -> Response {
    if operator.token.admits(request.headers()) {
        return next.run(request).await;
    }
    let (challenge, message) = if request.headers().contains_key("authorization") {
        ("Bearer error=\"invalid_token\"", "The operator's token is wrong.")
    } else {
        ("Bearer", "The operator's token is missing; send it as Authorization: Bearer <token>.")
    };
    drain_in_background(request.into_body(), UNAUTHENTICATED_DRAIN_BYTES_MAX);
    ErrorResponse::new(StatusCode::UNAUTHORIZED, message)
        .header(WWW_AUTHENTICATE, HeaderValue::from_static(challenge))
        .into_response()
}

/// 201, with the path of what was made.
fn made(path: &[&str], shown: &impl Serialize) -> Response {
    let mut response = (StatusCode::CREATED, Json(shown)).into_response();
    if let Ok(location) = HeaderValue::from_str(&format!("/operator/v1/{}", path.join("/"))) {
        response.headers_mut().insert(LOCATION, location);
    }
    response
}

/// An answer that holds a secret, which nobody on the way may keep.
fn unkept(mut response: Response) -> Response {
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
