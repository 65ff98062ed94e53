//! `/operator/v1/webhooks/{webhook}/deliveries` and `…/replay`: what was sent, and sending it again.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::params::DeliveryParams;
use crate::admin::{DeliveryPage, DeliveryShown, ReplayPage, ReplayShown};
use crate::http::document::{BadBody, BadQuery, NotFound, NotNow};
use crate::http::input::{JsonBody, PathParams, QueryParams, RequestOrigin};
use crate::http::schema_types::Timestamp;
use crate::http::{HandlerResult, Routes, SharedState};

/// A span of time.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ReplaySpan)]
struct SpanAsk {
    // Events from then on. Said here: a description beside an inlined schema makes the document contradict itself.
    #[schema(inline)]
    from: Timestamp,
    /// Up to then; up to now where it is not given.
    #[schema(inline)]
    to: Option<Timestamp>,
}

pub(super) fn routes() -> Routes {
    vec![routes!(list), routes!(show), routes!(replay_one), routes!(replay), routes!(replays)]
}

/// List deliveries
///
/// The events that were sent at least once, each once, by when it was last heard of, newest first. Events that wait for
/// their first attempt are counted in the webhook's health.
#[utoipa::path(
    get,
    path = "/operator/v1/webhooks/{webhook}/deliveries",
    operation_id = "listDeliveries",
    tag = "Webhooks",
    params(("webhook" = String, Path, description = "The webhook's id"), DeliveryParams),
    responses((status = 200, description = "A page of deliveries", body = DeliveryPage), BadQuery, NotFound)
)]
async fn list(
    State(state): SharedState,
    PathParams(id): PathParams<String>,
    QueryParams(asked): QueryParams<DeliveryParams>,
) -> HandlerResult {
    Ok(Json(state.admin.deliveries(&id, &asked.into()).await?).into_response())
}

/// Show a delivery
///
/// With its attempts, and the body that is sent.
#[utoipa::path(
    get,
    path = "/operator/v1/webhooks/{webhook}/deliveries/{delivery}",
    operation_id = "getDelivery",
    tag = "Webhooks",
    params(
        ("webhook" = String, Path, description = "The webhook's id"),
        ("delivery" = String, Path, description = "Its OutgoingId, or the event's number in the log")
    ),
    responses((status = 200, description = "The delivery", body = DeliveryShown), NotFound)
)]
async fn show(
    State(state): SharedState,
    PathParams((id, delivery)): PathParams<(String, String)>,
) -> HandlerResult {
    Ok(Json(state.admin.delivery(&id, &delivery).await?).into_response())
}

/// Send an event again
///
/// The same id and the same bytes, signed with the current secret; beside everything else, once.
#[utoipa::path(
    post,
    path = "/operator/v1/webhooks/{webhook}/deliveries/{delivery}/replay",
    operation_id = "replayDelivery",
    tag = "Webhooks",
    params(
        ("webhook" = String, Path, description = "The webhook's id"),
        ("delivery" = String, Path, description = "Its OutgoingId, or the event's number in the log")
    ),
    responses((status = 202, description = "It is on its way", body = ReplayShown), NotFound, NotNow)
)]
async fn replay_one(
    State(state): SharedState,
    PathParams((id, delivery)): PathParams<(String, String)>,
    RequestOrigin(context): RequestOrigin,
) -> HandlerResult {
    let asked = state.admin.replay_delivery(&id, &delivery, &context).await?;
    Ok((StatusCode::ACCEPTED, Json(asked)).into_response())
}

/// Send the events of a span of time again
///
/// In their order, one at a time, beside everything else; as far as the log still has them, and only what came after the
/// webhook's first contract. What fails is counted and not tried again.
#[utoipa::path(
    post,
    path = "/operator/v1/webhooks/{webhook}/replay",
    operation_id = "replayWebhook",
    tag = "Webhooks",
    params(("webhook" = String, Path, description = "The webhook's id")),
    request_body(content = SpanAsk, example = json!({"from": "2026-01-01T00:00:00Z"})),
    responses((status = 202, description = "They are on their way", body = ReplayShown), BadBody, NotFound, NotNow)
)]
async fn replay(
    State(state): SharedState,
    PathParams(id): PathParams<String>,
    RequestOrigin(context): RequestOrigin,
    JsonBody(span): JsonBody<SpanAsk>,
) -> HandlerResult {
    let asked = state.admin.replay_span(&id, span.from.0, span.to.map(|to| to.0), &context).await?;
    Ok((StatusCode::ACCEPTED, Json(asked)).into_response())
}

/// List replays
///
/// The newest 100, newest first, and how far each has come; test events too.
#[utoipa::path(
    get,
    path = "/operator/v1/webhooks/{webhook}/replays",
    operation_id = "listReplays",
    tag = "Webhooks",
    params(("webhook" = String, Path, description = "The webhook's id")),
    responses((status = 200, description = "The replays", body = ReplayPage), NotFound)
)]
async fn replays(State(state): SharedState, PathParams(id): PathParams<String>) -> HandlerResult {
    Ok(Json(state.admin.replays(&id).await?).into_response())
}
