//! Shared queries and conversions.

use domain::{Guid, Resource, TeamId, TenantId};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::store_error;
use crate::listing::ListRow;
use crate::plan::NO_COMPANY;
use crate::{ListPage, ListQuery, Result};

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

pub(super) fn guid(row: &Row<'_>, column: usize) -> rusqlite::Result<Guid> {
    row.get::<_, [u8; 16]>(column).map(Guid::from_bytes)
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

/// Reads a page of the rows of a team, or of all.
pub(super) fn list_of_team<T: ListRow>(
    reader: &Connection,
    select: &str,
    team: Option<&TeamId>,
    query: &ListQuery,
    row: fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<ListPage<T>> {
    let Some(team) = team else {
        return list(reader, &format!("{select} WHERE {AFTER} {IN_ORDER}"), query, row);
    };
    let (created_at, id) = query.after();
    let args = params![created_at, id, query.limit(), team.as_str()];
    let rows = reader
        .prepare_cached(&format!("{select} WHERE team_id = ?4 AND {AFTER} {IN_ORDER}"))
        .and_then(|mut rows| rows.query_map(args, row)?.collect())
        .map_err(store_error)?;
    Ok(query.page(rows))
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
