//! The change log in PostgreSQL.

use async_trait::async_trait;
use deadpool_postgres::Transaction;
use domain::event::EventKind;
use domain::{Resource, TenantId, Ticks};
use tokio_postgres::Row;

use super::rows::{code, column, company_no, limit, parse, snapshot, tenant_no};
use super::{PostgresStore, store_error};
use crate::plan::{signed, unsigned};
use crate::{
    BatchCounts, ChangeBatch, ChangeLog, IngestProgress, LogBounds, LogEvent, LogPage, LogQuery,
    OperationClass, RecordLogQuery, Result, StoreError,
};

pub(super) const ENTRY: &str = "l.sequence, l.resource, l.kind, l.company, l.correlation_id, l.version, l.conversation, \
                     l.process, l.user_name, l.source_interface, l.source_action, l.changes, l.envelope";

/// Selects entries of any company.
const ANY_COMPANY: i64 = -1;

/// Reads all events of the log, or those of one company.
async fn range(
    snapshot: &Transaction<'_>,
    query: &LogQuery,
    tenant_no: i64,
    company_no: i64,
) -> Result<Vec<Row>> {
    let read = snapshot
        .prepare_cached(&format!(
            "SELECT {ENTRY} FROM log l WHERE l.tenant_no = $1 AND l.sequence > $2
             AND ($3::bigint < 0 OR l.company_no = $3) ORDER BY l.sequence LIMIT $4"
        ))
        .await
        .map_err(store_error)?;
    let (after, rows_max) = (signed(query.after), limit(query.rows_max));
    snapshot.query(&read, &[&tenant_no, &after, &company_no, &rows_max]).await.map_err(store_error)
}

/// Reads selected events: one index range per event kind, merged.
async fn ranges(
    snapshot: &Transaction<'_>,
    query: &LogQuery,
    events: &[(Resource, EventKind)],
    tenant_no: i64,
    company_no: i64,
) -> Result<Vec<Row>> {
    let resources = column(events, |(resource, _)| code(*resource));
    let kinds = column(events, |(_, kind)| i64::from(kind.code()));
    let read = snapshot
        .prepare_cached(&format!(
            "SELECT {ENTRY}
             FROM (SELECT DISTINCT * FROM unnest($2::bigint[], $3::bigint[]) AS e (resource, kind)) e
             CROSS JOIN LATERAL (SELECT * FROM log WHERE tenant_no + 0 = $1 AND resource = e.resource
                 AND kind = e.kind AND sequence > $4 AND ($5::bigint < 0 OR company_no = $5)
                 ORDER BY sequence LIMIT $6) l
             ORDER BY l.sequence LIMIT $6"
        ))
        .await
        .map_err(store_error)?;
    let (after, rows_max) = (signed(query.after), limit(query.rows_max));
    snapshot
        .query(&read, &[&tenant_no, &resources, &kinds, &after, &company_no, &rows_max])
        .await
        .map_err(store_error)
}

#[async_trait]
impl ChangeLog for PostgresStore {
    async fn apply_changes(&self, batch: ChangeBatch) -> Result<BatchCounts> {
        self.batch_queue(batch).await
    }

    async fn find_ingest_progress(&self, tenant: &TenantId, key: &str) -> Result<Option<IngestProgress>> {
        let row = self
            .row(
                "SELECT p.line, p.hash, p.process, p.tally FROM processes p
                 WHERE p.tenant_no = (SELECT no FROM tenants WHERE id = $1) AND p.idempotency_key = $2",
                &[&tenant.as_str(), &key],
            )
            .await?;
        row.as_ref().map(parse).transpose()
    }

    async fn read_log(&self, query: &LogQuery) -> Result<LogPage> {
        let mut client = self.lend(OperationClass::Query).await?;
        let snapshot = snapshot(&mut client).await?;
        let unknown = || StoreError::UnknownTenant(query.tenant.to_string());
        let tenant_no = tenant_no(&snapshot, &query.tenant).await?.ok_or_else(unknown)?;
        let floor = snapshot.query_one("SELECT floor FROM heads WHERE tenant_no = $1", &[&tenant_no]).await;
        let floor = unsigned(floor.map_err(store_error)?.get(0));
        if query.after < floor {
            return Ok(LogPage::BelowFloor { floor });
        }
        let company_no = match &query.company {
            None => ANY_COMPANY,
            Some(company) => match company_no(&snapshot, tenant_no, company).await? {
                Some(number) => number,
                None => return Ok(LogPage::Entries(Vec::new())),
            },
        };
        let rows = match &query.events {
            None => range(&snapshot, query, tenant_no, company_no).await?,
            Some(events) => ranges(&snapshot, query, events, tenant_no, company_no).await?,
        };
        rows.iter().map(parse).collect::<Result<_>>().map(LogPage::Entries)
    }

    async fn read_record_log(&self, query: &RecordLogQuery) -> Result<Vec<LogEvent>> {
        let sql = format!(
            "SELECT {ENTRY}, l.record_key FROM log l
             WHERE l.tenant_no - 0 = (SELECT no FROM tenants WHERE id = $1) AND l.resource = $2
                 AND l.record_key = $3 AND l.sequence < $4 AND l.company = $5 AND l.correlation_id = $6
             ORDER BY l.sequence DESC LIMIT $7"
        );
        let (before, rows_max) = query.bounds();
        let found = self
            .rows(
                &sql,
                &[
                    &query.tenant.as_str(),
                    &code(query.resource),
                    &query.record_key(),
                    &before,
                    &query.logged_company(),
                    &&*query.correlation_id,
                    &rows_max,
                ],
            )
            .await?;
        found.iter().map(parse).collect()
    }

    async fn log_bounds(&self, tenant: &TenantId) -> Result<LogBounds> {
        let row = self
            .row(
                "SELECT h.floor, h.head FROM heads h JOIN tenants t ON t.no = h.tenant_no WHERE t.id = $1",
                &[&tenant.as_str()],
            )
            .await?;
        let row = row.ok_or_else(|| StoreError::UnknownTenant(tenant.to_string()))?;
        Ok(parse(&row)?)
    }

    async fn prune_log(&self, tenant: &TenantId, before: Ticks, rows_max: usize) -> Result<usize> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let Some(tenant_no) = tenant_no(&transaction, tenant).await? else {
            return Ok(0);
        };
        transaction
            .execute("SELECT 1 FROM heads WHERE tenant_no = $1 FOR UPDATE", &[&tenant_no])
            .await
            .map_err(store_error)?;
        let row = transaction
            .query_one(
                "SELECT max(sequence) FROM (SELECT sequence, version FROM log WHERE tenant_no = $1
                 ORDER BY sequence LIMIT $2) oldest WHERE version < $3",
                &[&tenant_no, &limit(rows_max), &before.0],
            )
            .await
            .map_err(store_error)?;
        let Some(last) = row.get::<_, Option<i64>>(0) else {
            return Ok(0);
        };
        transaction
            .execute("UPDATE heads SET floor = $2 WHERE tenant_no = $1", &[&tenant_no, &last])
            .await
            .map_err(store_error)?;
        let deleted = transaction
            .execute("DELETE FROM log WHERE tenant_no = $1 AND sequence <= $2", &[&tenant_no, &last])
            .await
            .map_err(store_error)?;
        transaction.commit().await.map_err(store_error)?;
        Ok(usize::try_from(deleted).unwrap_or(usize::MAX))
    }
}
