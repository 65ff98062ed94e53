//! Shared queries and conversions.

use domain::{Guid, Resource, TenantId};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::store_error;
use crate::Result;
use crate::plan::NO_COMPANY;

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
