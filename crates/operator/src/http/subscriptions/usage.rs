//! `/operator/v1/subscriptions/{subscription}/usage`: how many calls it made.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::routes;

use crate::admin::{Usage, read_day};
use crate::http::document::{BadQuery, Missing};
use crate::http::input::{Asked, Named};
use crate::http::{Answered, Desk, Routes};

/// Of which days. They may span 400 days.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct UsageAsk {
    /// The first day (UTC); the 30 days up to `to` where it is not given.
    #[param(value_type = String, format = Date, required = false, example = "2026-11-01")]
    from: Option<Day>,
    /// The last day (UTC), not before `from` and less than 400 days after it; today where it is not given.
    #[param(value_type = String, format = Date, required = false, example = "2026-11-15")]
    to: Option<Day>,
}

/// Counted from the first of year 1.
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

/// Read how much a subscription was used
///
/// By day, latest first, and by route. Calls that were refused at the gate are not counted. Each node tells its
/// counts every three seconds.
#[utoipa::path(
    get,
    path = "/operator/v1/subscriptions/{subscription}/usage",
    operation_id = "getSubscriptionUsage",
    tag = "Subscriptions",
    params(("subscription" = String, Path, description = "The subscription's id"), UsageAsk),
    responses((status = 200, description = "What it called", body = Usage), BadQuery, Missing)
)]
async fn usage(State(desk): Desk, Named(id): Named<String>, Asked(ask): Asked<UsageAsk>) -> Answered {
    let day = |day: Option<Day>| day.map(|day| day.0);
    Ok(Json(desk.admin.usage(&id, day(ask.from), day(ask.to)).await?).into_response())
}
