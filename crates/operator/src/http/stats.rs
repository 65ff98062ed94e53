//! `/operator/v1/stats`: totals over all webhooks.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use utoipa_axum::routes;

use super::{HandlerResult, Routes, SharedState};
use crate::admin::Stats;

pub(super) fn routes() -> Routes {
    vec![routes!(stats)]
}

/// Show totals over all webhooks
///
/// Webhooks by status, waiting events, recent deliveries and failures, and the number of nodes. For figures over time,
/// scrape `/metrics`.
#[utoipa::path(
    get,
    path = "/operator/v1/stats",
    operation_id = "getStats",
    tag = "Webhooks",
    responses((status = 200, description = "The totals", body = Stats))
)]
async fn stats(State(state): SharedState) -> HandlerResult {
    Ok(Json(state.admin.stats().await?).into_response())
}
