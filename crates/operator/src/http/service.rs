//! `/operator/v1/overview`, `/nodes`, `/setup`: whether the service is well.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::routes;

use super::document::BadQuery;
use super::input::QueryParams;
use super::{HandlerResult, Routes, SharedState};
use crate::admin::{NodeReport, Overview, SetupStep, Span};

/// The query parameters of the overview.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct OverviewParams {
    /// How far back the traffic goes.
    #[param(value_type = Span, required = false, default = "hour")]
    span: Option<SpanName>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
struct SpanName(Span);

impl TryFrom<String> for SpanName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let span = Span::parse(&text).map(Self);
        span.ok_or_else(|| format!("{text:?} is not hour, day or week"))
    }
}

/// The live nodes.
#[derive(Serialize, ToSchema)]
struct NodeList {
    nodes: Vec<NodeReport>,
}

/// The first steps of an installation.
#[derive(Serialize, ToSchema)]
struct SetupList {
    steps: Vec<SetupStep>,
}

pub(super) fn routes() -> Routes {
    vec![routes!(overview), routes!(nodes), routes!(setup)]
}

/// Show the problems and the state of the service
///
/// Problems, traffic and latencies by area, sign-ins, deliveries, the store, the nodes, what expires soon, and pending requests.
/// All nodes return the same, which is gathered every few seconds.
#[utoipa::path(
    get,
    path = "/operator/v1/overview",
    operation_id = "getOverview",
    tag = "Service",
    params(OverviewParams),
    responses((status = 200, description = "The overview", body = Overview), BadQuery)
)]
async fn overview(
    State(state): SharedState,
    QueryParams(params): QueryParams<OverviewParams>,
) -> HandlerResult {
    let span = params.span.map(|span| span.0).unwrap_or_default();
    Ok(Json(state.service()?.overview(span).await?).into_response())
}

/// List the nodes that serve this store
#[utoipa::path(
    get,
    path = "/operator/v1/nodes",
    operation_id = "listNodes",
    tag = "Service",
    responses((status = 200, description = "The live nodes, in the order in which they started", body = NodeList))
)]
async fn nodes(State(state): SharedState) -> HandlerResult {
    let nodes = state.service()?.nodes().await?;
    Ok(Json(NodeList { nodes }).into_response())
}

/// Show the first steps of an installation
#[utoipa::path(
    get,
    path = "/operator/v1/setup",
    operation_id = "getSetup",
    tag = "Service",
    responses((status = 200, description = "The steps, and which of them are done", body = SetupList))
)]
async fn setup(State(state): SharedState) -> HandlerResult {
    let steps = state.service()?.setup().await?;
    Ok(Json(SetupList { steps }).into_response())
}
