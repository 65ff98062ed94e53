//! `/operator/v1/webhooks/bulk`: one action on all webhooks that match a filter, on exactly those that were looked at.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::params::FilterParams;
use crate::admin::{BulkAction, BulkResultsJson, BulkSelectionJson};
use crate::http::document::{BadBody, BadQuery, SelectionConflict};
use crate::http::input::{JsonBody, QueryParams, RequestOrigin};
use crate::http::schema_types::{SelectionDigest, Timestamp};
use crate::http::{HandlerResult, Routes, SharedState};

/// The set that was looked at.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct BulkChange {
    #[schema(inline)]
    digest: SelectionDigest,
}

/// The set that was looked at, and a span of time.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct BulkReplay {
    #[schema(inline)]
    digest: SelectionDigest,
    // Events from this time on.
    #[schema(inline)]
    from: Timestamp,
    /// Up to this time; without it, up to the end of the log.
    #[schema(inline)]
    to: Option<Timestamp>,
}

pub(super) fn routes() -> Routes {
    vec![routes!(select), routes!(enable), routes!(disable), routes!(replay)]
}

/// Select webhooks for one action
///
/// Exactly the webhooks that an action with the same query would touch, oldest first, 200 at most, and the digest of this
/// set. Unsubscribed and deleted ones are selected only where `state` asks for them.
#[utoipa::path(
    get,
    path = "/operator/v1/webhooks/bulk",
    operation_id = "selectWebhooks",
    tag = "Webhooks",
    params(FilterParams),
    responses((status = 200, description = "The webhooks and the digest", body = BulkSelectionJson), BadQuery, SelectionConflict)
)]
async fn select(State(state): SharedState, QueryParams(params): QueryParams<FilterParams>) -> HandlerResult {
    let selection = state.webhooks.select(&params.into()).await?;
    Ok(Json(BulkSelectionJson::from(selection)).into_response())
}

/// Enable all webhooks that match
///
/// Each as by itself. One that cannot be enabled does not stop the others; its result says why.
#[utoipa::path(
    post,
    path = "/operator/v1/webhooks/bulk/enable",
    operation_id = "enableWebhooks",
    tag = "Webhooks",
    params(FilterParams),
    request_body(content = BulkChange, example = json!({"digest": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"})),
    responses((status = 200, description = "What became of each webhook", body = BulkResultsJson), BadBody, SelectionConflict)
)]
async fn enable(
    State(state): SharedState,
    QueryParams(params): QueryParams<FilterParams>,
    RequestOrigin(authority): RequestOrigin,
    JsonBody(body): JsonBody<BulkChange>,
) -> HandlerResult {
    let (filter, action) = (params.into(), BulkAction::Enable);
    Ok(Json(state.webhooks.act_on_all(&filter, &body.digest.0, action, &authority).await?).into_response())
}

/// Disable all webhooks that match
///
/// Each as by itself: nothing is sent to it any more, and its waiting events are dropped.
#[utoipa::path(
    post,
    path = "/operator/v1/webhooks/bulk/disable",
    operation_id = "disableWebhooks",
    tag = "Webhooks",
    params(FilterParams),
    request_body(content = BulkChange, example = json!({"digest": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"})),
    responses((status = 200, description = "What became of each webhook", body = BulkResultsJson), BadBody, SelectionConflict)
)]
async fn disable(
    State(state): SharedState,
    QueryParams(params): QueryParams<FilterParams>,
    RequestOrigin(authority): RequestOrigin,
    JsonBody(body): JsonBody<BulkChange>,
) -> HandlerResult {
    let (filter, action) = (params.into(), BulkAction::Disable);
    Ok(Json(state.webhooks.act_on_all(&filter, &body.digest.0, action, &authority).await?).into_response())
}

/// Send the events of a span of time again to all webhooks that match
///
/// To each as by itself. One that is not active, or has no event in the span, does not stop the others; its result says why.
#[utoipa::path(
    post,
    path = "/operator/v1/webhooks/bulk/replay",
    operation_id = "replayWebhooks",
    tag = "Webhooks",
    params(FilterParams),
    request_body(content = BulkReplay, example = json!({"digest": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "from": "2026-01-01T00:00:00Z"})),
    responses((status = 200, description = "What became of each webhook", body = BulkResultsJson), BadBody, SelectionConflict)
)]
async fn replay(
    State(state): SharedState,
    QueryParams(params): QueryParams<FilterParams>,
    RequestOrigin(authority): RequestOrigin,
    JsonBody(body): JsonBody<BulkReplay>,
) -> HandlerResult {
    let action = BulkAction::Replay { from: body.from.0, to: body.to.map(|to| to.0) };
    let filter = params.into();
    Ok(Json(state.webhooks.act_on_all(&filter, &body.digest.0, action, &authority).await?).into_response())
}
