//! `/operator/v1/tenants/{tenant}/reads`: who read what, for the auditor.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use domain::TenantId;
use serde::Deserialize;
use store::ReadTarget;
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{IntoParams, PartialSchema as _};
use utoipa_axum::routes;

use super::document::{BadQuery, NotFound};
use super::input::{PathParams, QueryParams};
use super::paging::PageSize;
use super::schema_types::{NameFilter, Timestamp};
use super::{HandlerResult, Routes, SharedState};
use crate::admin::{
    AdminError, ReadPageJson, ReadsRequest, parse_read_cursor, parse_read_target, read_target_names,
};

/// The query parameters of who read what.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ReadParams {
    /// Only what this client read.
    #[param(value_type = String, required = false, max_length = 254, pattern = r"^[^\x00]*$")]
    client: Option<NameFilter>,
    /// Only reads of this resource, with its area: `accounting/journals`.
    #[param(schema_with = target_names, required = false)]
    resource: Option<TargetName>,
    /// Only reads of the company with this correlationId.
    #[param(value_type = String, required = false, max_length = 254, pattern = r"^[^\x00]*$")]
    company: Option<NameFilter>,
    /// Only of the day (UTC) of this time, or later.
    #[param(schema_with = Timestamp::schema, required = false)]
    since: Option<Timestamp>,
    /// Only of the day (UTC) of this time, or earlier.
    #[param(schema_with = Timestamp::schema, required = false)]
    until: Option<Timestamp>,
    /// The `next` of the previous page; leave it out for the first page.
    #[param(
        value_type = String,
        required = false,
        pattern = r"^(0|[1-9][0-9]{0,6})\.(0|[1-9][0-9]{0,2})\.[A-Za-z0-9][A-Za-z0-9._-]{0,99}( [^\x00]{1,200})?$"
    )]
    before: Option<ReadCursorText>,
    /// The largest number of rows on the page.
    #[param(value_type = u16, required = false, minimum = 1, maximum = 1000, default = 100)]
    page_size: Option<PageSize>,
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct TargetName(ReadTarget);

impl TryFrom<String> for TargetName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let target = parse_read_target(&name).map(Self);
        target.ok_or_else(|| format!("it must be one of {}; not {name:?}", read_target_names().join(", ")))
    }
}

fn target_names() -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(SchemaType::new(Type::String))
        .enum_values(Some(read_target_names()))
        .build()
        .into()
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct ReadCursorText(String);

impl TryFrom<String> for ReadCursorText {
    type Error = AdminError;

    fn try_from(cursor: String) -> Result<Self, AdminError> {
        parse_read_cursor(&cursor).map(|_| Self(cursor))
    }
}

pub(super) fn routes() -> Routes {
    vec![routes!(list)]
}

/// List who read what
///
/// Which client read which resource of which company of the tenant, how often, by day and hour (UTC); newest day first. Lists,
/// single records and feeds count alike, also where the response was 304; single records are not named. New reads appear
/// within a few seconds and are kept for `retention.reads`. Reads of sandboxes are not counted.
#[utoipa::path(
    get,
    path = "/operator/v1/tenants/{tenant}/reads",
    operation_id = "listReads",
    tag = "Audit",
    params(("tenant" = String, Path, description = "The tenant's id"), ReadParams),
    responses((status = 200, description = "A page of reads", body = ReadPageJson), BadQuery, NotFound)
)]
async fn list(
    State(state): SharedState,
    PathParams(tenant): PathParams<String>,
    QueryParams(params): QueryParams<ReadParams>,
) -> HandlerResult {
    let request = ReadsRequest {
        client: params.client.map(|client| client.0),
        target: params.resource.map(|name| name.0),
        company: params.company.map(|company| company.0),
        since: params.since.map(|since| since.0),
        until: params.until.map(|until| until.0),
        before: params.before.map(|cursor| cursor.0),
        rows_max: params.page_size.map(|size| size.0),
    };
    Ok(Json(state.admin.reads(&TenantId::new(tenant), &request).await?).into_response())
}
