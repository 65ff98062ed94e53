//! Maintenance in SQLite.

use async_trait::async_trait;
use domain::Ticks;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};

use super::collection_numbers::CollectionNo;
use super::{SqliteStore, store_error};
use crate::maintenance::{COMPANY_TABLES, TENANT_TABLES};
use crate::notices::NOTICE_LIFE;
use crate::{
    CALL_LOG_KEPT, ExpiredRows, Health, InvalidationCounters, Maintenance, Operations, Result,
    RetentionCutoffs,
};

/// The webhook history tables: key and expiry condition. The key is the rowid where there is one, because with
/// a composite key SQLite would read all rows of the tenant.
const HISTORY: [(&str, &str, &str); 3] = [
    ("attempts", "rowid", "at < ?1"),
    ("delivered", "rowid", "last_at < ?1"),
    ("replays", "tenant_no, webhook, number", "is_done = 1 AND asked_at < ?1"),
];

fn delete_some(
    writer: &Connection,
    table: &str,
    key: &str,
    condition: &str,
    args: [i64; 2],
) -> Result<usize> {
    writer
        .prepare_cached(&format!(
            "DELETE FROM {table} WHERE ({key}) IN (SELECT {key} FROM {table} WHERE {condition} LIMIT ?2)"
        ))
        .and_then(|mut delete| delete.execute(args))
        .map_err(store_error)
}

/// Deletes up to `rows_max` rows of a company or tenant; returns how many.
fn clear(writer: &Connection, table: &str, key: &str, owner: &[i64], rows_max: usize) -> Result<usize> {
    if table == "records" {
        return clear_records(writer, owner, rows_max);
    }
    let condition = if owner.len() == 1 { "tenant_no = ?1" } else { "tenant_no = ?1 AND company_no = ?3" };
    let sql = format!(
        "DELETE FROM {table} WHERE ({key}) IN (SELECT {key} FROM {table} WHERE {condition} LIMIT ?2)"
    );
    let rows_max = i64::try_from(rows_max).unwrap_or(i64::MAX);
    let mut delete = writer.prepare_cached(&sql).map_err(store_error)?;
    match owner {
        [tenant_no] => delete.execute(params![tenant_no, rows_max]),
        [tenant_no, company_no] => delete.execute(params![tenant_no, rows_max, company_no]),
        _ => Ok(0),
    }
    .map_err(store_error)
}

/// Deletes records, one collection after the other, and the numbers of empty collections.
fn clear_records(writer: &Connection, owner: &[i64], rows_max: usize) -> Result<usize> {
    let condition = if owner.len() == 1 { "tenant_no = ?1" } else { "tenant_no = ?1 AND company_no = ?2" };
    let find = format!("SELECT no FROM places WHERE {condition} LIMIT 1");
    let clear =
        "DELETE FROM records WHERE row IN (SELECT row FROM records WHERE row BETWEEN ?1 AND ?2 LIMIT ?3)";
    for _ in 0..rows_max {
        let next = writer
            .prepare_cached(&find)
            .and_then(|mut find| {
                find.query_row(params_from_iter(owner), |row| row.get(0).map(CollectionNo)).optional()
            })
            .map_err(store_error)?;
        let Some(next) = next else { return Ok(0) };
        let rows_max = i64::try_from(rows_max).unwrap_or(i64::MAX);
        let deleted = writer
            .prepare_cached(clear)
            .and_then(|mut clear| clear.execute([next.row(0), next.last_row(), rows_max]))
            .map_err(store_error)?;
        if deleted > 0 {
            return Ok(deleted);
        }
        writer.execute("DELETE FROM places WHERE no = ?1", [next.0]).map_err(store_error)?;
    }
    Ok(rows_max)
}

fn purge_company(writer: &Connection, rows_max: usize) -> Result<usize> {
    let next: Option<[i64; 2]> = writer
        .query_row("SELECT tenant_no, company_no FROM departed_companies LIMIT 1", [], |row| {
            Ok([row.get(0)?, row.get(1)?])
        })
        .optional()
        .map_err(store_error)?;
    let Some(owner) = next else { return Ok(0) };
    for (table, key) in COMPANY_TABLES {
        let deleted = clear(writer, table, key, &owner, rows_max)?;
        if deleted > 0 {
            return Ok(deleted);
        }
    }
    writer
        .execute("DELETE FROM departed_companies WHERE tenant_no = ?1 AND company_no = ?2", owner)
        .map_err(store_error)
}

