//! `/operator/v1/webhooks/{webhook}/deliveries` and `…/replay`: the deliveries of a webhook, and replays.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::params::DeliveryParams;
use crate::admin::{DeliveryJson, DeliveryPageJson, ReplayJson, ReplayPageJson};
use crate::http::document::{BadBody, BadQuery, NotFound, NotNow};
use crate::http::input::{JsonBody, PathParams, QueryParams, RequestOrigin};
use crate::http::schema_types::Timestamp;
use crate::http::{HandlerResult, Routes, SharedState};

/// A span of time.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ReplaySpan {
    // Events from this time on. No doc comment: a description beside an inlined schema makes the document contradict
    // itself.
    #[schema(inline)]
    from: Timestamp,
    /// Up to this time; without it, up to the end of the log.
    #[schema(inline)]
    to: Option<Timestamp>,
}

pub(super) fn routes() -> Routes {
    vec![routes!(list), routes!(show), routes!(replay_delivery), routes!(replay), routes!(replays)]
}

/// List deliveries
///
/// Events that were sent at least once, each listed once at its newest attempt, newest first. Events that wait for their
/// first attempt are counted in the webhook's health. Event and record are those of events that the log still has.
#[utoipa::path(
    get,
    path = "/operator/v1/webhooks/{webhook}/deliveries",
    operation_id = "listDeliveries",
    tag = "Webhooks",
    params(("webhook" = String, Path, description = "The webhook's id"), DeliveryParams),
    responses((status = 200, description = "A page of deliveries", body = DeliveryPageJson), BadQuery, NotFound)
)]
async fn list(
    State(state): SharedState,
    PathParams(id): PathParams<String>,
    QueryParams(params): QueryParams<DeliveryParams>,
) -> HandlerResult {
    let (query, event) = params.into_query();
    Ok(Json(state.webhooks.deliveries(&id, query, event.as_deref()).await?).into_response())
}

/// Show a delivery
///
/// With its attempts and the body of the notification.
#[utoipa::path(
    get,
    path = "/operator/v1/webhooks/{webhook}/deliveries/{delivery}",
    operation_id = "getDelivery",
    tag = "Webhooks",
    params(
        ("webhook" = String, Path, description = "The webhook's id"),
        ("delivery" = String, Path, description = "Its OutgoingId, or the event's number in the log")
    ),
    responses((status = 200, description = "The delivery", body = DeliveryJson), NotFound)
)]
async fn show(
    State(state): SharedState,
    PathParams((id, delivery)): PathParams<(String, String)>,
) -> HandlerResult {
    Ok(Json(state.webhooks.delivery(&id, &delivery).await?).into_response())
}

/// Send an event again
///
/// Sends the same id and the same bytes, signed with the current secret; outside the order of the deliveries, without
/// retries.
#[utoipa::path(
    post,
    path = "/operator/v1/webhooks/{webhook}/deliveries/{delivery}/replay",
    operation_id = "replayDelivery",
    tag = "Webhooks",
    params(
        ("webhook" = String, Path, description = "The webhook's id"),
        ("delivery" = String, Path, description = "Its OutgoingId, or the event's number in the log")
    ),
    responses((status = 202, description = "The event will be sent", body = ReplayJson), NotFound, NotNow)
)]
async fn replay_delivery(
    State(state): SharedState,
    PathParams((id, delivery)): PathParams<(String, String)>,
    RequestOrigin(authority): RequestOrigin,
) -> HandlerResult {
    let replay = state.webhooks.replay_delivery(&id, &delivery, &authority).await?;
    Ok((StatusCode::ACCEPTED, Json(replay)).into_response())
}

/// Send the events of a span of time again
///
/// Sends them in their order, one at a time, outside the order of the deliveries: those that the log still has and that
/// are newer than the webhook's first contract. Failures are counted and not retried.
#[utoipa::path(
    post,
    path = "/operator/v1/webhooks/{webhook}/replay",
    operation_id = "replayWebhook",
    tag = "Webhooks",
    params(("webhook" = String, Path, description = "The webhook's id")),
    request_body(content = ReplaySpan, example = json!({"from": "2026-01-01T00:00:00Z"})),
    responses((status = 202, description = "The events will be sent", body = ReplayJson), BadBody, NotFound, NotNow)
)]
async fn replay(
    State(state): SharedState,
    PathParams(id): PathParams<String>,
    RequestOrigin(authority): RequestOrigin,
    JsonBody(span): JsonBody<ReplaySpan>,
) -> HandlerResult {
    let replay = state.webhooks.replay_span(&id, span.from.0, span.to.map(|to| to.0), &authority).await?;
    Ok((StatusCode::ACCEPTED, Json(replay)).into_response())
}

/// List replays
///
/// The newest 100, newest first, with their progress; test events too.
#[utoipa::path(
    get,
    path = "/operator/v1/webhooks/{webhook}/replays",
    operation_id = "listReplays",
    tag = "Webhooks",
    params(("webhook" = String, Path, description = "The webhook's id")),
    responses((status = 200, description = "The replays", body = ReplayPageJson), NotFound)
)]
async fn replays(State(state): SharedState, PathParams(id): PathParams<String>) -> HandlerResult {
    Ok(Json(state.webhooks.replays(&id).await?).into_response())
}
