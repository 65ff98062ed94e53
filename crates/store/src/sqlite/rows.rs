//! Shared queries and conversions.

use domain::{Resource, TenantId};
use rusqlite::{Connection, OptionalExtension, Params, Row, params};

use super::store_error;
use crate::list_filter::{ListTable, Search, SearchPosition};
use crate::listing::ListRow;
use crate::plan::NO_COMPANY;
use crate::rows::{FromRow, SqliteRow};
use crate::{ListFilter, ListPage, ListQuery, Result};

pub(super) fn tenant_no(connection: &Connection, tenant: &TenantId) -> Result<Option<i64>> {
    connection
        .prepare_cached("SELECT no FROM tenants WHERE id = ?1")
        .and_then(|mut find| find.query_row([tenant.as_str()], |row| row.get(0)).optional())
        .map_err(store_error)
}

/// The number of an existing company.
pub(super) fn company_no(connection: &Connection, tenant_no: i64, company: &str) -> Result<Option<i64>> {
    connection
        .prepare_cached(
            "SELECT ordinal FROM records
             WHERE tenant_no = ?1 AND company_no = ?2 AND resource = ?3 AND correlation_id = ?4",
        )
        .and_then(|mut find| {
            find.query_row(params![tenant_no, NO_COMPANY, Resource::companies().code(), company], |row| {
                row.get(0)
            })
            .optional()
        })
        .map_err(store_error)
}

/// What a row holds.
pub(super) fn parse<T: FromRow>(row: &Row<'_>) -> rusqlite::Result<T> {
    T::from_row(&SqliteRow::new(row))
}

/// The condition and the order of a page; parameters 1 to 3 are the cursor and the limit.
pub(super) const AFTER: &str = "(created_at, id) > (?1, ?2)";
pub(super) const IN_ORDER: &str = "ORDER BY created_at, id LIMIT ?3";

/// Reads a page of a list with a statement that has `AFTER` and `IN_ORDER`.
pub(super) fn list<T: ListRow>(
    reader: &Connection,
    sql: &str,
    query: &ListQuery,
    row: fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<ListPage<T>> {
    let (created_at, id) = query.after();
    let rows = reader
        .prepare_cached(sql)
        .and_then(|mut rows| rows.query_map(params![created_at, id, query.limit()], row)?.collect())
        .map_err(store_error)?;
    Ok(query.page(rows))
}

/// Reads a page of a list of teams, clients or subscriptions.
pub(super) fn list_filtered<T: ListRow>(
    reader: &Connection,
    (select, table): (&str, ListTable),
    filter: &ListFilter,
    query: &ListQuery,
    row: fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<ListPage<T>> {
    let team = filter.team_parameter(table);
    let rows = match filter.search(query) {
        None => {
            let sql = format!("{select} WHERE {} AND {AFTER} {IN_ORDER}", filter.conditions(table, "?4"));
            let (created_at, id) = query.after();
            all(reader, &sql, params![created_at, id, query.limit(), team], row)?
        }
        Some(search) => {
            let mut rows = Vec::new();
            if let SearchPosition::Ids(after) = &search.after {
                let sql = format!(
                    "{select} WHERE {} AND id >= ?1 AND id < ?2 AND id > ?5 ORDER BY id LIMIT ?3",
                    filter.conditions(table, "?4")
                );
                let args = params![search.ids.from, search.ids.to, query.limit(), team, after];
                rows = all(reader, &sql, args, row)?;
            }
            let missing = query.limit() - i64::try_from(rows.len()).unwrap_or(i64::MAX);
            if missing > 0 {
                rows.extend(named(reader, (select, table), filter, &search, missing, row)?);
            }
            rows
        }
    };
    Ok(query.page(rows))
}

/// Rows whose name begins with the text of a search, and whose id does not.
fn named<T>(
    reader: &Connection,
    (select, table): (&str, ListTable),
    filter: &ListFilter,
    search: &Search,
    rows_max: i64,
    row: fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>> {
    let (name, id) = match &search.after {
        SearchPosition::Ids(_) => (String::new(), ""),
        SearchPosition::Names(id) => {
            let sql = format!("SELECT lower(name) FROM {} WHERE id = ?1", table.name);
            (find(reader, &sql, id, |row| row.get(0))?.unwrap_or_default(), id.as_str())
        }
    };
    let sql = format!(
        "{select} WHERE {} AND lower(name) >= ?1 AND lower(name) < ?2
             AND (lower(name) > ?5 OR (lower(name) = ?5 AND id > ?6)) AND NOT (id >= ?7 AND id < ?8)
         ORDER BY lower(name), id LIMIT ?3",
        filter.conditions(table, "?4")
    );
    let (Search { ids, names, .. }, team) = (search, filter.team_parameter(table));
    let args =
        params![names.from.as_str().max(name.as_str()), names.to, rows_max, team, name, id, ids.from, ids.to];
    all(reader, &sql, args, row)
}

fn all<T>(
    reader: &Connection,
    sql: &str,
    args: impl Params,
    row: fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>> {
    reader.prepare_cached(sql).and_then(|mut all| all.query_map(args, row)?.collect()).map_err(store_error)
}

pub(super) fn find<T>(
    connection: &Connection,
    sql: &str,
    id: &str,
    row: fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Option<T>> {
    connection
        .prepare_cached(sql)
        .and_then(|mut find| find.query_row([id], row).optional())
        .map_err(store_error)
}
