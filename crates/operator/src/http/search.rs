//! `/operator/v1/search`: everything that has an id.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::routes;

use super::document::BadQuery;
use super::input::QueryParams;
use super::schema_types::NameFilter;
use super::{HandlerResult, Routes, SharedState};
use crate::admin::SearchResults;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct SearchParams {
    /// An id, an e-mail address, an `X-Request-Id`, a correlationId or an `OutgoingId`. Surrounding space does not count.
    #[param(value_type = String, required = true, min_length = 1, max_length = 254, pattern = r"^\s*[^\s\x00][^\x00]*$")]
    q: NameFilter,
}

pub(super) fn routes() -> Routes {
    vec![routes!(search)]
}

/// Search everything
///
/// Finds tenants, accounts, invitations, tokens, teams, clients, subscriptions, requests and webhooks by their id, accounts and
/// open invitations by their e-mail address, companies and other records by their correlationId (in the newest 2,000 tenants),
/// deliveries by their `OutgoingId` (of the newest 10,000 webhooks), and what a request did by its `X-Request-Id`. Ids are
/// compared letter by letter.
#[utoipa::path(
    get,
    path = "/operator/v1/search",
    operation_id = "search",
    tag = "Audit",
    params(SearchParams),
    responses((status = 200, description = "What was found", body = SearchResults), BadQuery)
)]
async fn search(State(state): SharedState, QueryParams(params): QueryParams<SearchParams>) -> HandlerResult {
    Ok(Json(state.admin.search(&params.q.0).await?).into_response())
}
