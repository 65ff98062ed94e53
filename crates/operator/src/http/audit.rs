//! `/operator/v1/audit`: the audit log.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use serde::Deserialize;
use utoipa::{IntoParams, PartialSchema as _};
use utoipa_axum::routes;

use super::document::{BadQuery, NotFound};
use super::input::QueryParams;
use super::paging::PageSize;
use super::schema_types::{NameFilter, Timestamp};
use super::{HandlerResult, Routes, SharedState};
use crate::audit::{self, AuditPage, AuditRequest, audit_kinds};
use crate::error::AdminError;

/// As for the other names.
const ACTOR_CHARS_MAX: usize = 254;

/// The query parameters of the audit listing.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct AuditParams {
    /// Only records of this kind.
    #[param(schema_with = audit_kinds, required = false)]
    kind: Option<AuditKindName>,
    /// Only records of this user: an id, or an e-mail address.
    #[param(value_type = String, required = false, max_length = 254, pattern = r"^[^\x00]*$")]
    user: Option<NameFilter>,
    /// Only records of this tenant.
    #[param(value_type = String, required = false, max_length = 254, pattern = r"^[^\x00]*$")]
    tenant: Option<NameFilter>,
    /// Only records of this client.
    #[param(value_type = String, required = false, max_length = 254, pattern = r"^[^\x00]*$")]
    client: Option<NameFilter>,
    /// Only what this actor did: `service`, `anonymous`, `operator`, `token`, `cli`, `user`, `developer` or `client`, or
    /// one of them with an id, as in `cli:maria`.
    #[param(
        value_type = String,
        required = false,
        max_length = 254,
        pattern = r"^(service|anonymous|operator|token|cli|user|developer|client)(:[^\x00]*)?$"
    )]
    actor: Option<ActorName>,
    /// Only records about this object, as the records name it: `webhook:<id>`, `subscription:<id>`, `team:<id>`, …
    #[param(value_type = String, required = false, max_length = 254, pattern = r"^[^\x00]*$")]
    object: Option<NameFilter>,
    /// Only what the request with this `X-Request-Id` did.
    #[param(value_type = String, required = false, max_length = 254, pattern = r"^[^\x00]*$")]
    request_id: Option<NameFilter>,
    /// Only records of this time or later, as in 2026-11-15T08:30:00Z. Counted failures have the time at which their
    /// minute began.
    #[param(schema_with = Timestamp::schema, required = false)]
    since: Option<Timestamp>,
    /// Only records from before this time.
    #[param(schema_with = Timestamp::schema, required = false)]
    until: Option<Timestamp>,
    /// The `next` of the previous page; leave it out for the first page.
    #[param(
        value_type = String,
        required = false,
        pattern = "^(0|[1-9][0-9]{0,17})-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
    )]
    before: Option<AuditCursorText>,
    /// The largest number of records on the page.
    #[param(value_type = u16, required = false, minimum = 1, maximum = 1000, default = 100)]
    page_size: Option<PageSize>,
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct AuditKindName(String);

impl TryFrom<String> for AuditKindName {
    type Error = AdminError;

    fn try_from(name: String) -> Result<Self, AdminError> {
        audit::parse_kind(&name).map(|_| Self(name))
    }
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct AuditCursorText(String);

impl TryFrom<String> for AuditCursorText {
    type Error = AdminError;

    fn try_from(cursor: String) -> Result<Self, AdminError> {
        audit::parse_cursor(&cursor).map(|_| Self(cursor))
    }
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct ActorName(String);

impl TryFrom<String> for ActorName {
    type Error = AdminError;

    fn try_from(name: String) -> Result<Self, AdminError> {
        if name.contains('\0') || name.chars().count() > ACTOR_CHARS_MAX {
            return Err(AdminError::Invalid(format!(
                "actor has {ACTOR_CHARS_MAX} characters at most, and no NUL"
            )));
        }
        audit::parse_actor(&name).map(|_| Self(name))
    }
}

pub(super) fn routes() -> Routes {
    vec![routes!(list)]
}

/// Read the audit
///
/// Sign-ins and failed sign-ins; grants made, refreshed, reused and revoked; changes to tenants, users, clients,
/// subscriptions, signing keys and webhooks. Newest first. Where several conditions match few of many records, a page may be
/// shorter than its size, or empty, and have a `next`.
#[utoipa::path(
    get,
    path = "/operator/v1/audit",
    operation_id = "listAudit",
    tag = "Audit",
    params(AuditParams),
    responses((status = 200, description = "A page of records", body = AuditPage), BadQuery, NotFound)
)]
async fn list(State(state): SharedState, QueryParams(params): QueryParams<AuditParams>) -> HandlerResult {
    let text = |name: Option<NameFilter>| name.map(|name| name.0);
    let request = AuditRequest {
        kind: params.kind.map(|kind| kind.0),
        user: text(params.user),
        tenant: text(params.tenant),
        client: text(params.client),
        actor: params.actor.map(|actor| actor.0),
        object: text(params.object),
        request_id: text(params.request_id),
        since: params.since.map(|since| since.0),
        until: params.until.map(|until| until.0),
        before: params.before.map(|cursor| cursor.0),
        rows_max: params.page_size.map(|size| size.0),
        looks_max: None,
    };
    Ok(Json(audit::page(&*state.admin.store, &request).await?).into_response())
}
