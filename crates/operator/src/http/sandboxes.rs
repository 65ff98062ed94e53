//! `/operator/v1/teams/{team}/sandbox`: the sandbox of a team, as its developers use it in the portal.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use domain::ErrorCode;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::routes;

use super::document::{BadBody, BadQuery, NotFound, SandboxConflict};
use super::input::{JsonBody, PathParams, QueryParams, RequestOrigin};
use super::schema_types::{Status, WHOLE_MAX};
use super::{AppState, HandlerResult, Routes, SharedState};
use crate::admin::{Authority, MadeEvent, Permission, SandboxAdmin};
use crate::error::{AdminError, Result};

/// How the built-in receiver of a sandbox answers: `accept` what is signed correctly, `fail` with status 500, `hang` until
/// the attempt times out, or `refuse` with status 410.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum ReceiverMode {
    Accept,
    Fail,
    Hang,
    Refuse,
}

impl From<store::ReceiverMode> for ReceiverMode {
    fn from(stored: store::ReceiverMode) -> Self {
        match stored {
            store::ReceiverMode::Accept => Self::Accept,
            store::ReceiverMode::Fail => Self::Fail,
            store::ReceiverMode::Hang => Self::Hang,
            store::ReceiverMode::Refuse => Self::Refuse,
        }
    }
}

impl From<ReceiverMode> for store::ReceiverMode {
    fn from(mode: ReceiverMode) -> Self {
        match mode {
            ReceiverMode::Accept => Self::Accept,
            ReceiverMode::Fail => Self::Fail,
            ReceiverMode::Hang => Self::Hang,
            ReceiverMode::Refuse => Self::Refuse,
        }
    }
}

/// The sandbox of a team: a tenant with sample data, its user, and a built-in receiver.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Sandbox {
    #[schema(examples("panel"))]
    team: String,
    /// Another one after every reset.
    #[schema(examples("2f1f1b44-98a1-4d6a-9d0f-7a3c1d5e6f70"))]
    tenant: String,
    /// Of the tenant; null if it was erased.
    #[schema(required = true)]
    standing: Option<Status>,
    #[schema(examples("user@sandbox-2f1f1b44.example"))]
    email: String,
    /// The user's password, which guards sample data only; null for who may not manage keys.
    #[schema(required = true)]
    password: Option<String>,
    /// In the address of the built-in receiver, `/portal/receiver/{receiver}` below the public URL.
    receiver: String,
    receiver_mode: ReceiverMode,
    #[schema(format = DateTime)]
    created_at: String,
    /// When the sample data was complete.
    #[schema(format = DateTime, required = true)]
    loaded_at: Option<String>,
}

impl From<store::Sandbox> for Sandbox {
    fn from(stored: store::Sandbox) -> Self {
        Self {
            team: stored.team.to_string(),
            tenant: stored.tenant.to_string(),
            standing: stored.tenant_status.map(Status::from),
            email: stored.email,
            password: Some(stored.password.reveal().to_owned()),
            receiver: stored.receiver.to_string(),
            receiver_mode: stored.receiver_mode.into(),
            created_at: stored.created_at.iso(),
            loaded_at: stored.loaded_at.map(domain::Ticks::iso),
        }
    }
}

/// Changes of a sandbox.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SandboxChange {
    receiver_mode: ReceiverMode,
}

/// The event to make.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct EventBody {
    /// Its name as in the event catalogue, or the resource and the kind of event.
    #[schema(max_length = 200, examples("Svc.ACC.Customers.CustomerCreated", "customers.created"))]
    event: String,
}

/// What was made to happen.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct MadeEventView {
    /// The events, the wanted one last. Another one precedes it where the record had to be created or enabled first.
    #[schema(examples(json!(["Svc.ACC.Customers.CustomerCreated"])))]
    events: Vec<String>,
    #[schema(required = true)]
    company: Option<String>,
    correlation_id: String,
    /// The sequence of the wanted event.
    #[schema(examples("412"))]
    sequence_version: String,
}

