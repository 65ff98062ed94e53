//! Small look-ups and conversions that several tables share.

use domain::{Guid, Resource, TenantId};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::fault;
use crate::Result;
use crate::plan::TENANT;

pub(super) fn tenant_no(connection: &Connection, tenant: &TenantId) -> Result<Option<i64>> {
    connection
        .prepare_cached("SELECT no FROM tenants WHERE id = ?1")
        .and_then(|mut find| find.query_row([tenant.as_str()], |row| row.get(0)).optional())
        .map_err(fault)
}

/// The number of a company that is there.
pub(super) fn company_no(connection: &Connection, tenant_no: i64, company: &str) -> Result<Option<i64>> {
    connection
        .prepare_cached(
            "SELECT ordinal FROM records
             WHERE tenant_no = ?1 AND company_no = ?2 AND resource = ?3 AND correlation_id = ?4",
        )
        .and_then(|mut find| {
            find.query_row(params![tenant_no, TENANT, Resource::companies().code(), company], |row| {
                row.get(0)
            })
            .optional()
        })
        .map_err(fault)
}

pub(super) fn guid(row: &Row<'_>, column: usize) -> rusqlite::Result<Guid> {
    row.get::<_, [u8; 16]>(column).map(Guid::from_bytes)
}
