//! `/operator/v1/subscriptions/{subscription}/usage`: its calls by day and route.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::routes;

use crate::admin::{Usage, read_day};
use crate::http::document::{BadQuery, NotFound};
use crate::http::input::{PathParams, QueryParams};
use crate::http::{HandlerResult, Routes, SharedState};

/// The span of days: at most 400.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct UsageParams {
    /// The first day (UTC); 30 days up to `to` by default.
    #[param(value_type = String, format = Date, required = false, example = "2026-11-01")]
    from: Option<Day>,
    /// The last day (UTC), not before `from` and less than 400 days after it; today by default.
    #[param(value_type = String, format = Date, required = false, example = "2026-11-15")]
    to: Option<Day>,
}

/// Days since 0001-01-01.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
struct Day(i64);

impl TryFrom<String> for Day {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        read_day(&text).map(Self)
    }
}

pub(super) fn routes() -> Routes {
    vec![routes!(usage)]
}

/// Show the usage of a subscription
///
/// By day, latest first, and by route. Calls without a valid key or token are not counted. Each node flushes its counts
/// every three seconds.
#[utoipa::path(
    get,
    path = "/operator/v1/subscriptions/{subscription}/usage",
    operation_id = "getSubscriptionUsage",
    tag = "Subscriptions",
    params(("subscription" = String, Path, description = "The subscription's id"), UsageParams),
    responses((status = 200, description = "The calls", body = Usage), BadQuery, NotFound)
)]
async fn usage(
    State(state): SharedState,
    PathParams(id): PathParams<String>,
    QueryParams(params): QueryParams<UsageParams>,
) -> HandlerResult {
    let day = |day: Option<Day>| day.map(|day| day.0);
    Ok(Json(state.admin.usage(&id, day(params.from), day(params.to)).await?).into_response())
}
