//! `/operator/v1/webhooks`: everybody's webhooks, how they do, and what the operator can do to them.

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
use crate::admin::{ReplayShown, WebhookPage, WebhookShown};
use params::WebhookParams;

pub(super) fn routes() -> Routes {
    let own = [routes!(list), routes!(show, delete), routes!(enable), routes!(disable), routes!(test)];
    own.into_iter().chain(deliveries::routes()).collect()
}

/// List webhooks
///
/// Everybody's, oldest first, without their secrets. Those that are unsubscribed or deleted are listed only where
/// `status` asks for them.
#[utoipa::path(
    get,
    path = "/operator/v1/webhooks",
    operation_id = "listWebhooks",
    tag = "Webhooks",
    params(WebhookParams),
    responses((status = 200, description = "A page of webhooks", body = WebhookPage), BadQuery, NotFound)
)]
async fn list(State(state): SharedState, QueryParams(asked): QueryParams<WebhookParams>) -> HandlerResult {
    Ok(Json(state.admin.webhooks(&asked.into()).await?).into_response())
}

/// Show a webhook
///
/// With how it stands, in words, and how it does. One that is unsubscribed or deleted can still be seen.
#[utoipa::path(
    get,
    path = "/operator/v1/webhooks/{webhook}",
    operation_id = "getWebhook",
    tag = "Webhooks",
    params(("webhook" = String, Path, description = "The webhook's id")),
    responses((status = 200, description = "The webhook, with its health", body = WebhookShown), NotFound)
)]
async fn show(State(state): SharedState, PathParams(id): PathParams<String>) -> HandlerResult {
    Ok(Json(state.admin.webhook(&id).await?).into_response())
}

/// Enable a webhook
///
/// One that the service has disabled goes on with the first event that was not delivered; one that its owner or the
/// operator has disabled, with the next event. Without a contract a new handshake starts. An active one stays as it is.
#[utoipa::path(
    post,
    path = "/operator/v1/webhooks/{webhook}/enable",
    operation_id = "enableWebhook",
    tag = "Webhooks",
    params(("webhook" = String, Path, description = "The webhook's id")),
    responses((status = 200, description = "The webhook as it is now", body = WebhookShown), NotFound, WebhookOver)
)]
async fn enable(
    State(state): SharedState,
    PathParams(id): PathParams<String>,
    RequestOrigin(context): RequestOrigin,
) -> HandlerResult {
    Ok(Json(state.admin.enable_webhook(&id, &context).await?).into_response())
}

/// Disable a webhook
///
/// Nothing is sent any more, and what waits is dropped: once enabled, by its owner or here, it goes on with the next
/// event.
#[utoipa::path(
    post,
    path = "/operator/v1/webhooks/{webhook}/disable",
    operation_id = "disableWebhook",
    tag = "Webhooks",
    params(("webhook" = String, Path, description = "The webhook's id")),
    responses((status = 200, description = "The webhook as it is now", body = WebhookShown), NotFound, WebhookOver)
)]
async fn disable(
    State(state): SharedState,
    PathParams(id): PathParams<String>,
    RequestOrigin(context): RequestOrigin,
) -> HandlerResult {
    Ok(Json(state.admin.disable_webhook(&id, &context).await?).into_response())
}

/// Delete a webhook
///
/// For good; its owner can subscribe again. It can still be seen, with its deliveries, as long as these are kept.
#[utoipa::path(
    delete,
    path = "/operator/v1/webhooks/{webhook}",
    operation_id = "deleteWebhook",
    tag = "Webhooks",
    params(("webhook" = String, Path, description = "The webhook's id")),
    responses((status = 200, description = "The webhook as it was last", body = WebhookShown), NotFound, WebhookOver)
)]
async fn delete(
    State(state): SharedState,
    PathParams(id): PathParams<String>,
    RequestOrigin(context): RequestOrigin,
) -> HandlerResult {
    Ok(Json(state.admin.delete_webhook(&id, &context).await?).into_response())
}

/// Send a test event
///
/// One made-up event, at once and once. How it went is in the webhook's `recentAttempts` and in its replays.
#[utoipa::path(
    post,
    path = "/operator/v1/webhooks/{webhook}/test",
    operation_id = "testWebhook",
    tag = "Webhooks",
    params(("webhook" = String, Path, description = "The webhook's id")),
    responses((status = 202, description = "It is on its way", body = ReplayShown), NotFound, NotNow)
)]
async fn test(
    State(state): SharedState,
    PathParams(id): PathParams<String>,
    RequestOrigin(context): RequestOrigin,
) -> HandlerResult {
    let asked = state.admin.test_webhook(&id, &context).await?;
    Ok((StatusCode::ACCEPTED, Json(asked)).into_response())
}
