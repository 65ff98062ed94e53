//! `/operator/v1/tenants/{tenant}/records`: the records of a tenant, their history, who was notified, and edits by hand.

mod params;

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use utoipa_axum::routes;

use super::document::{BadBody, BadQuery, EditConflict, NotFound};
use super::input::{JsonBody, PathParams, QueryParams, RequestOrigin};
use super::{HandlerResult, Routes, SharedState};
use crate::admin::{
    CollectionName, EditedRecordJson, NotifiedPageJson, NotifiedQuery, RECORD_ROWS_DEFAULT,
    RecordCatalogueJson, RecordDiffJson, RecordHistoryJson, RecordJson, RecordName, RecordPageJson,
};
use params::{
    CompanyId, DiffParams, HistoryParams, NewEdit, NewEditSchema, NotifiedParams, OwnerParams,
    RecordListParams,
};

type RecordPath = (String, String, String, String);

pub(super) fn routes() -> Routes {
    vec![
        routes!(catalogue),
        routes!(list),
        routes!(show),
        routes!(history),
        routes!(diff),
        routes!(notified),
        routes!(edit),
    ]
}

/// The record that a path names. The tenant is looked up first, so that an unknown one is 404 whatever else is wrong.
async fn record_name(
    state: &super::AppState,
    (tenant, area, resource, record): &RecordPath,
    company: Option<&CompanyId>,
) -> Result<RecordName, web::ErrorResponse> {
    let of = collection_name(state, (tenant, area, resource), company).await?;
    Ok(of.record(record))
}

async fn collection_name(
    state: &super::AppState,
    (tenant, area, resource): (&str, &str, &str),
    company: Option<&CompanyId>,
) -> Result<CollectionName, web::ErrorResponse> {
    state.admin.tenant(&domain::TenantId::new(tenant)).await?;
    Ok(CollectionName::parse(tenant, area, resource, company.map(|company| company.0.as_str()))?)
}

/// Count records
///
/// The resources of the catalogue with the number of records of each: those that belong to the tenant itself (companies,
/// payroll companies, invoicing), or those of one company.
#[utoipa::path(
    get,
    path = "/operator/v1/tenants/{tenant}/records",
    operation_id = "countRecords",
    tag = "Records",
    params(("tenant" = String, Path, description = "The tenant's id"), OwnerParams),
    responses((status = 200, description = "The resources", body = RecordCatalogueJson), BadQuery, NotFound)
)]
async fn catalogue(
    State(state): SharedState,
    PathParams(tenant): PathParams<String>,
    QueryParams(params): QueryParams<OwnerParams>,
) -> HandlerResult {
    let company = params.company.as_ref().map(|company| company.0.as_str());
    Ok(Json(state.admin.record_catalogue(&tenant, company).await?).into_response())
}

/// List records
///
/// In order of creation. The companies of a tenant are `accounting/companies`.
#[utoipa::path(
    get,
    path = "/operator/v1/tenants/{tenant}/records/{area}/{resource}",
    operation_id = "listRecords",
    tag = "Records",
    params(
        ("tenant" = String, Path, description = "The tenant's id"),
        ("area" = String, Path, description = "The area, as in changes"),
        ("resource" = String, Path, description = "The resource, as in changes"),
        RecordListParams
    ),
    responses((status = 200, description = "A page of records", body = RecordPageJson), BadQuery, NotFound)
)]
async fn list(
    State(state): SharedState,
    PathParams((tenant, area, resource)): PathParams<(String, String, String)>,
    QueryParams(params): QueryParams<RecordListParams>,
) -> HandlerResult {
    let of = collection_name(&state, (&tenant, &area, &resource), params.company.as_ref()).await?;
    let offset = params.offset.map_or(0, |offset| offset.0);
    let rows_max = params.page_size.map_or(RECORD_ROWS_DEFAULT, |size| size.0);
    Ok(Json(state.admin.records(&of, offset, rows_max).await?).into_response())
}

/// Show a record
///
/// Also a deleted one, if the log still has it.
#[utoipa::path(
    get,
    path = "/operator/v1/tenants/{tenant}/records/{area}/{resource}/{record}",
    operation_id = "getRecord",
    tag = "Records",
    params(
        ("tenant" = String, Path, description = "The tenant's id"),
        ("area" = String, Path, description = "The area, as in changes"),
        ("resource" = String, Path, description = "The resource, as in changes"),
        ("record" = String, Path, description = "The record's correlationId; of a payroll company, its code"),
        OwnerParams
    ),
    responses((status = 200, description = "The record", body = RecordJson), BadQuery, NotFound)
)]
async fn show(
    State(state): SharedState,
    PathParams(path): PathParams<RecordPath>,
    QueryParams(params): QueryParams<OwnerParams>,
) -> HandlerResult {
    let name = record_name(&state, &path, params.company.as_ref()).await?;
    Ok(Json(state.admin.record(&name).await?).into_response())
}