impl From<MadeEvent> for MadeEventView {
    fn from(made: MadeEvent) -> Self {
        Self {
            events: made.events,
            company: made.company,
            correlation_id: made.correlation_id,
            sequence_version: made.sequence.to_string(),
        }
    }
}

/// A request that the built-in receiver got.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ReceivedRequest {
    #[schema(minimum = 1, examples(12))]
    number: u64,
    #[schema(format = DateTime)]
    at: String,
    #[schema(required = true)]
    webhook: Option<String>,
    /// `Acknowledge`, `echo`, or the name of the event.
    event: String,
    method: String,
    target: String,
    /// Each is a name and a value.
    #[schema(value_type = Vec<Vec<String>>)]
    headers: Vec<(String, String)>,
    body: String,
    /// The headers whose signatures were verified.
    verified: Vec<String>,
    /// Why the signature was not verified; empty if it was, or if there is none to verify.
    problem: String,
    /// What the receiver answered; null: it let the attempt time out.
    #[schema(required = true)]
    status: Option<u16>,
}

impl From<store::ReceivedRequest> for ReceivedRequest {
    fn from(stored: store::ReceivedRequest) -> Self {
        Self {
            number: stored.number,
            at: stored.at.iso(),
            webhook: stored.webhook.map(|id| id.to_string()),
            event: stored.event,
            method: stored.method,
            target: stored.target,
            headers: stored.headers,
            body: stored.body,
            verified: stored.verified,
            problem: stored.problem,
            status: stored.status,
        }
    }
}

/// What the receiver got, newest first.
#[derive(Serialize, ToSchema)]
struct ReceivedPage {
    requests: Vec<ReceivedRequest>,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ReceivedParams {
    /// Only requests with a smaller number.
    #[param(value_type = u64, required = false, minimum = 1, maximum = 9_007_199_254_740_991_u64)]
    before: Option<RequestNumber>,
}

/// The number of a request that the receiver got.
#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "u64")]
struct RequestNumber(u64);

impl TryFrom<u64> for RequestNumber {
    type Error = String;

    fn try_from(number: u64) -> std::result::Result<Self, String> {
        let is_known = (1..=WHOLE_MAX).contains(&number);
        is_known
            .then_some(Self(number))
            .ok_or_else(|| format!("it must be from 1 to {WHOLE_MAX}, not {number}"))
    }
}

pub(super) fn routes() -> Routes {
    vec![routes!(show, make, change), routes!(reset), routes!(make_event), routes!(received)]
}

impl AppState {
    fn sandboxes(&self, authority: Authority) -> Result<SandboxAdmin> {
        let Some(settings) = &self.sandbox else {
            let why = "this service has no sandboxes".to_owned();
            return Err(AdminError::Conflict { code: ErrorCode::SandboxClosed, why });
        };
        SandboxAdmin::of_operator(&self.admin.acting(authority), settings)
    }
}

/// Show the sandbox of a team
#[utoipa::path(
    get,
    path = "/operator/v1/teams/{team}/sandbox",
    operation_id = "getSandbox",
    tag = "Teams",
    params(("team" = String, Path, description = "The team's id")),
    responses((status = 200, description = "The sandbox", body = Sandbox), NotFound)
)]
async fn show(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    PathParams(team): PathParams<String>,
) -> HandlerResult {
    let id = state.admin.team(&team).await?.id;
    let found = state.admin.store.find_sandbox(&id).await.map_err(AdminError::from)?;
    let found = found.ok_or_else(|| AdminError::NotFound(format!("sandbox of team \"{team}\"")))?;
    let mut sandbox = Sandbox::from(found);
    if authority.require(Permission::Keys).is_err() {
        sandbox.password = None;
    }
    Ok(Json(sandbox).into_response())
}

