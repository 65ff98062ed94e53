//! `/operator/v1/webhooks`: the webhooks of all owners, their health, and what the operator can do to them.

mod bulk;
mod deliveries;
mod params;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use utoipa_axum::routes;

use super::document::{BadQuery, NotFound, NotNow, WebhookOver};
use super::input::{PathParams, QueryParams, RequestOrigin};
use super::{HandlerResult, Routes, SharedState};
use crate::admin::{ReplayJson, WebhookJson, WebhookPageJson};
use params::WebhookParams;

pub(super) fn routes() -> Routes {
    let own = [routes!(list), routes!(show, delete), routes!(enable), routes!(disable), routes!(test)];
    own.into_iter().chain(bulk::routes()).chain(deliveries::routes()).collect()
}

/// List webhooks
///
/// The webhooks of all owners, oldest first, without their secrets. Unsubscribed and deleted ones are listed only where
/// `status` asks for them.
#[utoipa::path(
    get,
    path = "/operator/v1/webhooks",
    operation_id = "listWebhooks",
    tag = "Webhooks",
    params(WebhookParams),
    responses((status = 200, description = "A page of webhooks", body = WebhookPageJson), BadQuery, NotFound)
)]
async fn list(State(state): SharedState, QueryParams(params): QueryParams<WebhookParams>) -> HandlerResult {
    Ok(Json(state.webhooks.list(&params.into()).await?).into_response())
}

/// Show a webhook
///
/// With its status, explained, and its health. An unsubscribed or deleted webhook can still be read.
#[utoipa::path(
    get,
    path = "/operator/v1/webhooks/{webhook}",
    operation_id = "getWebhook",
    tag = "Webhooks",
    params(("webhook" = String, Path, description = "The webhook's id")),
    responses((status = 200, description = "The webhook, with its health", body = WebhookJson), NotFound)
)]
async fn show(State(state): SharedState, PathParams(id): PathParams<String>) -> HandlerResult {
    Ok(Json(state.webhooks.show(&id).await?).into_response())
}

/// Enable a webhook
///
/// A webhook that the service has disabled goes on with the first undelivered event; one that its owner or the operator
/// has disabled, with the next event. Without a contract a new handshake starts. An active webhook stays as it is.
#[utoipa::path(
    post,
    path = "/operator/v1/webhooks/{webhook}/enable",
    operation_id = "enableWebhook",
    tag = "Webhooks",
    params(("webhook" = String, Path, description = "The webhook's id")),
    responses((status = 200, description = "The webhook as it is now", body = WebhookJson), NotFound, WebhookOver)
)]
async fn enable(
    State(state): SharedState,
    PathParams(id): PathParams<String>,
    RequestOrigin(authority): RequestOrigin,
) -> HandlerResult {
    Ok(Json(state.webhooks.enable(&id, &authority).await?).into_response())
}

/// Disable a webhook
///
/// Nothing is sent any more, and waiting events are dropped: once enabled, by its owner or here, the webhook goes on with
/// the next event.
#[utoipa::path(
    post,
    path = "/operator/v1/webhooks/{webhook}/disable",
    operation_id = "disableWebhook",
    tag = "Webhooks",
    params(("webhook" = String, Path, description = "The webhook's id")),
    responses((status = 200, description = "The webhook as it is now", body = WebhookJson), NotFound, WebhookOver)
)]
async fn disable(
    State(state): SharedState,
    PathParams(id): PathParams<String>,
    RequestOrigin(authority): RequestOrigin,
) -> HandlerResult {
    Ok(Json(state.webhooks.disable(&id, &authority).await?).into_response())
}

/// Delete a webhook
///
/// Deletion is permanent; its owner can subscribe again. The webhook and its deliveries can still be read until the
/// history expires.
#[utoipa::path(
    delete,
    path = "/operator/v1/webhooks/{webhook}",
    operation_id = "deleteWebhook",
    tag = "Webhooks",
    params(("webhook" = String, Path, description = "The webhook's id")),
    responses((status = 200, description = "The deleted webhook", body = WebhookJson), NotFound, WebhookOver)
)]
async fn delete(
    State(state): SharedState,
    PathParams(id): PathParams<String>,
    RequestOrigin(authority): RequestOrigin,
) -> HandlerResult {
    Ok(Json(state.webhooks.delete(&id, &authority).await?).into_response())
}

/// Send a test event
///
/// Sends one generated event at once, without retries. The webhook's `recentAttempts` and replays show the result.
#[utoipa::path(
    post,
    path = "/operator/v1/webhooks/{webhook}/test",
    operation_id = "testWebhook",
    tag = "Webhooks",
    params(("webhook" = String, Path, description = "The webhook's id")),
    responses((status = 202, description = "The event will be sent", body = ReplayJson), NotFound, NotNow)
)]
async fn test(
    State(state): SharedState,
    PathParams(id): PathParams<String>,
    RequestOrigin(authority): RequestOrigin,
) -> HandlerResult {
    let replay = state.webhooks.send_test_event(&id, &authority).await?;
    Ok((StatusCode::ACCEPTED, Json(replay)).into_response())
}
