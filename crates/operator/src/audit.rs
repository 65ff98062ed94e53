//! Reading the audit log, for the operator's API and the command line.

use std::collections::HashMap;

use domain::{AccountId, ClientId, Guid, Realm, TenantId, Ticks};
use serde::Serialize;
use store::{Actor, ActorFilter, AuditCursor, AuditKind, AuditQuery, AuditRecord, MemberChange, Store};
use utoipa::ToSchema;
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{RefOr, Schema};

use crate::error::AdminError;
use crate::page_size::{ROWS_DEFAULT, ROWS_MAX};

/// The filters of an audit listing, as text.
#[derive(Clone, Debug, Default)]
pub struct AuditRequest {
    pub kind: Option<String>,
    /// An e-mail address, or a user's id.
    pub user: Option<String>,
    pub tenant: Option<String>,
    pub client: Option<String>,
    /// `cli`, `operator`, `user:<id>`, …
    pub actor: Option<String>,
    /// Only records of this time or later.
    pub since: Option<Ticks>,
    /// The `next` of the previous page.
    pub before: Option<String>,
    pub rows_max: Option<usize>,
}

/// An audit record as the API returns it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuditRecord)]
pub struct AuditRecordView {
    #[schema(format = "uuid")]
    pub id: String,
    #[schema(format = DateTime)]
    pub at: String,
    #[schema(schema_with = audit_kinds)]
    pub kind: &'static str,
    #[schema(required = true)]
    pub user: Option<String>,
    #[schema(required = true)]
    pub email: Option<String>,
    #[schema(required = true)]
    pub tenant: Option<String>,
    #[schema(required = true)]
    pub client: Option<String>,
    #[schema(required = true)]
    pub grant: Option<String>,
    /// What the action was about, where it is none of the above: `webhook:<id>`, `subscription:<id>`,
    /// `membership:<id>`, `signing_key:<kid>`.
    #[schema(required = true)]
    pub object: Option<String>,
    /// Who acted: `operator` (the token), `cli` or `cli:<OS user>`, `user:<id>`, `client:<id>`, `service`, `anonymous`;
    /// `unknown` in entries of older versions.
    #[schema(examples("operator"))]
    pub actor: String,
    pub address: String,
    pub request_id: String,
    /// What changed; secrets without their values.
    pub changes: Vec<ChangeView>,
    /// How often it happened: failed sign-ins are counted per account and minute.
    #[schema(minimum = 1, examples(1))]
    pub count: u64,
    pub note: String,
    /// The record's position; send it as `before` to read older ones.
    pub cursor: String,
}

/// A member that changed.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = AuditChange)]
pub struct ChangeView {
    #[schema(examples("status"))]
    pub member: String,
    /// The old value; null for a new object, and for a secret.
    #[schema(required = true)]
    pub from: serde_json::Value,
    /// The new value; null where it is gone, and for a secret.
    #[schema(required = true)]
    pub to: serde_json::Value,
}

/// A page of records, newest first.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AuditPage {
    pub records: Vec<AuditRecordView>,
    /// Send it as `before` to get the next page of older records; null on the last page.
    #[schema(required = true)]
    pub next: Option<String>,
}

/// Reads one page of the audit log.
pub async fn page(store: &dyn Store, request: &AuditRequest) -> Result<AuditPage, AdminError> {
    let rows_max = request.rows_max.unwrap_or(ROWS_DEFAULT);
    if !(1..=ROWS_MAX).contains(&rows_max) {
        return Err(AdminError::Invalid(format!("a page has 1 to {ROWS_MAX} records, not {rows_max}")));
    }
    let query = AuditQuery {
        before: request.before.as_deref().map(parse_cursor).transpose()?,
        kind: request.kind.as_deref().map(parse_kind).transpose()?,
        user: match request.user.as_deref() {
            Some(email) if email.contains('@') => {
                let user = store.find_account_by_email(Realm::Users, &email.to_lowercase()).await?;
                Some(user.ok_or_else(|| AdminError::NotFound(format!("user \"{email}\"")))?.id)
            }
            Some(id) => Some(AccountId::new(id)),
            None => None,
        },
        tenant: request.tenant.as_deref().map(TenantId::new),
        client: request.client.as_deref().map(ClientId::new),
        actor: request.actor.as_deref().map(parse_actor).transpose()?,
        since: request.since,
        rows_max,
    };
    let records = store.audit(&query).await?;
    if records.is_empty() && query.before.is_none() {
        check_known(store, &query).await?;
    }
    let next = if records.len() == rows_max {
        records.last().map(|last| format_cursor(last.cursor()))
    } else {
        None
    };
    let mut emails = HashMap::new();
    for user in records.iter().filter_map(|record| record.entry.user.as_ref()) {
        if !emails.contains_key(user)
            && let Some(known) = store.find_account(user).await?
        {
            emails.insert(user.clone(), known.email);
        }
    }
    Ok(AuditPage { records: records.iter().map(|record| view(record, &emails)).collect(), next })
}

