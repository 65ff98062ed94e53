//! `…/reset-second-factors`: removes the second factors of a person who has lost them.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use domain::Realm;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::document::NotFound;
use super::input::{PathParams, RequestOrigin};
use super::{HandlerResult, Routes, SharedState};
use crate::admin::Authority;

/// How many second factors were removed.
#[derive(Serialize, ToSchema)]
struct RemovedFactors {
    #[schema(minimum = 0, maximum = 10, examples(1))]
    removed: u64,
}

pub(super) fn routes() -> Routes {
    vec![routes!(reset_user), routes!(reset_developer), routes!(reset_operator)]
}

/// Remove a user's second factors
///
/// For a user who has lost them. Removes all factors and recovery codes and ends the user's browser sessions. The password
/// stays; grants to applications stay. Without any factor, nothing happens.
#[utoipa::path(
    post,
    path = "/operator/v1/users/{user}/reset-second-factors",
    operation_id = "resetUserSecondFactors",
    tag = "Users",
    params(("user" = String, Path, description = "The user's id or e-mail address")),
    responses((status = 200, description = "What was removed", body = RemovedFactors), NotFound)
)]
async fn reset_user(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    PathParams(name): PathParams<String>,
) -> HandlerResult {
    reset(&state.admin, authority, Realm::Users, &name).await
}

/// Remove a developer's second factors
///
/// For a developer who has lost them. Removes all factors and recovery codes and ends the developer's browser sessions.
#[utoipa::path(
    post,
    path = "/operator/v1/developers/{developer}/reset-second-factors",
    operation_id = "resetDeveloperSecondFactors",
    tag = "Developers",
    params(("developer" = String, Path, description = "The developer's id or e-mail address")),
    responses((status = 200, description = "What was removed", body = RemovedFactors), NotFound)
)]
async fn reset_developer(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    PathParams(name): PathParams<String>,
) -> HandlerResult {
    reset(&state.admin, authority, Realm::Developers, &name).await
}

/// Remove an operator's second factors
///
/// For an operator who has lost them. Removes all factors and recovery codes and ends the operator's browser sessions.
#[utoipa::path(
    post,
    path = "/operator/v1/operators/{operator}/reset-second-factors",
    operation_id = "resetOperatorSecondFactors",
    tag = "Operators",
    params(("operator" = String, Path, description = "The operator's id or e-mail address")),
    responses((status = 200, description = "What was removed", body = RemovedFactors), NotFound)
)]
async fn reset_operator(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    PathParams(name): PathParams<String>,
) -> HandlerResult {
    reset(&state.admin, authority, Realm::Operators, &name).await
}

async fn reset(admin: &crate::admin::Admin, authority: Authority, realm: Realm, name: &str) -> HandlerResult {
    let removed = admin.acting(authority).reset_second_factors(realm, name).await?;
    Ok(Json(RemovedFactors { removed }).into_response())
}