fn purge_tenant(writer: &Connection, rows_max: usize) -> Result<usize> {
    let next: Option<i64> = writer
        .query_row("SELECT tenant_no FROM erased_tenants LIMIT 1", [], |row| row.get(0))
        .optional()
        .map_err(store_error)?;
    let Some(tenant_no) = next else { return Ok(0) };
    for (table, key) in TENANT_TABLES {
        let deleted = clear(writer, table, key, &[tenant_no], rows_max)?;
        if deleted > 0 {
            return Ok(deleted);
        }
    }
    writer.execute("DELETE FROM erased_tenants WHERE tenant_no = ?1", [tenant_no]).map_err(store_error)
}

#[async_trait]
impl Maintenance for SqliteStore {
    async fn health(&self) -> Result<Health> {
        self.read(|reader| super::migrate::version(reader))?;
        Ok(Health { schema: self.inner.writer.schema, queued: self.inner.writer.queued()? })
    }

    async fn expire(&self, cutoffs: RetentionCutoffs, rows_max: usize) -> Result<ExpiredRows> {
        let now = cutoffs.now;
        let figures = self.read(|reader| super::figures::first_kept(reader, now))?;
        let reads_before = cutoffs.reads.day();
        let has_old_reads = self.read(|reader| super::reads::has_expired(reader, reads_before))?;
        self.write(move |writer| {
            let rows_max = i64::try_from(rows_max).unwrap_or(i64::MAX);
            let some = |table: &str, key: &str, condition: &str, before: Ticks| {
                delete_some(writer, table, key, condition, [before.0, rows_max])
            };
            Ok(ExpiredRows {
                codes: some("codes", "hash", "expires_at < ?1", now)?,
                refresh_tokens: some("refresh_tokens", "hash", "expires_at < ?1", now)?,
                grants: some("grants", "id", "expires_at < ?1", now)?,
                keys: some("subscription_keys", "hash", "valid_until < ?1", now)?,
                processes: some(
                    "processes",
                    "tenant_no, idempotency_key",
                    "touched_at < ?1",
                    cutoffs.processes,
                )?,
                sessions: some("sessions", "hash", "expires_at < ?1", now)?,
                sign_in_buckets: some("sign_in_buckets", "hash", "expires_at < ?1", now)?,
                used_challenges: some("used_challenges", "hash", "expires_at < ?1", now)?,
                audit: some("audit", "at, id", "at < ?1", cutoffs.audit)?,
                calls: some("calls", "subscription_id, day, route", "day < ?1", Ticks(cutoffs.calls.day()))?,
                deliveries: {
                    let mut deleted = 0;
                    for (table, key, condition) in HISTORY {
                        deleted += some(table, key, condition, cutoffs.deliveries)?;
                    }
                    deleted
                },
                mails: some("mails", "id", "expires_at < ?1", cutoffs.mails)?,
                logouts: some("logouts", "id", "expires_at < ?1", cutoffs.mails)?
                    + some("session_clients", "session_id, client_id", "expires_at < ?1", now)?,
                invitations: some("invitations", "id", "expires_at < ?1", cutoffs.mails)?,
                links: some("invitation_links", "hash", "expires_at < ?1", now)?
                    + some("password_resets", "hash", "expires_at < ?1", now)?,
                call_log: some("call_log", "subscription_id, no", "at < ?1", now.minus(CALL_LOG_KEPT))?,
                figures: super::figures::expire(writer, &figures, rows_max)?,
                notices: some("notices", "id", "at < ?1", now.minus(NOTICE_LIFE))?,
                reads: if has_old_reads { super::reads::expire(writer, reads_before, rows_max)? } else { 0 },
            })
        })
        .await
    }

    async fn purge(&self, rows_max: usize) -> Result<usize> {
        if rows_max == 0 {
            return Ok(0);
        }
        self.write(move |writer| match purge_company(writer, rows_max)? {
            0 => purge_tenant(writer, rows_max),
            deleted => Ok(deleted),
        })
        .await
    }

    fn invalidation(&self) -> &InvalidationCounters {
        &self.inner.invalidation
    }

    fn change_commits(&self) -> u64 {
        self.inner.writer.change_commits()
    }

    fn operations(&self) -> &Operations {
        &self.inner.operations
    }

    async fn worker_ended(&self) {
        self.inner.writer.ended().await;
    }

    async fn close(&self) {
        let store = self.clone();
        let _ = tokio::task::spawn_blocking(move || store.inner.writer.close()).await;
        self.inner.delivery_lock.release();
    }
}
