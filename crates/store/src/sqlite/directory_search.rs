//! Searches for tenants and accounts in SQLite.

use async_trait::async_trait;
use domain::{AccountId, Realm, TenantId};
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params, params_from_iter};

use super::rows::{AFTER, IN_ORDER, find, parse};
use super::{SqliteStore, store_error};
use crate::directory_search::{SearchField, SearchRow, SearchStep, search_steps};
use crate::rows::{ACCOUNT, TENANT, TENANT_MEMBERSHIPS};
use crate::{
    Account, DirectorySearch, ListPage, ListQuery, Result, SearchFilter, Status, Tenant, TenantMembership,
};

/// What is searched: its columns, a condition on all its rows, and the expression of each field.
struct Searched<T> {
    select: &'static str,
    condition: String,
    key: fn(SearchField) -> &'static str,
    row: fn(&Row<'_>) -> rusqlite::Result<T>,
}

fn tenant_key(field: SearchField) -> &'static str {
    match field {
        SearchField::Name => "lower(name)",
        SearchField::Email | SearchField::Id => "id",
    }
}

fn account_key(field: SearchField) -> &'static str {
    match field {
        SearchField::Email => "email",
        SearchField::Name => "lower(given_name)",
        SearchField::Id => "id",
    }
}

impl<T: SearchRow> Searched<T> {
    fn page(&self, reader: &Connection, filter: &SearchFilter, query: &ListQuery) -> Result<ListPage<T>> {
        let Some(prefix) = filter.prefix() else { return self.in_order(reader, filter.status, query) };
        let after = match &query.after {
            Some(cursor) => find(reader, &format!("{} WHERE id = ?1", self.select), &cursor.id, self.row)?,
            None => None,
        };
        if query.after.is_some() && after.is_none() {
            return Ok(ListPage { rows: Vec::new(), next: None });
        }
        let mut rows = Vec::new();
        for step in search_steps(prefix, after.as_ref()) {
            let left = query.limit().saturating_sub(i64::try_from(rows.len()).unwrap_or(i64::MAX));
            if left > 0 {
                rows.extend(self.step(reader, prefix, &step, filter.status, left)?);
            }
        }
        Ok(query.page(rows))
    }

    fn in_order(
        &self,
        reader: &Connection,
        status: Option<Status>,
        query: &ListQuery,
    ) -> Result<ListPage<T>> {
        let (created_at, id) = query.after();
        let by_status = if status.is_some() { "standing * 1 = ?4" } else { "?4 IS NULL" };
        let sql = format!("{} WHERE {} AND {by_status} AND {AFTER} {IN_ORDER}", self.select, self.condition);
        let args = params![created_at, id, query.limit(), status.map(Status::code)];
        let rows = reader
            .prepare_cached(&sql)
            .and_then(|mut rows| rows.query_map(args, self.row)?.collect())
            .map_err(store_error)?;
        Ok(query.page(rows))
    }

    fn step(
        &self,
        reader: &Connection,
        prefix: &str,
        step: &SearchStep,
        status: Option<Status>,
        limit: i64,
    ) -> Result<Vec<T>> {
        let key = (self.key)(step.field);
        let text = |text: &str| Value::Text(text.to_owned());
        let status = status.map_or(Value::Null, |status| Value::Integer(status.code()));
        let mut args =
            vec![text(&step.from), text(&step.until), text(&step.after_id), Value::Integer(limit), status];
        let mut others = String::new();
        for passed in step.passed {
            let (key, first, second) = ((self.key)(*passed), args.len() + 1, args.len() + 2);
            others.extend([format!(" AND NOT (+{key} >= ?{first} AND +{key} < ?{second})")]);
            let (from, until) = passed.range(prefix);
            args.extend([text(&from), text(&until)]);
        }
        let sql = format!(
            "{} WHERE {} AND {key} >= ?1 AND {key} < ?2 AND ({key} > ?1 OR id > ?3)
             AND (?5 IS NULL OR +standing = ?5){others} ORDER BY {key}, id LIMIT ?4",
            self.select, self.condition
        );
        reader
            .prepare_cached(&sql)
            .and_then(|mut rows| rows.query_map(params_from_iter(args), self.row)?.collect())
            .map_err(store_error)
    }
}

fn memberships(
    reader: &Connection,
    column: &str,
    id: &str,
    query: &ListQuery,
) -> Result<ListPage<TenantMembership>> {
    let (created_at, after) = query.after();
    let sql = format!(
        "{TENANT_MEMBERSHIPS} WHERE m.{column} = ?1 AND (m.created_at, m.id) > (?2, ?3)
         ORDER BY m.created_at, m.id LIMIT ?4"
    );
    let rows = reader
        .prepare_cached(&sql)
        .and_then(|mut rows| rows.query_map(params![id, created_at, after, query.limit()], parse)?.collect())
        .map_err(store_error)?;
    Ok(query.page(rows))
}

#[async_trait]
impl DirectorySearch for SqliteStore {
    async fn search_tenants(&self, filter: &SearchFilter, query: &ListQuery) -> Result<ListPage<Tenant>> {
        let searched = Searched { select: TENANT, condition: "TRUE".into(), key: tenant_key, row: parse };
        self.read(|reader| searched.page(reader, filter, query))
    }

    async fn search_accounts(
        &self,
        realm: Realm,
        filter: &SearchFilter,
        query: &ListQuery,
    ) -> Result<ListPage<Account>> {
        let condition = format!("realm = {}", realm.code());
        let searched = Searched { select: ACCOUNT, condition, key: account_key, row: parse };
        self.read(|reader| searched.page(reader, filter, query))
    }

    async fn tenant_members(
        &self,
        tenant: &TenantId,
        query: &ListQuery,
    ) -> Result<ListPage<TenantMembership>> {
        self.read(|reader| memberships(reader, "tenant_id", tenant.as_str(), query))
    }

    async fn user_tenants(&self, user: &AccountId, query: &ListQuery) -> Result<ListPage<TenantMembership>> {
        self.read(|reader| memberships(reader, "user_id", user.as_str(), query))
    }
}
