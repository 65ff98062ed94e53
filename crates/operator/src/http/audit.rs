//! `/operator/v1/audit`: what happened to accounts and grants.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use serde::Deserialize;
use store::AuditKind;
use utoipa::IntoParams;
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa_axum::routes;

use super::document::{BadQuery, Missing};
use super::input::Asked;
use super::paging::PageSize;
use super::{Answered, Desk, Routes};
use crate::admin::AdminError;
use crate::audit::{self, AuditAsk, AuditPage};

const NAME_CHARS_MAX: usize = 254;

/// The query of the audit.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct AuditParams {
    /// Only records of this kind.
    #[param(schema_with = kinds, required = false)]
    kind: Option<KindWord>,
    /// Only records of this user: an id, or an e-mail address.
    #[param(value_type = String, required = false, max_length = 254, pattern = r"^[^\x00]*$")]
    user: Option<WhoseName>,
    /// Only records of this tenant.
    #[param(value_type = String, required = false, max_length = 254, pattern = r"^[^\x00]*$")]
    tenant: Option<WhoseName>,
    /// Only records of this client.
    #[param(value_type = String, required = false, max_length = 254, pattern = r"^[^\x00]*$")]
    client: Option<WhoseName>,
    /// The `next` of the page before; leave it out for the first page.
    #[param(
        value_type = String,
        required = false,
        pattern = "^(0|[1-9][0-9]{0,17})-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
    )]
    before: Option<EarlierMark>,
    /// How many records a page has at the most.
    #[param(value_type = u16, required = false, minimum = 1, maximum = 1000, default = 100)]
    page_size: Option<PageSize>,
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct KindWord(String);

impl TryFrom<String> for KindWord {
    type Error = AdminError;

    fn try_from(word: String) -> Result<Self, AdminError> {
        audit::read_kind(&word).map(|_| Self(word))
    }
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct EarlierMark(String);

impl TryFrom<String> for EarlierMark {
    type Error = AdminError;

    fn try_from(mark: String) -> Result<Self, AdminError> {
        audit::read_mark(&mark).map(|_| Self(mark))
    }
}

/// What somebody is called, as far as a store can be asked for it.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct WhoseName(pub(super) String);

impl TryFrom<String> for WhoseName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.contains('\0') || text.chars().count() > NAME_CHARS_MAX {
            return Err(format!("it may have {NAME_CHARS_MAX} characters, none of them NUL"));
        }
        Ok(Self(text))
    }
}

/// The kinds that there are.
pub(crate) fn kinds() -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(SchemaType::new(Type::String))
        .enum_values(Some(AuditKind::ALL.map(AuditKind::as_str)))
        .build()
        .into()
}

pub(super) fn routes() -> Routes {
    vec![routes!(list)]
}

/// Read the audit
///
/// Sign-ins and failures, what was granted, refreshed, used twice and revoked; newest first.
#[utoipa::path(
    get,
    path = "/operator/v1/audit",
    operation_id = "listAudit",
    tag = "Audit",
    params(AuditParams),
    responses((status = 200, description = "A page of records", body = AuditPage), BadQuery, Missing)
)]
async fn list(State(desk): Desk, Asked(asked): Asked<AuditParams>) -> Answered {
    let text = |name: Option<WhoseName>| name.map(|name| name.0);
    let ask = AuditAsk {
        kind: asked.kind.map(|kind| kind.0),
        user: text(asked.user),
        tenant: text(asked.tenant),
        client: text(asked.client),
        before: asked.before.map(|mark| mark.0),
        rows_max: asked.page_size.map(|size| size.0),
    };
    Ok(Json(audit::page(&*desk.admin.store, &ask).await?).into_response())
}