/// Make the sandbox of a team
///
/// With sample data. Nothing changes if the team has one; what an interruption left unfinished is completed.
#[utoipa::path(
    post,
    path = "/operator/v1/teams/{team}/sandbox",
    operation_id = "makeSandbox",
    tag = "Teams",
    params(("team" = String, Path, description = "The team's id")),
    responses((status = 200, description = "The sandbox", body = Sandbox), NotFound, SandboxConflict)
)]
async fn make(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    PathParams(team): PathParams<String>,
) -> HandlerResult {
    let sandbox = Box::pin(state.sandboxes(authority)?.create_sandbox(&team)).await?;
    Ok(Json(Sandbox::from(sandbox)).into_response())
}

/// Tell the built-in receiver how to answer
#[utoipa::path(
    patch,
    path = "/operator/v1/teams/{team}/sandbox",
    operation_id = "changeSandbox",
    tag = "Teams",
    params(("team" = String, Path, description = "The team's id")),
    request_body = SandboxChange,
    responses((status = 200, description = "The sandbox", body = Sandbox), BadBody, NotFound, SandboxConflict)
)]
async fn change(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    PathParams(team): PathParams<String>,
    JsonBody(change): JsonBody<SandboxChange>,
) -> HandlerResult {
    let sandbox = state.sandboxes(authority)?.set_receiver_mode(&team, change.receiver_mode.into()).await?;
    Ok(Json(Sandbox::from(sandbox)).into_response())
}

/// Reset the sandbox of a team
///
/// Another tenant with the sample data takes its place. Webhooks, tokens and what the receiver got are gone; keys, clients and
/// the user stay, the user with a new password.
#[utoipa::path(
    post,
    path = "/operator/v1/teams/{team}/sandbox/reset",
    operation_id = "resetSandbox",
    tag = "Teams",
    params(("team" = String, Path, description = "The team's id")),
    responses((status = 200, description = "The sandbox", body = Sandbox), NotFound, SandboxConflict)
)]
async fn reset(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    PathParams(team): PathParams<String>,
) -> HandlerResult {
    let sandbox = Box::pin(state.sandboxes(authority)?.reset_sandbox(&team)).await?;
    Ok(Json(Sandbox::from(sandbox)).into_response())
}

/// Make an event happen in the sandbox of a team
///
/// Changes a record as the operator's products do.
#[utoipa::path(
    post,
    path = "/operator/v1/teams/{team}/sandbox/events",
    operation_id = "makeSandboxEvent",
    tag = "Teams",
    params(("team" = String, Path, description = "The team's id")),
    request_body = EventBody,
    responses(
        (status = 200, description = "What was made", body = MadeEventView),
        BadBody,
        NotFound,
        SandboxConflict
    )
)]
async fn make_event(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    PathParams(team): PathParams<String>,
    JsonBody(body): JsonBody<EventBody>,
) -> HandlerResult {
    let made = Box::pin(state.sandboxes(authority)?.make_event(&team, &body.event)).await?;
    Ok(Json(MadeEventView::from(made)).into_response())
}

/// List what the built-in receiver got
#[utoipa::path(
    get,
    path = "/operator/v1/teams/{team}/sandbox/received",
    operation_id = "listReceivedRequests",
    tag = "Teams",
    params(("team" = String, Path, description = "The team's id"), ReceivedParams),
    responses(
        (status = 200, description = "The newest requests", body = ReceivedPage),
        BadQuery,
        NotFound
    )
)]
async fn received(
    State(state): SharedState,
    PathParams(team): PathParams<String>,
    QueryParams(params): QueryParams<ReceivedParams>,
) -> HandlerResult {
    let id = state.admin.team(&team).await?.id;
    let found = state
        .admin
        .store
        .received_requests(&id, params.before.map(|number| number.0), store::RECEIVED_MAX)
        .await;
    let found = found.map_err(AdminError::from)?;
    let requests = found.into_iter().map(ReceivedRequest::from).collect();
    Ok(Json(ReceivedPage { requests }).into_response())
}
