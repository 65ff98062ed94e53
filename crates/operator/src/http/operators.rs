//! `/operator/v1/operators`: the accounts of operators.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use domain::{OperatorRole, Realm};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::document::{BadBody, BadQuery, NotFound, OperatorConflict};
use super::input::{JsonBody, PathParams, QueryParams, RequestOrigin};
use super::paging::{SearchParams, next_text};
use super::role::Role;
use super::schema_types::{Name, Revision, Status};
use super::users::Lang;
use super::{HandlerResult, Routes, SharedState};
use crate::admin;

/// A person who signs in to the console.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Operator {
    #[schema(examples("0b5e0a51-6a5c-4d0e-9d0f-6f6f4c6f7a11"))]
    id: String,
    #[schema(examples("nuria@example.com"))]
    email: String,
    #[schema(examples("Nuria"))]
    given_name: String,
    #[schema(value_type = Lang)]
    lang: String,
    role: Role,
    standing: Status,
    #[schema(format = DateTime)]
    created_at: String,
    /// Incremented by every update; send it with a change to make sure that nothing changed in between.
    #[schema(minimum = 1, examples(1))]
    revision: u64,
}

impl From<store::Account> for Operator {
    fn from(stored: store::Account) -> Self {
        Self {
            id: stored.id.to_string(),
            email: stored.email,
            given_name: stored.given_name,
            lang: stored.lang,
            role: stored.role.unwrap_or(OperatorRole::Viewer).into(),
            standing: stored.status.into(),
            created_at: stored.created_at.iso(),
            revision: stored.revision,
        }
    }
}

/// Operators, oldest first unless they are searched.
#[derive(Serialize, ToSchema)]
struct OperatorPage {
    operators: Vec<Operator>,
    /// Send it as `after` to get the next page; null on the last page.
    #[schema(required = true)]
    next: Option<String>,
}

/// Changes; a member that is left out stays as it is.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct OperatorChange {
    standing: Option<Status>,
    role: Option<Role>,
    given_name: Option<Name>,
    lang: Option<Lang>,
    /// The revision that you read: with another one stored, nothing changes and the response is 409
    /// (`revision_conflict`). Without it, the change is applied to whatever is stored.
    revision: Option<Revision>,
}

pub(super) fn routes() -> Routes {
    vec![routes!(list), routes!(show, change)]
}

/// List operators
#[utoipa::path(
    get,
    path = "/operator/v1/operators",
    operation_id = "listOperators",
    tag = "Operators",
    params(SearchParams),
    responses((status = 200, description = "A page of operators", body = OperatorPage), BadQuery)
)]
async fn list(State(state): SharedState, QueryParams(params): QueryParams<SearchParams>) -> HandlerResult {
    let (filter, query) = params.into_parts();
    let page = state.admin.accounts(Realm::Operators, &filter, &query).await?;
    let next = next_text(page.next.as_ref());
    let operators = page.rows.into_iter().map(Operator::from).collect();
    Ok(Json(OperatorPage { operators, next }).into_response())
}

/// Show an operator
#[utoipa::path(
    get,
    path = "/operator/v1/operators/{operator}",
    operation_id = "getOperator",
    tag = "Operators",
    params(("operator" = String, Path, description = "The operator's id or e-mail address")),
    responses((status = 200, description = "The operator", body = Operator), NotFound)
)]
async fn show(State(state): SharedState, PathParams(name): PathParams<String>) -> HandlerResult {
    Ok(Json(Operator::from(state.admin.find_operator(&name).await?)).into_response())
}

/// Change an operator
///
/// Disables or enables the account, or changes role, name or language. The last enabled operator with the role `admin`
/// cannot be disabled or get another role (409, `last_admin`).
#[utoipa::path(
    patch,
    path = "/operator/v1/operators/{operator}",
    operation_id = "changeOperator",
    tag = "Operators",
    params(("operator" = String, Path, description = "The operator's id or e-mail address")),
    request_body = OperatorChange,
    responses((status = 200, description = "The changed operator", body = Operator), BadBody, NotFound, OperatorConflict)
)]
async fn change(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    PathParams(name): PathParams<String>,
    JsonBody(change): JsonBody<OperatorChange>,
) -> HandlerResult {
    let operator = state.admin.find_operator(&name).await?;
    let revision = change.revision.map(|revision| revision.0);
    let change = admin::OperatorChange {
        status: change.standing.map(Into::into),
        role: change.role.map(Into::into),
        given_name: change.given_name.map(|name| name.0),
        lang: change.lang.map(|lang| lang.as_str().to_owned()),
    };
    let operator = state.admin.acting(authority).update_operator(&operator, change, revision).await?;
    Ok(Json(Operator::from(operator)).into_response())
}
