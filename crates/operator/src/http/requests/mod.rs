//! `/operator/v1/requests`: what teams ask for, and the operator's decisions.

mod schemas;

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use domain::TeamId;
use store::{ListQuery, RequestFilter};
use utoipa_axum::routes;

use super::document::{AskConflict, BadBody, BadQuery, DecisionConflict, NotFound};
use super::input::{JsonBody, OptionalJsonBody, PathParams, QueryParams, RequestOrigin};
use super::paging::{next_text, page_query};
use super::{HandlerResult, Routes, SharedState, created};
use crate::admin::DeveloperAdmin;
use crate::error::AdminError;
use schemas::{ApproveBody, NewRequest, NewRequestSchema, RefuseBody, Request, RequestPage, RequestParams};

pub(super) fn routes() -> Routes {
    vec![routes!(list, add), routes!(show), routes!(approve), routes!(refuse), routes!(withdraw)]
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
    let query: ListQuery = page_query(params.page_size, params.after);
    let page = state.admin.store.list_requests(&filter, &query).await.map_err(AdminError::from)?;
    let next = next_text(page.next.as_ref());
    let requests = page.rows.into_iter().map(Request::from).collect();
    Ok(Json(RequestPage { requests, next }).into_response())
}

/// Ask for something in the name of a team
///
/// As a developer does in the portal. What is for the sandbox alone is approved at once where the configuration says so;
/// everything else waits for a decision.
#[utoipa::path(
    post,
    path = "/operator/v1/requests",
    operation_id = "addRequest",
    tag = "Requests",
    request_body = NewRequestSchema,
    responses(
        (status = 201, description = "The new request", body = Request,
            headers(("Location" = String, description = "The request's path"))),
        BadBody,
        NotFound,
        AskConflict
    )
)]
async fn add(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    JsonBody(new): JsonBody<NewRequest>,
) -> HandlerResult {
    let admin = state.admin.acting(authority);
    let kind = NewRequest::kind(new.client, new.redirect_uri, new.subscription)?;
    let developer = admin.find_developer(&new.developer.0).await?;
    let asking = DeveloperAdmin::on_behalf(&admin, developer.id, state.approval)?;
    let note = new.note.map(|note| note.0).unwrap_or_default();
    let request: Request = asking.ask(&new.team.0, kind, &note).await?.into();
    Ok(created(&["requests", &request.id], &request))
}

/// Withdraw a request
///
/// For the developer who asked, as in the portal. A request that is not pending any more does not change (409).
#[utoipa::path(
    post,
    path = "/operator/v1/requests/{request}/withdraw",
    operation_id = "withdrawRequest",
    tag = "Requests",
    params(("request" = String, Path, description = "The request's id")),
    responses((status = 200, description = "The withdrawn request", body = Request), NotFound, DecisionConflict)
)]
async fn withdraw(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    PathParams(id): PathParams<String>,
) -> HandlerResult {
    let request = state.admin.acting(authority).withdraw_request(&id).await?;
    Ok(Json(Request::from(request)).into_response())
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
    RequestOrigin(authority): RequestOrigin,
    PathParams(id): PathParams<String>,
    OptionalJsonBody(body): OptionalJsonBody<ApproveBody>,
) -> HandlerResult {
    let revision = body.revision.map(|revision| revision.0);
    let waives_consent = body.waive_consent.unwrap_or(false);
    let request = state.admin.acting(authority).approve_request(&id, waives_consent, revision).await?;
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
    RequestOrigin(authority): RequestOrigin,
    PathParams(id): PathParams<String>,
    JsonBody(body): JsonBody<RefuseBody>,
) -> HandlerResult {
    let revision = body.revision.map(|revision| revision.0);
    let request = state.admin.acting(authority).refuse_request(&id, &body.reason.0, revision).await?;
    Ok(Json(Request::from(request)).into_response())
}