/// List the changes of a record
///
/// Its entries in the change log, newest first: who changed it, when, from which process. The log expires after
/// `retention.log`.
#[utoipa::path(
    get,
    path = "/operator/v1/tenants/{tenant}/records/{area}/{resource}/{record}/history",
    operation_id = "listRecordChanges",
    tag = "Records",
    params(
        ("tenant" = String, Path, description = "The tenant's id"),
        ("area" = String, Path, description = "The area, as in changes"),
        ("resource" = String, Path, description = "The resource, as in changes"),
        ("record" = String, Path, description = "The record's correlationId; of a payroll company, its code"),
        HistoryParams
    ),
    responses((status = 200, description = "A page of changes", body = RecordHistoryJson), BadQuery, NotFound)
)]
async fn history(
    State(state): SharedState,
    PathParams(path): PathParams<RecordPath>,
    QueryParams(params): QueryParams<HistoryParams>,
) -> HandlerResult {
    let name = record_name(&state, &path, params.company.as_ref()).await?;
    let before = params.before.map(|before| before.0);
    let rows_max = params.page_size.map_or(RECORD_ROWS_DEFAULT, |size| size.0);
    Ok(Json(state.admin.record_history(&name, before, rows_max).await?).into_response())
}

/// Compare two versions of a record
///
/// As far as the log has the values: it keeps those of changed members for invoicing alone.
#[utoipa::path(
    get,
    path = "/operator/v1/tenants/{tenant}/records/{area}/{resource}/{record}/diff",
    operation_id = "compareRecordVersions",
    tag = "Records",
    params(
        ("tenant" = String, Path, description = "The tenant's id"),
        ("area" = String, Path, description = "The area, as in changes"),
        ("resource" = String, Path, description = "The resource, as in changes"),
        ("record" = String, Path, description = "The record's correlationId; of a payroll company, its code"),
        DiffParams
    ),
    responses((status = 200, description = "What differs", body = RecordDiffJson), BadQuery, NotFound)
)]
async fn diff(
    State(state): SharedState,
    PathParams(path): PathParams<RecordPath>,
    QueryParams(params): QueryParams<DiffParams>,
) -> HandlerResult {
    let name = record_name(&state, &path, params.company.as_ref()).await?;
    Ok(Json(state.admin.record_diff(&name, params.from.0, params.to.0).await?).into_response())
}

/// List who was notified of a record
///
/// The webhooks that were to get the newest 20 changes of the record, or one change, with their deliveries.
#[utoipa::path(
    get,
    path = "/operator/v1/tenants/{tenant}/records/{area}/{resource}/{record}/notifications",
    operation_id = "listRecordNotifications",
    tag = "Records",
    params(
        ("tenant" = String, Path, description = "The tenant's id"),
        ("area" = String, Path, description = "The area, as in changes"),
        ("resource" = String, Path, description = "The resource, as in changes"),
        ("record" = String, Path, description = "The record's correlationId; of a payroll company, its code"),
        NotifiedParams
    ),
    responses((status = 200, description = "A page of webhooks", body = NotifiedPageJson), BadQuery, NotFound)
)]
async fn notified(
    State(state): SharedState,
    PathParams(path): PathParams<RecordPath>,
    QueryParams(params): QueryParams<NotifiedParams>,
) -> HandlerResult {
    let name = record_name(&state, &path, params.company.as_ref()).await?;
    let query = NotifiedQuery {
        change: params.change.map(|change| change.0),
        after: params.after.map(|cursor| cursor.0),
        rows_max: params.page_size.map(|size| size.0),
    };
    Ok(Json(state.webhooks.notified(&name, &query).await?).into_response())
}

/// Edit a record by hand
///
/// The change is processed like those of your products: it gets a number in the log, and applications are notified. The
/// audit records who made it, and the reason. A record that was deleted is restored by an upsert.
#[utoipa::path(
    post,
    path = "/operator/v1/tenants/{tenant}/records/{area}/{resource}/{record}/edits",
    operation_id = "editRecord",
    tag = "Records",
    params(
        ("tenant" = String, Path, description = "The tenant's id"),
        ("area" = String, Path, description = "The area, as in changes"),
        ("resource" = String, Path, description = "The resource, as in changes"),
        ("record" = String, Path, description = "The record's correlationId; of a payroll company, its code"),
        OwnerParams
    ),
    request_body(
        content = NewEditSchema,
        example = json!({"action": "upsert", "data": {"name": "Caja Rural"}, "reason": "El nombre era incorrecto."})
    ),
    responses(
        (status = 200, description = "What the edit did", body = EditedRecordJson),
        BadBody,
        NotFound,
        EditConflict
    )
)]
async fn edit(
    State(state): SharedState,
    PathParams(path): PathParams<RecordPath>,
    QueryParams(params): QueryParams<OwnerParams>,
    RequestOrigin(authority): RequestOrigin,
    JsonBody(edit): JsonBody<NewEdit>,
) -> HandlerResult {
    let admin = state.admin.acting(authority);
    admin.require(crate::admin::Permission::Changes)?;
    let name = record_name(&state, &path, params.company.as_ref()).await?;
    Ok(Json(admin.edit_record(&name, &edit.into_edit()?).await?).into_response())
}
