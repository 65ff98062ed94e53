//! Reading the audit log, for the operator's API and the command line.

use std::collections::{BTreeSet, HashMap};

use domain::{AccountId, ClientId, Guid, Realm, TenantId, Ticks};
use futures_util::future::try_join_all;
use serde::Serialize;
use store::{
    Actor, ActorFilter, AuditCursor, AuditKind, AuditQuery, AuditRecord, AuditRecords, MemberChange, Store,
};
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
    /// What the action was about: `webhook:<id>`, `subscription:<id>`, …
    pub object: Option<String>,
    pub request_id: Option<String>,
    /// Only records of this time or later.
    pub since: Option<Ticks>,
    /// Only records from before this time.
    pub until: Option<Ticks>,
    /// The `next` of the previous page.
    pub before: Option<String>,
    pub rows_max: Option<usize>,
    /// How many records are looked at for the page; none: as many as the store allows.
    pub looks_max: Option<usize>,
}

impl AuditRequest {
    /// Narrows the listing to what a target names: `user:<id or address>`, `client:<id>`, `tenant:<id>`, or an object as in
    /// `webhook:<id>`.
    #[must_use]
    pub fn of_target(mut self, target: &str) -> Self {
        match target.split_once(':') {
            Some(("user", id)) => self.user = Some(id.to_owned()),
            Some(("client", id)) => self.client = Some(id.to_owned()),
            Some(("tenant", id)) => self.tenant = Some(id.to_owned()),
            _ => self.object = Some(target.to_owned()),
        }
        self
    }
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
    /// The address of the account that acted; null where it was none, or is gone.
    #[schema(required = true)]
    pub actor_email: Option<String>,
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
    /// Send it as `before` to get the next page of older records; null on the last page. A page may be shorter than its
    /// size, or empty, and have a next.
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
        object: request.object.clone(),
        request_id: request.request_id.clone(),
        since: request.since,
        until: request.until,
        rows_max,
        looks_max: request.looks_max,
    };
    let AuditRecords { records, next } = store.audit_page(&query).await?;
    if records.is_empty() && next.is_none() && query.before.is_none() {
        check_known(store, &query).await?;
    }
    let next = next.map(format_cursor);
    let emails = emails_of(store, &records).await?;
    Ok(AuditPage { records: records.iter().map(|record| view(record, &emails)).collect(), next })
}

/// Reads one page after another, at most `reads_max`, until there are as many records as the request asks for.
pub async fn long_page(
    store: &dyn Store,
    mut request: AuditRequest,
    reads_max: usize,
) -> Result<AuditPage, AdminError> {
    let rows_max = request.rows_max.unwrap_or(ROWS_DEFAULT);
    request.rows_max = Some(rows_max.min(ROWS_MAX));
    let mut all = page(store, &request).await?;
    for _ in 1..reads_max {
        let missing = rows_max.saturating_sub(all.records.len());
        if missing == 0 || all.next.is_none() {
            break;
        }
        (request.before, request.rows_max) = (all.next, Some(missing.min(ROWS_MAX)));
        let more = page(store, &request).await?;
        all.records.extend(more.records);
        all.next = more.next;
    }
    Ok(all)
}

/// The addresses of the accounts that the records name.
async fn emails_of(
    store: &dyn Store,
    records: &[AuditRecord],
) -> Result<HashMap<AccountId, String>, AdminError> {
    let named = records.iter().flat_map(|record| [record.entry.user.as_ref(), actor_account(record)]);
    let accounts: BTreeSet<&AccountId> = named.flatten().collect();
    let found = try_join_all(accounts.into_iter().map(|id| store.find_account(id))).await?;
    Ok(found.into_iter().flatten().map(|account| (account.id, account.email)).collect())
}

fn actor_account(record: &AuditRecord) -> Option<&AccountId> {
    match &record.entry.context.actor {
        Actor::User(id) | Actor::Developer(id) | Actor::OperatorAccount(id) => Some(id),
        _ => None,
    }
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
        actor_email: actor_account(record).and_then(|id| emails.get(id)).cloned(),
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
