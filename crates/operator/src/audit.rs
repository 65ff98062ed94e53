//! Reading the audit: what the operator's API and the command line show of it.

use std::collections::HashMap;

use domain::{ClientId, Guid, TenantId, Ticks, UserId};
use serde::Serialize;
use store::{AuditCursor, AuditKind, AuditQuery, AuditRecord, Store};
use utoipa::ToSchema;

use crate::admin::AdminError;

pub const ROWS_DEFAULT: usize = 100;
pub const ROWS_MAX: usize = 1000;

/// What somebody wants to see, as they wrote it.
#[derive(Clone, Debug, Default)]
pub struct AuditAsk {
    pub kind: Option<String>,
    /// An e-mail address, or a user's id.
    pub user: Option<String>,
    pub tenant: Option<String>,
    pub client: Option<String>,
    /// Where the page before ended.
    pub before: Option<String>,
    pub rows_max: Option<usize>,
}

/// A record as it is shown.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuditRecord)]
pub struct Shown {
    #[schema(format = "uuid")]
    pub id: String,
    #[schema(format = DateTime)]
    pub at: String,
    #[schema(schema_with = crate::http::audit_kinds)]
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
    pub address: String,
    pub request_id: String,
    pub note: String,
}

/// Records, newest first, and where to go on.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AuditPage {
    pub records: Vec<Shown>,
    /// Ask with `before` for what is older; null at the end.
    #[schema(required = true)]
    pub next: Option<String>,
}

/// Reads a page of the audit.
pub async fn page(store: &dyn Store, ask: &AuditAsk) -> Result<AuditPage, AdminError> {
    let rows_max = ask.rows_max.unwrap_or(ROWS_DEFAULT);
    if !(1..=ROWS_MAX).contains(&rows_max) {
        return Err(AdminError::Invalid(format!("a page has 1 to {ROWS_MAX} records, not {rows_max}")));
    }
    let query = AuditQuery {
        before: ask.before.as_deref().map(read_mark).transpose()?,
        kind: ask.kind.as_deref().map(read_kind).transpose()?,
        user: match ask.user.as_deref() {
            Some(name) if name.contains('@') => {
                let user = store.find_user_by_email(&name.to_lowercase()).await?;
                Some(user.ok_or_else(|| AdminError::Missing(format!("user \"{name}\"")))?.id)
            }
            Some(id) => Some(UserId::new(id)),
            None => None,
        },
        tenant: ask.tenant.as_deref().map(TenantId::new),
        client: ask.client.as_deref().map(ClientId::new),
        rows_max,
    };
    let found = store.audit(&query).await?;
    if found.is_empty() && query.before.is_none() {
        check_known(store, &query).await?;
    }
    let next =
        if found.len() == rows_max { found.last().map(|last| write_mark(last.cursor())) } else { None };
    let mut emails = HashMap::new();
    for user in found.iter().filter_map(|record| record.entry.user.as_ref()) {
        if !emails.contains_key(user)
            && let Some(known) = store.find_user(user).await?
        {
            emails.insert(user.clone(), known.email);
        }
    }
    Ok(AuditPage { records: found.iter().map(|record| shown(record, &emails)).collect(), next })
}

/// Whom nobody knows is told apart from whom nothing happened to. What is gone but left traces is found.
async fn check_known(store: &dyn Store, query: &AuditQuery) -> Result<(), AdminError> {
    let missing = |what: &str, id: &str| Err(AdminError::Missing(format!("{what} \"{id}\"")));
    match (&query.user, &query.tenant, &query.client) {
        (Some(id), _, _) if store.find_user(id).await?.is_none() => missing("user", id.as_str()),
        (_, Some(id), _) if store.find_tenant(id).await?.is_none() => missing("tenant", id.as_str()),
        (_, _, Some(id)) if store.find_client(id).await?.is_none() => missing("client", id.as_str()),
        _ => Ok(()),
    }
}

fn shown(record: &AuditRecord, emails: &HashMap<UserId, String>) -> Shown {
    let entry = &record.entry;
    Shown {
        id: record.id.to_string(),
        at: entry.at.iso(),
        kind: entry.kind.as_str(),
        user: entry.user.as_ref().map(ToString::to_string),
        email: entry.user.as_ref().and_then(|user| emails.get(user)).cloned(),
        tenant: entry.tenant.as_ref().map(ToString::to_string),
        client: entry.client.as_ref().map(ToString::to_string),
        grant: entry.grant.as_ref().map(ToString::to_string),
        address: entry.context.address.clone(),
        request_id: entry.context.request_id.clone(),
        note: entry.note.clone(),
    }
}

/// How many records a page of the API has.
pub(crate) fn read_page_size(text: &str) -> Result<usize, String> {
    let size = text.parse().ok().filter(|size| (1..=ROWS_MAX).contains(size));
    size.ok_or_else(|| format!("pageSize must be a whole number from 1 to {ROWS_MAX}, not {text:?}"))
}

pub(crate) fn read_kind(word: &str) -> Result<AuditKind, AdminError> {
    AuditKind::from_name(word).ok_or_else(|| {
        let words = AuditKind::ALL.map(AuditKind::as_str);
        AdminError::Invalid(format!("kind must be one of {}; not {word:?}", words.join(", ")))
    })
}

/// `ticks-guid`
fn write_mark(mark: AuditCursor) -> String {
    format!("{}-{}", mark.at.0, mark.id)
}

pub(crate) fn read_mark(text: &str) -> Result<AuditCursor, AdminError> {
    let read = || {
        let (ticks, guid) = text.split_once('-')?;
        let mark = AuditCursor { at: Ticks(ticks.parse().ok()?), id: Guid::parse(guid)? };
        (write_mark(mark) == text && mark.at.0 >= 0).then_some(mark)
    };
    read().ok_or_else(|| AdminError::Invalid("before must be the next of an earlier page".into()))
}
