//! Look-ups over all tenants in SQLite.

use async_trait::async_trait;
use domain::{Resource, TenantId, WebhookId};
use rusqlite::{OptionalExtension, params};

use super::calls::{COLUMNS, numbered};
use super::rows::guid;
use super::{SqliteStore, store_error};
use crate::{FoundRecord, NumberedCall, Result, SEARCHED_TENANTS_MAX, Search, StoreError};

const RECORDS: &str = "SELECT t.no, t.id, r.company_no, r.resource
    FROM (SELECT no, id FROM tenants ORDER BY created_at DESC, id DESC LIMIT ?3) t
    CROSS JOIN records r INDEXED BY records_by_id
    WHERE r.tenant_no = t.no AND r.correlation_id = ?1 LIMIT ?2";

/// The row of a company: its number is in its row number.
const COMPANY: &str = "SELECT correlation_id FROM records WHERE row =
    ((SELECT no FROM places WHERE tenant_no = ?1 AND company_no = 0 AND resource = ?2) << 32) | ?3";

fn limit(rows_max: usize) -> i64 {
    i64::try_from(rows_max).unwrap_or(i64::MAX)
}

#[async_trait]
impl Search for SqliteStore {
    async fn find_records(&self, correlation_id: &str, rows_max: usize) -> Result<Vec<FoundRecord>> {
        self.read_fresh_snapshot(|reader| {
            let mut find = reader.prepare_cached(RECORDS).map_err(store_error)?;
            let mut find_company = reader.prepare_cached(COMPANY).map_err(store_error)?;
            let args = params![correlation_id, limit(rows_max), limit(SEARCHED_TENANTS_MAX)];
            let rows = find.query_map(args, |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, Box<str>>(1)?, row.get::<_, i64>(2)?, row.get(3)?))
            });
            let mut found = Vec::new();
            for row in rows.map_err(store_error)? {
                let (tenant_no, tenant, company_no, resource) = row.map_err(store_error)?;
                let company: Option<Box<str>> = find_company
                    .query_row(params![tenant_no, Resource::companies().code(), company_no], |row| row.get(0))
                    .optional()
                    .map_err(store_error)?;
                if company_no != 0 && company.is_none() {
                    // The company is deleted, and its records with it.
                    continue;
                }
                let unknown = || StoreError::internal("a record has an unknown resource");
                found.push(FoundRecord {
                    tenant: TenantId::new(tenant),
                    company: company.filter(|_| company_no != 0),
                    resource: Resource::from_code(resource).ok_or_else(unknown)?,
                    correlation_id: correlation_id.into(),
                });
            }
            Ok(found)
        })
    }

    async fn newest_webhooks(&self, rows_max: usize) -> Result<Vec<WebhookId>> {
        self.read(|reader| {
            reader
                .prepare_cached(
                    "SELECT id FROM webhooks INDEXED BY webhooks_by_created_at ORDER BY created_at DESC, id DESC LIMIT ?1",
                )
                .and_then(|mut find| find.query_map([limit(rows_max)], |row| guid(row, 0))?.collect())
                .map_err(store_error)
        })
    }

    async fn find_calls(&self, request_id: &str, rows_max: usize) -> Result<Vec<NumberedCall>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM call_log INDEXED BY call_log_by_request WHERE request_id = ?1 ORDER BY no DESC LIMIT ?2"
        );
        self.read(|reader| {
            reader
                .prepare_cached(&sql)
                .and_then(|mut find| {
                    find.query_map(params![request_id, limit(rows_max)], numbered)?.collect()
                })
                .map_err(store_error)
        })
    }
}
