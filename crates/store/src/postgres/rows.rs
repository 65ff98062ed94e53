//! Shared queries and conversions.

use deadpool_postgres::{Object, Transaction};
use domain::{Resource, TenantId};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{IsolationLevel, Row};

use super::audit::append_audit;
use super::{PostgresStore, store_error};
use crate::list_filter::{ListTable, Search, SearchPosition};
use crate::plan::NO_COMPANY;
use crate::rows::FromRow;
use crate::{AuditEntry, ListFilter, ListQuery, OperationClass, Result};

pub(super) type Args<'a> = &'a [&'a (dyn ToSql + Sync)];

impl PostgresStore {
    pub(super) async fn rows(&self, sql: &str, args: Args<'_>) -> Result<Vec<Row>> {
        query(&*self.lend(OperationClass::Query).await?, sql, args).await
    }

    pub(super) async fn row(&self, sql: &str, args: Args<'_>) -> Result<Option<Row>> {
        let client = self.lend(OperationClass::Query).await?;
        let statement = client.prepare_cached(sql).await.map_err(store_error)?;
        found(client.query_opt(&statement, args).await)
    }

    /// Executes a statement; false if it changed no row. It and its audit entry are one transaction.
    pub(super) async fn change_audited(&self, sql: &str, args: Args<'_>, entry: AuditEntry) -> Result<bool> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let changed = execute(&transaction, sql, args).await.map_err(store_error)? > 0;
        if changed {
            append_audit(&transaction, &*self.ports().random, entry).await?;
            transaction.commit().await.map_err(store_error)?;
        }
        Ok(changed)
    }

    /// Executes a statement; false if it changed no row.
    pub(super) async fn change(&self, sql: &str, args: Args<'_>) -> Result<bool> {
        let client = self.lend(OperationClass::Query).await?;
        let statement = client.prepare_cached(sql).await.map_err(store_error)?;
        client.execute(&statement, args).await.map(|rows| rows > 0).map_err(store_error)
    }

    /// Reads a page of a list with a statement that has `AFTER` and `IN_ORDER`.
    pub(super) async fn list(&self, sql: &str, query: &ListQuery) -> Result<Vec<Row>> {
        let (created_at, id) = query.after();
        self.rows(sql, &[&created_at, &id, &query.limit()]).await
    }

    /// Reads a page of a list of teams, clients or subscriptions.
    pub(super) async fn list_filtered(
        &self,
        (select, table): (&str, ListTable),
        filter: &ListFilter,
        query: &ListQuery,
    ) -> Result<Vec<Row>> {
        let (team, limit) = (filter.team_parameter(table), query.limit());
        let Some(search) = filter.search(query) else {
            // By the team's index: its columns are the order.
            let order = if team.is_some() { "ORDER BY team_id, created_at, id LIMIT $3" } else { IN_ORDER };
            let sql = format!("{select} WHERE {} AND {AFTER} {order}", filter.conditions(table, "$4"));
            let (created_at, id) = query.after();
            return self.rows(&sql, &[&created_at, &id, &limit, &team]).await;
        };
        let mut rows = Vec::new();
        if let SearchPosition::Ids(after) = &search.after {
            let sql = format!(
                "{select} WHERE {} AND id >= $1 AND id < $2 AND id > $5 ORDER BY id LIMIT $3",
                filter.conditions(table, "$4")
            );
            rows = self.rows(&sql, &[&search.ids.from, &search.ids.to, &limit, &team, after]).await?;
        }
        let missing = limit - i64::try_from(rows.len()).unwrap_or(i64::MAX);
        if missing > 0 {
            rows.extend(self.named((select, table), filter, &search, missing).await?);
        }
        Ok(rows)
    }

    /// Rows whose name begins with the text of a search, and whose id does not.
    async fn named(
        &self,
        (select, table): (&str, ListTable),
        filter: &ListFilter,
        search: &Search,
        rows_max: i64,
    ) -> Result<Vec<Row>> {
        let (name, id) = match &search.after {
            SearchPosition::Ids(_) => (String::new(), ""),
            SearchPosition::Names(id) => {
                let sql = format!("SELECT lower(name) FROM {} WHERE id = $1", table.name);
                let found = self.row(&sql, &[id]).await?;
                (found.map(|row| row.get(0)).unwrap_or_default(), id.as_str())
            }
        };
        let sql = format!(
            "{select} WHERE {} AND lower(name) >= $1 AND lower(name) < $2
                 AND (lower(name) > $5 OR (lower(name) = $5 AND id > $6)) AND NOT (id >= $7 AND id < $8)
             ORDER BY lower(name), id LIMIT $3",
            filter.conditions(table, "$4")
        );
        let (Search { ids, names, .. }, team) = (search, filter.team_parameter(table));
        let from = names.from.as_str().max(name.as_str());
        self.rows(&sql, &[&from, &names.to, &rows_max, &team, &name, &id, &ids.from, &ids.to]).await
    }

    /// Runs an update that changes access, reads the row before and after it, and audits the change, in one transaction.
    /// Returns whether the update changed a row, and the row afterwards; the update may also return its rows.
    pub(super) async fn update_row<T>(
        &self,
        (update, args): (&str, Args<'_>),
        (find, id): (&str, &str),
        parse: impl Fn(&Row) -> Result<T>,
        entry: impl FnOnce(&T, &T) -> AuditEntry,
    ) -> Result<(bool, Option<T>)> {
        let done = self.update_and_find((update, args), (find, id), parse, entry).await;
        // Also after an error: the connection may have broken after the commit.
        self.access_changed();
        done
    }

    async fn update_and_find<T>(
        &self,
        (update, args): (&str, Args<'_>),
        (find, id): (&str, &str),
        parse: impl Fn(&Row) -> Result<T>,
        entry: impl FnOnce(&T, &T) -> AuditEntry,
    ) -> Result<(bool, Option<T>)> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let before = row(&transaction, &format!("{find} FOR UPDATE"), &[&id]).await?;
        let before = before.as_ref().map(&parse).transpose()?;
        let updated = execute(&transaction, update, args).await.map_err(store_error)? > 0;
        let after = row(&transaction, find, &[&id]).await?.as_ref().map(&parse).transpose()?;
        if let (true, Some(before), Some(after)) = (updated, &before, &after) {
            append_audit(&transaction, &*self.ports().random, entry(before, after)).await?;
        }
        transaction.commit().await.map_err(store_error)?;
        Ok((updated, after))
    }

    /// Inserts a row and its audit entry; fails with `Exists` if it is a duplicate.
    pub(super) async fn insert(
        &self,
        what: String,
        sql: &str,
        args: Args<'_>,
        entry: AuditEntry,
    ) -> Result<()> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        execute(&transaction, sql, args).await.map_err(super::exists(what))?;
        append_audit(&transaction, &*self.ports().random, entry).await?;
        transaction.commit().await.map_err(store_error)
    }
}

/// The condition and the order of a page; parameters 1 to 3 are the cursor and the limit.
pub(super) const AFTER: &str = "(created_at, id) > ($1, $2)";
pub(super) const IN_ORDER: &str = "ORDER BY created_at, id LIMIT $3";

/// Executes a cached prepared statement; returns how many rows it changed.
pub(super) async fn execute(
    on: &Transaction<'_>,
    sql: &str,
    args: Args<'_>,
) -> std::result::Result<u64, tokio_postgres::Error> {
    let statement = on.prepare_cached(sql).await?;
    on.execute(&statement, args).await
}

/// Queries at most one row with a cached prepared statement.
pub(super) async fn row(on: &Transaction<'_>, sql: &str, args: Args<'_>) -> Result<Option<Row>> {
    let statement = on.prepare_cached(sql).await.map_err(store_error)?;
    found(on.query_opt(&statement, args).await)
}

/// Queries outside of a transaction. Queries that are awaited together on one connection are pipelined.
pub(super) async fn query(on: &Object, sql: &str, args: Args<'_>) -> Result<Vec<Row>> {
    let statement = on.prepare_cached(sql).await.map_err(store_error)?;
    found(on.query(&statement, args).await)
}

/// Queries rows with a cached prepared statement.
pub(super) async fn rows(on: &Transaction<'_>, sql: &str, args: Args<'_>) -> Result<Vec<Row>> {
    let statement = on.prepare_cached(sql).await.map_err(store_error)?;
    found(on.query(&statement, args).await)
}

/// Starts a read-only transaction with one snapshot.
pub(super) async fn snapshot(client: &mut Object) -> Result<Transaction<'_>> {
    let reading = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead).read_only(true);
    reading.start().await.map_err(store_error)
}

