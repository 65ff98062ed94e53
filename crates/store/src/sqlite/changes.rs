//! The change log in SQLite.

use async_trait::async_trait;
use domain::event::EventKind;
use domain::{Resource, TenantId, Ticks};
use rusqlite::{Connection, OptionalExtension, params};

use super::rows::{company_no, parse, tenant_no};
use super::{SqliteStore, store_error};
use crate::plan::signed;
use crate::{
    BatchCounts, ChangeBatch, ChangeLog, IngestProgress, LogBounds, LogEntry, LogEvent, LogPage, LogQuery,
    OperationClass, RecordLogQuery, Result, StoreError,
};

pub(super) const ENTRY: &str = "sequence, resource, kind, company, correlation_id, version, conversation, process, \
                     user_name, source_interface, source_action, changes, envelope";

pub(super) fn find_ingest_progress(
    connection: &Connection,
    tenant_no: i64,
    key: &str,
) -> Result<Option<IngestProgress>> {
    connection
        .prepare_cached(
            "SELECT line, hash, process, tally FROM processes WHERE tenant_no = ?1 AND idempotency_key = ?2",
        )
        .and_then(|mut find| find.query_row(params![tenant_no, key], parse).optional())
        .map_err(store_error)
}

pub(super) fn bounds(connection: &Connection, tenant_no: i64) -> Result<LogBounds> {
    connection
        .prepare_cached("SELECT floor, head FROM heads WHERE tenant_no = ?1")
        .and_then(|mut find| find.query_row([tenant_no], parse))
        .map_err(store_error)
}

/// Reads one range of the log; a negative `company_no` selects any company. Without INDEXED BY, SQLite may scan
/// the rest of the log for an event kind that does not occur.
fn range(
    connection: &Connection,
    query: &LogQuery,
    tenant_no: i64,
    company_no: i64,
    event: Option<(Resource, EventKind)>,
) -> rusqlite::Result<Vec<LogEntry>> {
    let (after, rows_max) = (signed(query.after), i64::try_from(query.rows_max).unwrap_or(i64::MAX));
    match event {
        Some((resource, kind)) => connection
            .prepare_cached(&format!(
                "SELECT {ENTRY} FROM log INDEXED BY log_by_kind
                 WHERE tenant_no = ?1 AND resource = ?2 AND kind = ?3 AND sequence > ?4
                 AND (?5 < 0 OR company_no = ?5) ORDER BY sequence LIMIT ?6"
            ))?
            .query_map(params![tenant_no, resource.code(), kind.code(), after, company_no, rows_max], parse)?
            .collect(),
        None => connection
            .prepare_cached(&format!(
                "SELECT {ENTRY} FROM log WHERE tenant_no = ?1 AND sequence > ?2
                 AND (?3 < 0 OR company_no = ?3) ORDER BY sequence LIMIT ?4"
            ))?
            .query_map(params![tenant_no, after, company_no, rows_max], parse)?
            .collect(),
    }
}

#[async_trait]
impl ChangeLog for SqliteStore {
    /// All tenants share one writer.
    fn changes_per_batch(&self) -> usize {
        self.inner.writer.changes_per_batch()
    }

    async fn apply_changes(&self, batch: ChangeBatch) -> Result<BatchCounts> {
        let _timer = self.inner.operations.time(OperationClass::Changes);
        self.inner.writer.apply(batch).await
    }

    async fn find_ingest_progress(&self, tenant: &TenantId, key: &str) -> Result<Option<IngestProgress>> {
        self.read(|reader| match tenant_no(reader, tenant)? {
            Some(tenant_no) => find_ingest_progress(reader, tenant_no, key),
            None => Ok(None),
        })
    }

    async fn read_log(&self, query: &LogQuery) -> Result<LogPage> {
        self.read_fresh_snapshot(|reader| {
            let unknown = || StoreError::UnknownTenant(query.tenant.to_string());
            let tenant_no = tenant_no(reader, &query.tenant)?.ok_or_else(unknown)?;
            let floor = bounds(reader, tenant_no)?.floor;
            if query.after < floor {
                return Ok(LogPage::BelowFloor { floor });
            }
            let company_no = match &query.company {
                None => -1,
                Some(company) => match company_no(reader, tenant_no, company)? {
                    Some(number) => number,
                    None => return Ok(LogPage::Entries(Vec::new())),
                },
            };
            let Some(events) = &query.events else {
                return range(reader, query, tenant_no, company_no, None)
                    .map(LogPage::Entries)
                    .map_err(store_error);
            };
            let mut entries = Vec::new();
            for event in events {
                entries
                    .extend(range(reader, query, tenant_no, company_no, Some(*event)).map_err(store_error)?);
            }
            entries.sort_unstable_by_key(|entry| entry.sequence);
            // An event kind that was requested twice is returned once.
            entries.dedup_by_key(|entry| entry.sequence);
            entries.truncate(query.rows_max);
            Ok(LogPage::Entries(entries))
        })
    }

    async fn read_record_log(&self, query: &RecordLogQuery) -> Result<Vec<LogEvent>> {
        self.read_fresh_snapshot(|reader| {
            let Some(tenant_no) = tenant_no(reader, &query.tenant)? else {
                return Ok(Vec::new());
            };
            let (before, rows_max) = query.bounds();
            let args = params![
                tenant_no,
                query.resource.code(),
                query.record_key(),
                before,
                query.logged_company(),
                query.correlation_id,
                rows_max
            ];
            reader
                .prepare_cached(&format!(
                    "SELECT {ENTRY}, record_key FROM log INDEXED BY log_by_record
                     WHERE tenant_no = ?1 AND resource = ?2 AND record_key = ?3 AND sequence < ?4
                     AND company = ?5 AND correlation_id = ?6 ORDER BY sequence DESC LIMIT ?7"
                ))
                .and_then(|mut all| all.query_map(args, parse)?.collect())
                .map_err(store_error)
        })
    }

    async fn log_bounds(&self, tenant: &TenantId) -> Result<LogBounds> {
        self.read(|reader| {
            let unknown = || StoreError::UnknownTenant(tenant.to_string());
            bounds(reader, tenant_no(reader, tenant)?.ok_or_else(unknown)?)
        })
    }

    async fn prune_log(&self, tenant: &TenantId, before: Ticks, rows_max: usize) -> Result<usize> {
        let tenant = tenant.clone();
        self.write(move |writer| {
            let Some(tenant_no) = tenant_no(writer, &tenant)? else {
                return Ok(0);
            };
            let rows_max = i64::try_from(rows_max).unwrap_or(i64::MAX);
            let last: Option<i64> = writer
                .query_row(
                    "SELECT max(sequence) FROM (SELECT sequence, version FROM log WHERE tenant_no = ?1
                     ORDER BY sequence LIMIT ?2) WHERE version < ?3",
                    params![tenant_no, rows_max, before.0],
                    |row| row.get(0),
                )
                .map_err(store_error)?;
            let Some(last) = last else { return Ok(0) };
            writer
                .execute("UPDATE heads SET floor = ?2 WHERE tenant_no = ?1", params![tenant_no, last])
                .map_err(store_error)?;
            writer
                .execute("DELETE FROM log WHERE tenant_no = ?1 AND sequence <= ?2", params![tenant_no, last])
                .map_err(store_error)
        })
        .await
    }
}
