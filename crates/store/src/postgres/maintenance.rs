//! Maintenance in PostgreSQL.

use async_trait::async_trait;
use domain::Ticks;

use super::PostgresStore;
use super::rows::limit;
use crate::maintenance::{COMPANY_TABLES, TENANT_TABLES};
use crate::notices::NOTICE_LIFE;
use crate::{
    CALL_LOG_KEPT, ExpiredRows, Health, InvalidationCounters, Maintenance, Operations, Result,
    RetentionCutoffs,
};

/// The webhook history tables: key columns and expiry condition.
const HISTORY: [(&str, &str, &str); 3] = [
    ("attempts", "tenant_no, webhook, at, sequence, occasion, number", "at < $1"),
    ("delivered", "tenant_no, webhook, last_at, last_sequence, first_sequence", "last_at < $1"),
    ("replays", "tenant_no, webhook, number", "is_done = 1 AND asked_at < $1"),
];

impl PostgresStore {
    async fn delete_some(&self, table: &str, key: &str, condition: &str, args: [i64; 2]) -> Result<usize> {
        let sql = format!(
            "DELETE FROM {table} WHERE ({key}) IN (SELECT {key} FROM {table} WHERE {condition} LIMIT $2)"
        );
        self.delete(&sql, &[&args[0], &args[1]]).await
    }

    pub(super) async fn delete(&self, sql: &str, args: super::rows::Args<'_>) -> Result<usize> {
        let client = self.client().await?;
        let statement = client.prepare_cached(sql).await.map_err(super::store_error)?;
        let deleted = client.execute(&statement, args).await.map_err(super::store_error)?;
        Ok(usize::try_from(deleted).unwrap_or(usize::MAX))
    }

    async fn expire_history(&self, before: Ticks, rows_max: usize) -> Result<usize> {
        let mut deleted = 0;
        for (table, key, condition) in HISTORY {
            deleted += self.delete_some(table, key, condition, [before.0, limit(rows_max)]).await?;
        }
        Ok(deleted)
    }

    async fn purge_company(&self, rows_max: usize) -> Result<usize> {
        let next = self.row("SELECT tenant_no, company_no FROM departed_companies LIMIT 1", &[]).await?;
        let Some(next) = next else { return Ok(0) };
        let (tenant_no, company_no): (i64, i64) = (next.get(0), next.get(1));
        for (table, key) in COMPANY_TABLES {
            let sql = format!(
                "DELETE FROM {table} WHERE ({key}) IN
                 (SELECT {key} FROM {table} WHERE tenant_no = $1 AND company_no = $2 LIMIT $3)"
            );
            let deleted = self.delete(&sql, &[&tenant_no, &company_no, &limit(rows_max)]).await?;
            if deleted > 0 {
                return Ok(deleted);
            }
        }
        self.delete(
            "DELETE FROM departed_companies WHERE tenant_no = $1 AND company_no = $2",
            &[&tenant_no, &company_no],
        )
        .await
    }

    async fn purge_tenant(&self, rows_max: usize) -> Result<usize> {
        let Some(next) = self.row("SELECT tenant_no FROM erased_tenants LIMIT 1", &[]).await? else {
            return Ok(0);
        };
        let tenant_no: i64 = next.get(0);
        for (table, key) in TENANT_TABLES {
            let deleted =
                self.delete_some(table, key, "tenant_no = $1", [tenant_no, limit(rows_max)]).await?;
            if deleted > 0 {
                return Ok(deleted);
            }
        }
        self.delete("DELETE FROM erased_tenants WHERE tenant_no = $1", &[&tenant_no]).await
    }
}

#[async_trait]
impl Maintenance for PostgresStore {
    async fn health(&self) -> Result<Health> {
        self.row("SELECT 1", &[]).await?;
        Ok(Health { schema: self.inner.schema, queued: self.inner.batch_queue.queued() })
    }

    async fn expire(&self, cutoffs: RetentionCutoffs, rows_max: usize) -> Result<ExpiredRows> {
        let [now, processes, audit, mails] = [cutoffs.now, cutoffs.processes, cutoffs.audit, cutoffs.mails]
            .map(|before| [before.0, limit(rows_max)]);
        let notices = [cutoffs.now.minus(NOTICE_LIFE).0, limit(rows_max)];
        let calls = [cutoffs.calls.day(), limit(rows_max)];
        let call_log = [cutoffs.now.minus(CALL_LOG_KEPT).0, limit(rows_max)];
        Ok(ExpiredRows {
            codes: self.delete_some("codes", "hash", "expires_at < $1", now).await?,
            refresh_tokens: self.delete_some("refresh_tokens", "hash", "expires_at < $1", now).await?,
            grants: self.delete_some("grants", "id", "expires_at < $1", now).await?,
            keys: self.delete_some("subscription_keys", "hash", "valid_until < $1", now).await?,
            processes: self
                .delete_some("processes", "tenant_no, idempotency_key", "touched_at < $1", processes)
                .await?,
            sessions: self.delete_some("sessions", "hash", "expires_at < $1", now).await?,
            sign_in_buckets: self.delete_some("sign_in_buckets", "hash", "expires_at < $1", now).await?,
            used_challenges: self.delete_some("used_challenges", "hash", "expires_at < $1", now).await?,
            audit: self.delete_some("audit", "at, id", "at < $1", audit).await?,
            calls: self.delete_some("calls", "subscription_id, day, route", "day < $1", calls).await?,
            deliveries: self.expire_history(cutoffs.deliveries, rows_max).await?,
            mails: self.delete_some("mails", "id", "expires_at < $1", mails).await?,
            logouts: self.delete_some("logouts", "id", "expires_at < $1", mails).await?
                + self
                    .delete_some("session_clients", "session_id, client_id", "expires_at < $1", now)
                    .await?,
            invitations: self.delete_some("invitations", "id", "expires_at < $1", mails).await?,
            links: self.delete_some("invitation_links", "hash", "expires_at < $1", now).await?
                + self.delete_some("password_resets", "hash", "expires_at < $1", now).await?,
            call_log: self.delete_some("call_log", "subscription_id, no", "at < $1", call_log).await?,
            figures: self.expire_figures(cutoffs.now, rows_max).await?,
            notices: self.delete_some("notices", "id", "at < $1", notices).await?,
            reads: self.expire_reads(cutoffs.reads.day(), rows_max).await?,
        })
    }

    async fn purge(&self, rows_max: usize) -> Result<usize> {
        if rows_max == 0 {
            return Ok(0);
        }
        match self.purge_company(rows_max).await? {
            0 => self.purge_tenant(rows_max).await,
            deleted => Ok(deleted),
        }
    }

    fn invalidation(&self) -> &InvalidationCounters {
        &self.inner.invalidation
    }

    fn change_commits(&self) -> u64 {
        self.inner.batch_queue.commits()
    }

    fn operations(&self) -> &Operations {
        &self.inner.operations
    }

    async fn worker_ended(&self) {
        self.inner.notify.listener_ended().await;
    }

    async fn close(&self) {
        self.inner.notify.close();
        self.inner.pool.close();
        self.inner.long_pool.close();
    }
}