/// The result of a lookup. PostgreSQL stores no text with a NUL, so a lookup by such a text finds nothing.
pub(super) fn found<T: Default>(answer: std::result::Result<T, tokio_postgres::Error>) -> Result<T> {
    match answer {
        Err(error) if error.code() == Some(&SqlState::CHARACTER_NOT_IN_REPERTOIRE) => Ok(T::default()),
        answer => answer.map_err(store_error),
    }
}

pub(super) async fn tenant_no(on: &Transaction<'_>, tenant: &TenantId) -> Result<Option<i64>> {
    let row = on.query_opt("SELECT no FROM tenants WHERE id = $1", &[&tenant.as_str()]).await;
    Ok(found(row)?.map(|row| row.get(0)))
}

/// The number of an existing company.
pub(super) async fn company_no(on: &Transaction<'_>, tenant_no: i64, company: &str) -> Result<Option<i64>> {
    let row = on
        .query_opt(
            "SELECT ordinal FROM records
             WHERE tenant_no = $1 AND correlation_id = $4 AND company_no + 0 = $2 AND resource + 0 = $3",
            &[&tenant_no, &NO_COMPANY, &code(Resource::companies()), &company],
        )
        .await;
    Ok(found(row)?.map(|row| row.get(0)))
}

/// One column of rows, as an array parameter.
pub(super) fn column<'a, R, T>(rows: &'a [R], of: impl Fn(&'a R) -> T) -> Vec<T> {
    rows.iter().map(of).collect()
}

pub(super) fn code(resource: Resource) -> i64 {
    i64::from(resource.code())
}

/// What a row holds.
pub(super) fn parse<T: FromRow>(row: &Row) -> Result<T> {
    T::from_row(row)
}

pub(super) fn parse_all<T: FromRow>(rows: &[Row]) -> Result<Vec<T>> {
    rows.iter().map(parse).collect()
}

/// A row limit as a SQL parameter.
pub(super) fn limit(rows_max: usize) -> i64 {
    i64::try_from(rows_max).unwrap_or(i64::MAX)
}

pub(super) fn small(number: i64) -> i16 {
    i16::try_from(number).unwrap_or(0)
}
