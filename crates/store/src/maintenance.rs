//! Maintenance of the store: health, expiry of old rows, and deletion of erased tenants and companies.

use async_trait::async_trait;
use domain::Ticks;

use crate::{InvalidationCounters, Operations, Result};

#[async_trait]
pub trait Maintenance: Send + Sync + 'static {
    /// Checks that the store answers.
    async fn health(&self) -> Result<Health>;

    /// Deletes up to `rows_max` expired rows of each kind: codes, refresh tokens, sessions, sign-in buckets
    /// that are full, used challenges, grants without a live token, replaced subscription keys, idempotency keys, audit records, call counts, webhook
    /// history, mails, back-channel logouts, notices, invitations and the links of invitations and password resets, the log of calls, the figures, and
    /// who read what.
    async fn expire(&self, cutoffs: RetentionCutoffs, rows_max: usize) -> Result<ExpiredRows>;

    /// Deletes up to `rows_max` rows of deleted companies and erased tenants.
    async fn purge(&self, rows_max: usize) -> Result<usize>;

    /// The counters of changes made through this handle.
    fn invalidation(&self) -> &InvalidationCounters;

    /// Commits of change batches since the store was opened; one commit may hold many requests.
    fn change_commits(&self) -> u64;

    /// How long this store's operations took.
    fn operations(&self) -> &Operations;

    /// Waits until a background worker of the store has ended: SQLite's writer thread, PostgreSQL's listener. Before
    /// `close` that is a failure, and the store cannot go on. One caller at a time.
    async fn worker_ended(&self);

    /// Writes what is queued and closes the store; later writes fail.
    async fn close(&self);
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    pub schema: i64,
    /// Requests in the write queue.
    pub queued: usize,
}

/// Rows older than these times are expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetentionCutoffs {
    /// For rows that carry their own expiry time.
    pub now: Ticks,
    /// For idempotency keys, by their last use.
    pub processes: Ticks,
    pub audit: Ticks,
    /// For call counts.
    pub calls: Ticks,
    /// For who read what.
    pub reads: Ticks,
    /// For webhook history: attempts, deliveries and finished replays.
    pub deliveries: Ticks,
    /// For mails, back-channel logouts and invitations, by the time when they expired.
    pub mails: Ticks,
}

/// How many rows were deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExpiredRows {
    pub codes: usize,
    pub refresh_tokens: usize,
    pub grants: usize,
    pub keys: usize,
    pub processes: usize,
    pub sessions: usize,
    pub sign_in_buckets: usize,
    pub used_challenges: usize,
    pub audit: usize,
    pub calls: usize,
    pub deliveries: usize,
    pub mails: usize,
    /// With the clients of expired sessions.
    pub logouts: usize,
    pub invitations: usize,
    /// Of invitations and password resets.
    pub links: usize,
    pub call_log: usize,
    pub figures: usize,
    pub notices: usize,
    pub reads: usize,
}

impl ExpiredRows {
    pub fn total(self) -> usize {
        self.codes
            + self.refresh_tokens
            + self.grants
            + self.keys
            + self.processes
            + self.sessions
            + self.sign_in_buckets
            + self.used_challenges
            + self.audit
            + self.calls
            + self.deliveries
            + self.mails
            + self.logouts
            + self.invitations
            + self.links
            + self.call_log
            + self.figures
            + self.notices
            + self.reads
    }
}

/// Tables with rows of a company, and their keys.
pub(crate) const COMPANY_TABLES: [(&str, &str); 3] = [
    ("records", "tenant_no, company_no, resource, ordinal"),
    ("gaps", "tenant_no, company_no, resource, block"),
    ("collections", "tenant_no, company_no, resource"),
];

/// Tables with rows of a tenant, and their keys; `heads` comes last.
pub(crate) const TENANT_TABLES: [(&str, &str); 14] = [
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
    ("reads", "tenant_no, day, client_id, resource, company"),
    ("heads", "tenant_no"),
];
