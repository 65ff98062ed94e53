//! `/operator/v1/requests`: what teams ask for, and the operator's decisions.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use domain::{TeamId, Ticks};
use serde::{Deserialize, Serialize};
use store::{ListQuery, RequestFilter, TeamRequest};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::routes;

use super::clients::Pkce;
use super::document::{BadBody, BadQuery, DecisionConflict, NotFound};
use super::input::{JsonBody, OptionalJsonBody, PathParams, QueryParams, RequestOrigin};
use super::paging::{PageCursor, PageSize, list_query, next_text};
use super::product::{Product, product_list};
use super::schema_types::{ChosenId, Reason, Revision};
use super::{HandlerResult, Routes, SharedState};
use crate::error::AdminError;

/// What a team asked for.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Request {
    #[schema(examples("3f8a5e0e-58c3-4d6e-9b1d-8f0f0f7b6c21"))]
    id: String,
    #[schema(examples("panel"))]
    team: String,
    #[schema(inline)]
    asked: Asked,
    state: RequestState,
    /// What the team says to the operator.
    note: String,
    /// The id of the developer who asked.
    asked_by: String,
    #[schema(format = DateTime)]
    asked_at: String,
    /// Who decided, as the audit names actors; null while the request is pending.
    #[schema(required = true, examples("operator"))]
    decided_by: Option<String>,
    #[schema(required = true, format = DateTime)]
    decided_at: Option<String>,
    /// Why it was refused; empty otherwise.
    reason: String,
    /// The id of the client or the subscription that the approval added or changed. Replace its secret or its keys to learn
    /// them.
    #[schema(required = true)]
    result: Option<String>,
    /// Incremented by every update; send it with a decision to make sure that nothing changed in between.
    #[schema(minimum = 1, examples(1))]
    revision: u64,
}

/// What is asked for.
#[derive(Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
enum Asked {
    Client {
        name: String,
        redirect_uris: Vec<String>,
        products: Vec<Product>,
        pkce: Pkce,
        /// For sandbox tenants alone.
        sandbox: bool,
    },
    RedirectUri {
        client: String,
        uri: String,
    },
    Subscription {
        name: String,
        product: Product,
        /// For sandbox tenants alone.
        sandbox: bool,
    },
}

impl From<store::RequestKind> for Asked {
    fn from(kind: store::RequestKind) -> Self {
        match kind {
            store::RequestKind::Client { name, redirect_uris, products, pkce, is_sandbox } => Self::Client {
                name,
                redirect_uris,
                products: product_list(products),
                pkce: pkce.into(),
                sandbox: is_sandbox,
            },
            store::RequestKind::RedirectUri { client, uri } => {
                Self::RedirectUri { client: client.to_string(), uri }
            }
            store::RequestKind::Subscription { name, product, is_sandbox } => {
                Self::Subscription { name, product: product.into(), sandbox: is_sandbox }
            }
        }
    }
}

/// A decided request never changes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum RequestState {
    Pending,
    Approved,
    Refused,
    Withdrawn,
}

impl From<store::RequestState> for RequestState {
    fn from(stored: store::RequestState) -> Self {
        match stored {
            store::RequestState::Pending => Self::Pending,
            store::RequestState::Approved => Self::Approved,
            store::RequestState::Refused => Self::Refused,
            store::RequestState::Withdrawn => Self::Withdrawn,
        }
    }
}

impl From<RequestState> for store::RequestState {
    fn from(state: RequestState) -> Self {
        match state {
            RequestState::Pending => Self::Pending,
            RequestState::Approved => Self::Approved,
            RequestState::Refused => Self::Refused,
            RequestState::Withdrawn => Self::Withdrawn,
        }
    }
}

impl From<TeamRequest> for Request {
    fn from(stored: TeamRequest) -> Self {
        Self {
            id: stored.id.to_string(),
            team: stored.team.to_string(),
            asked: stored.kind.into(),
            state: stored.state.into(),
            note: stored.note,
            asked_by: stored.asked_by.to_string(),
            asked_at: stored.created_at.iso(),
            decided_by: stored.decided_by,
            decided_at: stored.decided_at.map(Ticks::iso),
            reason: stored.reason,
            result: stored.result,
            revision: stored.revision,
        }
    }
}

/// Requests, oldest first.
#[derive(Serialize, ToSchema)]
struct RequestPage {
    requests: Vec<Request>,
    /// Send it as `after` to get the next page; null on the last page.
    #[schema(required = true)]
    next: Option<String>,
}

