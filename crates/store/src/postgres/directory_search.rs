//! Searches for tenants and accounts in PostgreSQL.

use async_trait::async_trait;
use domain::{AccountId, Realm, TenantId};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::PostgresStore;
use super::rows::{AFTER, IN_ORDER, parse};
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
    row: fn(&Row) -> Result<T>,
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

impl PostgresStore {
    async fn search<T: SearchRow>(
        &self,
        searched: Searched<T>,
        filter: &SearchFilter,
        query: &ListQuery,
    ) -> Result<ListPage<T>> {
        let Some(prefix) = filter.prefix() else {
            return self.in_order(&searched, filter.status, query).await;
        };
        let after = match &query.after {
            Some(cursor) => self.row(&format!("{} WHERE id = $1", searched.select), &[&cursor.id]).await?,
            None => None,
        };
        let after = after.as_ref().map(searched.row).transpose()?;
        if query.after.is_some() && after.is_none() {
            return Ok(ListPage { rows: Vec::new(), next: None });
        }
        let mut rows = Vec::new();
        for step in search_steps(prefix, after.as_ref()) {
            let left = query.limit().saturating_sub(i64::try_from(rows.len()).unwrap_or(i64::MAX));
            if left > 0 {
                rows.extend(self.search_step(&searched, prefix, &step, filter.status, left).await?);
            }
        }
        Ok(query.page(rows))
    }

    async fn in_order<T: SearchRow>(
        &self,
        searched: &Searched<T>,
        status: Option<Status>,
        query: &ListQuery,
    ) -> Result<ListPage<T>> {
        let (created_at, id) = query.after();
        let status = status.map(Status::code);
        let by_status = if status.is_some() { "standing * 1 = $4" } else { "$4::bigint IS NULL" };
        let sql = format!(
            "{} WHERE {} AND {by_status} AND {AFTER} {IN_ORDER}",
            searched.select, searched.condition
        );
        let rows = self.rows(&sql, &[&created_at, &id, &query.limit(), &status]).await?;
        Ok(query.page(rows.iter().map(searched.row).collect::<Result<_>>()?))
    }

    async fn search_step<T>(
        &self,
        searched: &Searched<T>,
        prefix: &str,
        step: &SearchStep,
        status: Option<Status>,
        limit: i64,
    ) -> Result<Vec<T>> {
        let (key, status) = ((searched.key)(step.field), status.map(Status::code));
        let mut args: Vec<&(dyn ToSql + Sync)> =
            vec![&step.from, &step.until, &step.after_id, &limit, &status];
        let passed: Vec<_> = step.passed.iter().map(|field| (*field, field.range(prefix))).collect();
        let mut others = String::new();
        for (field, (from, until)) in &passed {
            let (key, first, second) = ((searched.key)(*field), args.len() + 1, args.len() + 2);
            others.extend([format!(" AND NOT ({key} >= ${first} AND {key} < ${second})")]);
            args.extend([from as &(dyn ToSql + Sync), until]);
        }
        let sql = format!(
            "{} WHERE {} AND {key} >= $1 AND {key} < $2 AND ({key} > $1 OR id > $3)
             AND ($5::bigint IS NULL OR standing = $5){others} ORDER BY {key}, id LIMIT $4",
            searched.select, searched.condition
        );
        self.rows(&sql, &args).await?.iter().map(searched.row).collect()
    }

    async fn memberships(
        &self,
        column: &str,
        id: &str,
        query: &ListQuery,
    ) -> Result<ListPage<TenantMembership>> {
        let (created_at, after) = query.after();
        let sql = format!(
            "{TENANT_MEMBERSHIPS} WHERE m.{column} = $1 AND (m.created_at, m.id) > ($2, $3)
             ORDER BY m.created_at, m.id LIMIT $4"
        );
        let rows = self.rows(&sql, &[&id, &created_at, &after, &query.limit()]).await?;
        Ok(query.page(rows.iter().map(parse).collect::<Result<_>>()?))
    }
}

#[async_trait]
impl DirectorySearch for PostgresStore {
    async fn search_tenants(&self, filter: &SearchFilter, query: &ListQuery) -> Result<ListPage<Tenant>> {
        let searched = Searched { select: TENANT, condition: "TRUE".into(), key: tenant_key, row: parse };
        self.search(searched, filter, query).await
    }

    async fn search_accounts(
        &self,
        realm: Realm,
        filter: &SearchFilter,
        query: &ListQuery,
    ) -> Result<ListPage<Account>> {
        let condition = format!("realm = {}", realm.code());
        let searched = Searched { select: ACCOUNT, condition, key: account_key, row: parse };
        self.search(searched, filter, query).await
    }

    async fn tenant_members(
        &self,
        tenant: &TenantId,
        query: &ListQuery,
    ) -> Result<ListPage<TenantMembership>> {
        self.memberships("tenant_id", tenant.as_str(), query).await
    }

    async fn user_tenants(&self, user: &AccountId, query: &ListQuery) -> Result<ListPage<TenantMembership>> {
        self.memberships("user_id", user.as_str(), query).await
    }
}
