//! `/operator/v1/stats`: how all webhooks do together.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use utoipa_axum::routes;

use super::{Answered, Desk, Routes};
use crate::admin::Stats;

pub(super) fn routes() -> Routes {
    vec![routes!(stats)]
}

/// See how all webhooks do
///
/// How many stand how, what waits, what was delivered and what failed lately, and how many nodes there are. For figures
/// over time, scrape `/metrics`.
#[utoipa::path(
    get,
    path = "/operator/v1/stats",
    operation_id = "getStats",
    tag = "Webhooks",
    responses((status = 200, description = "All webhooks together", body = Stats))
)]
async fn stats(State(desk): Desk) -> Answered {
    Ok(Json(desk.admin.stats().await?).into_response())
}