/// The query parameters of the list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct RequestParams {
    /// Only requests of this team.
    #[param(value_type = String, required = false)]
    team: Option<ChosenId>,
    /// Only requests in this state.
    #[param(required = false, inline)]
    state: Option<RequestState>,
    /// The largest number of items on the page.
    #[param(value_type = u16, required = false, minimum = 1, maximum = 1000, default = 100)]
    page_size: Option<PageSize>,
    /// The `next` of the previous page; leave it out for the first page.
    #[param(
        value_type = String,
        required = false,
        pattern = "^(0|[1-9][0-9]{0,17})\\.[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
    )]
    after: Option<PageCursor>,
}

/// How to approve a request.
#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ApproveRequest)]
struct ApproveBody {
    /// A new client gets access without the users' consent. False by default.
    waive_consent: Option<bool>,
    /// The revision that you read: with another one stored, nothing changes and the response is 409
    /// (`revision_conflict`).
    revision: Option<Revision>,
}

/// Why a request is refused.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = RefuseRequest)]
struct RefuseBody {
    reason: Reason,
    /// The revision that you read: with another one stored, nothing changes and the response is 409
    /// (`revision_conflict`).
    revision: Option<Revision>,
}

pub(super) fn routes() -> Routes {
    vec![routes!(list), routes!(show), routes!(approve), routes!(refuse)]
}

/// List what teams ask for
#[utoipa::path(
    get,
    path = "/operator/v1/requests",
    operation_id = "listRequests",
    tag = "Requests",
    params(RequestParams),
    responses((status = 200, description = "A page of requests", body = RequestPage), BadQuery)
)]
async fn list(State(state): SharedState, QueryParams(params): QueryParams<RequestParams>) -> HandlerResult {
    let filter = RequestFilter {
        team: params.team.map(|team| TeamId::new(team.0)),
        state: params.state.map(Into::into),
    };
    let query: ListQuery = list_query(params.after, params.page_size);
    let page = state.admin.store.list_requests(&filter, &query).await.map_err(AdminError::from)?;
    let next = next_text(page.next.as_ref());
    let requests = page.rows.into_iter().map(Request::from).collect();
    Ok(Json(RequestPage { requests, next }).into_response())
}

/// Show a request
#[utoipa::path(
    get,
    path = "/operator/v1/requests/{request}",
    operation_id = "getRequest",
    tag = "Requests",
    params(("request" = String, Path, description = "The request's id")),
    responses((status = 200, description = "The request", body = Request), NotFound)
)]
async fn show(State(state): SharedState, PathParams(id): PathParams<String>) -> HandlerResult {
    Ok(Json(Request::from(state.admin.request(&id).await?)).into_response())
}

/// Approve a request
///
/// What was asked for is added at once: a client of the team, which needs the users' consent; a redirect address; or a
/// subscription of the team. The secret and the keys are not shown: replace them to learn them. A request that is not
/// pending any more does not change (409).
#[utoipa::path(
    post,
    path = "/operator/v1/requests/{request}/approve",
    operation_id = "approveRequest",
    tag = "Requests",
    params(("request" = String, Path, description = "The request's id")),
    request_body = Option<ApproveBody>,
    responses(
        (status = 200, description = "The approved request", body = Request),
        BadBody,
        NotFound,
        DecisionConflict
    )
)]
async fn approve(
    State(state): SharedState,
    RequestOrigin(context): RequestOrigin,
    PathParams(id): PathParams<String>,
    OptionalJsonBody(body): OptionalJsonBody<ApproveBody>,
) -> HandlerResult {
    let revision = body.revision.map(|revision| revision.0);
    let waives_consent = body.waive_consent.unwrap_or(false);
    let request = state.admin.acting(context).approve_request(&id, waives_consent, revision).await?;
    Ok(Json(Request::from(request)).into_response())
}

/// Refuse a request
///
/// The team sees the reason. A request that is not pending any more does not change (409).
#[utoipa::path(
    post,
    path = "/operator/v1/requests/{request}/refuse",
    operation_id = "refuseRequest",
    tag = "Requests",
    params(("request" = String, Path, description = "The request's id")),
    request_body = RefuseBody,
    responses(
        (status = 200, description = "The refused request", body = Request),
        BadBody,
        NotFound,
        DecisionConflict
    )
)]
async fn refuse(
    State(state): SharedState,
    RequestOrigin(context): RequestOrigin,
    PathParams(id): PathParams<String>,
    JsonBody(body): JsonBody<RefuseBody>,
) -> HandlerResult {
    let revision = body.revision.map(|revision| revision.0);
    let request = state.admin.acting(context).refuse_request(&id, &body.reason.0, revision).await?;
    Ok(Json(Request::from(request)).into_response())
}
