//! `/operator/v1/doctor`, `/operator/v1/configuration` and `/operator/v1/backups`: the running service itself.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE};
use axum::response::IntoResponse as _;
use serde::{Deserialize, Serialize};
use ui::Lang;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::routes;

use super::document::{BackupConflict, BadQuery, NotFound};
use super::input::{PathParams, QueryParams, RequestOrigin};
use super::schema_types::NameFilter;
use super::{AppState, HandlerResult, Routes, SharedState, no_store};
use crate::admin::{Authority, OperationsAdmin};
use crate::error::AdminError;
use crate::operations::backups::{BackupList, BackupRun};
use crate::operations::configuration::ConfigurationKey;
use crate::operations::doctor::DoctorReport;

/// The configuration of the node that answers.
#[derive(Serialize, ToSchema)]
struct ConfigurationPage {
    keys: Vec<ConfigurationKey>,
}

/// The query parameters of the configuration.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ConfigurationParams {
    /// Only keys whose value is another than the default.
    changed: Option<bool>,
    /// Only keys whose name, value or explanation contains this.
    #[param(value_type = String, required = false, max_length = 254, pattern = r"^[^\x00]*$")]
    q: Option<NameFilter>,
}

pub(super) fn routes() -> Routes {
    vec![routes!(doctor), routes!(configuration), routes!(backups, start_backup), routes!(download_backup)]
}

impl AppState {
    fn operations(&self, authority: Authority) -> Result<OperationsAdmin, AdminError> {
        let operations = self.operations.as_ref();
        let operations =
            operations.ok_or_else(|| AdminError::NotFound("service around this store".into()))?;
        Ok(operations.acting(authority))
    }
}

/// Examine the installation
///
/// Clock, disk, open files, addresses, proxies, certificates, DNS, outgoing connections, store: the same as
/// `aldaba doctor`, on the node that answers. Takes two seconds at most; the result of the last few seconds is returned
/// again.
#[utoipa::path(
    get,
    path = "/operator/v1/doctor",
    operation_id = "getDoctor",
    tag = "Service",
    responses((status = 200, description = "The findings", body = DoctorReport))
)]
async fn doctor(State(state): SharedState, RequestOrigin(authority): RequestOrigin) -> HandlerResult {
    let examination = state.operations(authority)?.examine().await;
    Ok(Json(examination.report(Lang::En)).into_response())
}

/// Show the configuration
///
/// Every key of the node that answers, with its value, its default and where it came from. Secrets are hidden.
#[utoipa::path(
    get,
    path = "/operator/v1/configuration",
    operation_id = "getConfiguration",
    tag = "Service",
    params(ConfigurationParams),
    responses((status = 200, description = "The keys", body = ConfigurationPage), BadQuery)
)]
async fn configuration(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    QueryParams(params): QueryParams<ConfigurationParams>,
) -> HandlerResult {
    let operations = state.operations(authority)?;
    let is_wanted = |key: &&ConfigurationKey| {
        (params.changed != Some(true) || key.is_changed)
            && params.q.as_ref().is_none_or(|text| key.contains(&text.0))
    };
    let keys = operations.configuration.iter().filter(is_wanted).cloned().collect();
    Ok(Json(ConfigurationPage { keys }).into_response())
}

/// List backups
///
/// Those in the backup directory of the node that answers, the newest first, and the one that it is making.
#[utoipa::path(
    get,
    path = "/operator/v1/backups",
    operation_id = "listBackups",
    tag = "Service",
    responses((status = 200, description = "The backups", body = BackupList), BackupConflict)
)]
async fn backups(State(state): SharedState, RequestOrigin(authority): RequestOrigin) -> HandlerResult {
    Ok(Json(state.operations(authority)?.backups().await?).into_response())
}

/// Make a backup
///
/// In the background, one at a time; `GET /operator/v1/backups` shows how far it is. When it is done, backups beyond
/// `backup.keep` are deleted, the oldest first.
#[utoipa::path(
    post,
    path = "/operator/v1/backups",
    operation_id = "startBackup",
    tag = "Service",
    responses((status = 202, description = "The backup has begun", body = BackupRun), BackupConflict)
)]
async fn start_backup(State(state): SharedState, RequestOrigin(authority): RequestOrigin) -> HandlerResult {
    let run = state.operations(authority)?.start_backup().await?;
    Ok((StatusCode::ACCEPTED, Json(run)).into_response())
}

/// Download a backup
///
/// The file as it is, plain or encrypted. Needs the role admin, and is audited: that is why it is no GET.
#[utoipa::path(
    post,
    path = "/operator/v1/backups/{backup}/download",
    operation_id = "downloadBackup",
    tag = "Service",
    params(("backup" = String, Path, description = "The name of the backup")),
    responses(
        (status = 200, description = "The backup", content_type = "application/octet-stream", body = String,
            headers(
                ("Content-Disposition" = String, description = "The name of the file"),
                ("Cache-Control" = String, description = "no-store")
            )),
        NotFound,
        BackupConflict
    )
)]
async fn download_backup(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    PathParams(name): PathParams<String>,
) -> HandlerResult {
    let content = state.operations(authority)?.download_backup(&name).await?;
    let headers = [
        (CONTENT_TYPE, "application/octet-stream".to_owned()),
        (CONTENT_LENGTH, content.bytes.to_string()),
        (CONTENT_DISPOSITION, format!("attachment; filename=\"{}\"", content.name)),
    ];
    Ok(no_store((headers, Body::from_stream(content.pieces)).into_response()))
}
