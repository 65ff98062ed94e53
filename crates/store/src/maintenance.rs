//! The store's own upkeep: whether it answers, and the clearing away of what has had its time.

use async_trait::async_trait;
use domain::Ticks;

use crate::{InvalidationCounters, Result};

#[async_trait]
pub trait Maintenance: Send + Sync + 'static {
    /// Asks the store for a sign of life.
    async fn health(&self) -> Result<Health>;

    /// Deletes up to `rows_max` rows each of what has had its time: codes, refresh tokens, sessions,
    /// grants without a live token, key overlaps, idempotency keys, audit records, counts of calls, the history of webhooks.
    async fn expire(&self, cutoffs: RetentionCutoffs, rows_max: usize) -> Result<ExpiredRows>;

    /// Deletes up to `rows_max` rows of companies that were deleted and of tenants that were erased.
    async fn purge(&self, rows_max: usize) -> Result<usize>;

    /// What has changed through this handle.
    fn invalidation(&self) -> &InvalidationCounters;

    /// How many commits of changes this store has made since it was opened; one may hold many requests.
    fn change_commits(&self) -> u64;

    /// Writes what is still in memory and closes; nothing can be written after.
    async fn close(&self);
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    pub schema: i64,
    /// Requests that wait to be written.
    pub queued: usize,
}

/// What lies before these moments has had its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetentionCutoffs {
    /// Of what carries its own end.
    pub now: Ticks,
    /// Of idempotency keys, by when they were last used.
    pub processes: Ticks,
    pub audit: Ticks,
    /// Of counted calls.
    pub calls: Ticks,
    /// Of the history of webhooks: attempts, deliveries, replays that are done.
    pub deliveries: Ticks,
}

/// How many rows went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExpiredRows {
    pub codes: usize,
    pub refresh_tokens: usize,
    pub grants: usize,
    pub keys: usize,
    pub processes: usize,
    pub sessions: usize,
    pub audit: usize,
    pub calls: usize,
    pub deliveries: usize,
}

impl ExpiredRows {
    pub fn total(self) -> usize {
        self.codes
            + self.refresh_tokens
            + self.grants
            + self.keys
            + self.processes
            + self.sessions
            + self.audit
            + self.calls
            + self.deliveries
    }
}

/// Tables with rows of a company, and what identifies a row.
pub(crate) const COMPANY_TABLES: [(&str, &str); 3] = [
    ("records", "tenant_no, company_no, resource, ordinal"),
    ("gaps", "tenant_no, company_no, resource, block"),
    ("collections", "tenant_no, company_no, resource"),
];

/// Tables with rows of a tenant, and what identifies a row; `heads` last.
pub(crate) const TENANT_TABLES: [(&str, &str); 13] = [
    ("records", "tenant_no, company_no, resource, ordinal"),
    ("log", "tenant_no, sequence"),
    ("gaps", "tenant_no, company_no, resource, block"),
    ("collections", "tenant_no, company_no, resource"),
    ("departed_companies", "tenant_no, company_no"),
    ("payroll_companies", "tenant_no, ordinal"),
    ("processes", "tenant_no, idempotency_key"),
    ("lanes", "tenant_no, webhook, record_key"),
    ("attempts", "tenant_no, webhook, at, sequence, occasion, number"),
    ("delivered", "tenant_no, webhook, last_at, last_sequence, first_sequence"),
    ("replays", "tenant_no, webhook, number"),
    ("webhooks", "tenant_no, id"),
    ("heads", "tenant_no"),
];
