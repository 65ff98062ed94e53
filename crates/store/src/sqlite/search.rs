//! Look-ups over all tenants in SQLite.

use async_trait::async_trait;
use domain::{Resource, WebhookId};
use rusqlite::params;

use super::calls::COLUMNS;
use super::rows::parse;
use super::{SqliteStore, store_error};
use crate::rows::{Columns, SqliteRow};
use crate::{FoundRecord, NumberedCall, Result, SEARCHED_TENANTS_MAX, Search};

/// The row of a company has its number in its row number. A deleted company has none, and its records do not count.
const RECORDS: &str = "SELECT t.id AS tenant_id, r.company_no, r.resource, r.correlation_id, k.correlation_id AS company
    FROM (SELECT no, id FROM tenants ORDER BY created_at DESC, id DESC LIMIT ?3) t
    CROSS JOIN records r INDEXED BY records_by_id
    LEFT JOIN records k ON k.row =
        ((SELECT no FROM places WHERE tenant_no = t.no AND company_no = 0 AND resource = ?4) << 32) | r.company_no
    WHERE r.tenant_no = t.no AND r.correlation_id = ?1 AND (r.company_no = 0 OR k.row IS NOT NULL) LIMIT ?2";

fn limit(rows_max: usize) -> i64 {
    i64::try_from(rows_max).unwrap_or(i64::MAX)
}

#[async_trait]
impl Search for SqliteStore {
    async fn find_records(&self, correlation_id: &str, rows_max: usize) -> Result<Vec<FoundRecord>> {
        self.read_fresh_snapshot(|reader| {
            let mut find = reader.prepare_cached(RECORDS).map_err(store_error)?;
            let companies = Resource::companies().code();
            let args = params![correlation_id, limit(rows_max), limit(SEARCHED_TENANTS_MAX), companies];
            let rows = find.query_map(args, parse).map_err(store_error)?;
            rows.collect::<rusqlite::Result<_>>().map_err(store_error)
        })
    }

    async fn newest_webhooks(&self, rows_max: usize) -> Result<Vec<WebhookId>> {
        self.read(|reader| {
            reader
                .prepare_cached(
                    "SELECT id FROM webhooks INDEXED BY webhooks_by_created_at ORDER BY created_at DESC, id DESC LIMIT ?1",
                )
                .and_then(|mut find| find.query_map([limit(rows_max)], |row| SqliteRow::new(row).read("id"))?.collect())
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
                .and_then(|mut find| find.query_map(params![request_id, limit(rows_max)], parse)?.collect())
                .map_err(store_error)
        })
    }
}