/// Answers "not found" for a filter that names an unknown user, tenant or client and matches no record. A deleted one that
/// still has records is found by them.
async fn check_known(store: &dyn Store, query: &AuditQuery) -> Result<(), AdminError> {
    let missing = |what: &str, id: &str| Err(AdminError::NotFound(format!("{what} \"{id}\"")));
    match (&query.user, &query.tenant, &query.client) {
        (Some(id), _, _) if store.find_account(id).await?.is_none() => missing("user", id.as_str()),
        (_, Some(id), _) if store.find_tenant(id).await?.is_none() => missing("tenant", id.as_str()),
        (_, _, Some(id)) if store.find_client(id).await?.is_none() => missing("client", id.as_str()),
        _ => Ok(()),
    }
}

fn view(record: &AuditRecord, emails: &HashMap<AccountId, String>) -> AuditRecordView {
    let entry = &record.entry;
    AuditRecordView {
        id: record.id.to_string(),
        at: entry.at.iso(),
        kind: entry.kind.as_str(),
        user: entry.user.as_ref().map(ToString::to_string),
        email: entry.user.as_ref().and_then(|user| emails.get(user)).cloned(),
        tenant: entry.tenant.as_ref().map(ToString::to_string),
        client: entry.client.as_ref().map(ToString::to_string),
        grant: entry.grant.as_ref().map(ToString::to_string),
        object: entry.object.clone(),
        actor: entry.context.actor.to_string(),
        address: entry.context.address.clone(),
        request_id: entry.context.request_id.clone(),
        changes: entry.changes.iter().cloned().map(ChangeView::from).collect(),
        count: entry.count,
        note: entry.note.clone(),
        cursor: format_cursor(record.cursor()),
    }
}

impl From<MemberChange> for ChangeView {
    fn from(MemberChange { member, from, to }: MemberChange) -> Self {
        Self { member, from, to }
    }
}

/// The schema of the audit kinds: one of their names.
pub(crate) fn audit_kinds() -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(SchemaType::new(Type::String))
        .enum_values(Some(AuditKind::ALL.map(AuditKind::as_str)))
        .build()
        .into()
}

pub(crate) fn parse_kind(name: &str) -> Result<AuditKind, AdminError> {
    AuditKind::from_name(name).ok_or_else(|| {
        let names = AuditKind::ALL.map(AuditKind::as_str);
        AdminError::Invalid(format!("kind must be one of {}; not {name:?}", names.join(", ")))
    })
}

pub(crate) fn parse_actor(text: &str) -> Result<ActorFilter, AdminError> {
    ActorFilter::parse(text).ok_or_else(|| {
        let kinds = Actor::KINDS.join(", ");
        AdminError::Invalid(format!(
            "actor must be one of {kinds}, or one with an id as in cli:maria; not {text:?}"
        ))
    })
}

/// `<ticks>-<guid>`
fn format_cursor(cursor: AuditCursor) -> String {
    format!("{}-{}", cursor.at.0, cursor.id)
}

pub(crate) fn parse_cursor(text: &str) -> Result<AuditCursor, AdminError> {
    let parse = || {
        let (ticks, guid) = text.split_once('-')?;
        let cursor = AuditCursor { at: Ticks(ticks.parse().ok()?), id: Guid::parse(guid)? };
        (format_cursor(cursor) == text && cursor.at.0 >= 0).then_some(cursor)
    };
    parse().ok_or_else(|| AdminError::Invalid("before must be the `next` value of a previous page".into()))
}
