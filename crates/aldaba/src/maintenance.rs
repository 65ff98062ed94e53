//! Deletes expired rows, old log rows and the rows of erased tenants, in small transactions. Operators need no cron job.

use std::sync::Arc;
use std::time::Duration;

use domain::{Clock, Ticks};
use store::{ListQuery, Result, RetentionCutoffs, Store};
use tokio::sync::watch;

use crate::config::Config;

/// Rows deleted in one transaction: few enough that no request waits long for it.
const BATCH_ROWS: usize = 1000;
/// How long mails are kept after they expired, to look up what became of them.
const MAIL_RETENTION: Duration = Duration::from_secs(7 * 24 * 60 * 60);

#[derive(Clone, Copy, Debug)]
pub(crate) struct RetentionPeriods {
    pub(crate) log: Duration,
    pub(crate) idempotency_keys: Duration,
    pub(crate) audit: Duration,
    pub(crate) calls: Duration,
    pub(crate) reads: Duration,
    pub(crate) deliveries: Duration,
    /// The interval between two rounds.
    pub(crate) every: Duration,
}

impl From<&Config> for RetentionPeriods {
    fn from(config: &Config) -> Self {
        let retention = &config.retention;
        Self {
            log: retention.log,
            idempotency_keys: retention.idempotency_keys,
            audit: retention.audit,
            calls: retention.calls,
            reads: retention.reads,
            deliveries: retention.deliveries,
            every: retention.every,
        }
    }
}

/// Runs a round at every interval until shutdown.
pub(crate) async fn run(
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    periods: RetentionPeriods,
    mut stopped: watch::Receiver<bool>,
) {
    while tokio::time::timeout(periods.every, stopped.wait_for(|stop| *stop)).await.is_err() {
        match round(&*store, clock.now(), periods).await {
            Ok(0) => {}
            Ok(rows) => tracing::info!(rows, "deleted expired rows"),
            Err(error) => tracing::warn!(%error, "maintenance failed; it runs again at the next interval"),
        }
    }
}

/// Deletes everything that has expired by `now`. Returns the number of rows.
pub(crate) async fn round(store: &dyn Store, now: Ticks, periods: RetentionPeriods) -> Result<usize> {
    let mut rows = 0;
    loop {
        let cutoffs = RetentionCutoffs {
            now,
            processes: now.minus(periods.idempotency_keys),
            audit: now.minus(periods.audit),
            calls: now.minus(periods.calls),
            reads: now.minus(periods.reads),
            deliveries: now.minus(periods.deliveries),
            mails: now.minus(MAIL_RETENTION),
        };
        let deleted = store.expire(cutoffs, BATCH_ROWS).await?.total();
        rows += deleted;
        if deleted == 0 {
            break;
        }
    }
    let mut query = ListQuery::default();
    loop {
        let page = store.list_tenants(&query).await?;
        for tenant in &page.rows {
            loop {
                let deleted = store.prune_log(&tenant.id, now.minus(periods.log), BATCH_ROWS).await?;
                rows += deleted;
                if deleted < BATCH_ROWS {
                    break;
                }
            }
        }
        if page.next.is_none() {
            break;
        }
        query.after = page.next;
    }
    loop {
        match store.purge(BATCH_ROWS).await? {
            0 => return Ok(rows),
            deleted => rows += deleted,
        }
    }
}

#[cfg(test)]
mod tests {
    use store::memory::MemoryStore;
    use store::{Audit as _, AuditContext, AuditEntry, AuditKind, AuditQuery, MasterKey, Ports, Vault};

    use super::*;
    use crate::config::{self, Sources};
    use crate::wiring::SystemRandom;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    struct TestClock(Ticks);

    impl Clock for TestClock {
        fn now(&self) -> Ticks {
            self.0
        }
    }

    /// More entries than one batch are older than the retention, which is a year unless it is configured.
    #[tokio::test]
    async fn audit_entries_older_than_the_retention_are_deleted() {
        for (setting, days) in [(None, 365), (Some("90d"), 90)] {
            let flags = setting.map(|value| ("retention.audit".to_owned(), value.to_owned()));
            let sources = Sources { flags: flags.into_iter().collect(), ..Sources::default() };
            let periods = RetentionPeriods::from(&config::load(&sources).unwrap());
            let start = Ticks::parse_iso("2026-11-15T08:30:00Z").unwrap();
            let vault = Arc::new(Vault::new(&MasterKey::from_bytes([7; 32])).unwrap());
            let (clock, random) = (Arc::new(TestClock(start)), Arc::new(SystemRandom));
            let store = MemoryStore::new(Ports { clock, random, vault }).unwrap();
            let old = BATCH_ROWS * 2 + 1;
            for number in 0..old + 3 {
                let at = if number < old { start } else { start + DAY };
                let entry = AuditEntry::new(AuditKind::SignedIn, at, &AuditContext::default());
                store.record(&entry).await.unwrap();
            }
            let left = async || {
                store.audit(&AuditQuery { rows_max: 9999, ..AuditQuery::default() }).await.unwrap().len()
            };
            let end = start + DAY * days;
            assert_eq!(round(&store, end, periods).await, Ok(0), "not older than {days} days yet");
            assert_eq!(left().await, old + 3);
            assert_eq!(round(&store, end + Duration::from_secs(1), periods).await, Ok(old));
            assert_eq!(left().await, 3);
        }
    }
}
