//! Clears away what has had its time, in small bites, so that there is no janitor to remember.

use std::sync::Arc;
use std::time::Duration;

use domain::{Clock, Ticks};
use store::{Result, RetentionCutoffs, Store};
use tokio::sync::watch;

use crate::config::Config;

/// Rows in one transaction: small enough that nobody waits for it.
const BITE_ROWS: usize = 1000;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Keep {
    pub(crate) log: Duration,
    pub(crate) idempotency_keys: Duration,
    pub(crate) audit: Duration,
    pub(crate) calls: Duration,
    pub(crate) deliveries: Duration,
    /// How often a round is made.
    pub(crate) every: Duration,
}

impl From<&Config> for Keep {
    fn from(config: &Config) -> Self {
        let kept = &config.retention;
        Self {
            log: kept.log,
            idempotency_keys: kept.idempotency_keys,
            audit: kept.audit,
            calls: kept.calls,
            deliveries: kept.deliveries,
            every: kept.every,
        }
    }
}

/// Runs a round again and again until the end is called.
pub(crate) async fn run(
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    keep: Keep,
    mut stopped: watch::Receiver<bool>,
) {
    while tokio::time::timeout(keep.every, stopped.wait_for(|stop| *stop)).await.is_err() {
        match round(&*store, clock.now(), keep).await {
            Ok(0) => {}
            Ok(rows) => tracing::info!(rows, "cleared away what had had its time"),
            Err(error) => tracing::warn!(%error, "housekeeping will try again"),
        }
    }
}

/// One round: until nothing past is left. Tells how many rows went.
pub(crate) async fn round(store: &dyn Store, now: Ticks, keep: Keep) -> Result<usize> {
    let mut rows = 0;
    loop {
        let cutoffs = RetentionCutoffs {
            now,
            processes: now.minus(keep.idempotency_keys),
            audit: now.minus(keep.audit),
            calls: now.minus(keep.calls),
            deliveries: now.minus(keep.deliveries),
        };
        let gone = store.expire(cutoffs, BITE_ROWS).await?.total();
        rows += gone;
        if gone == 0 {
            break;
        }
    }
    for tenant in store.tenants().await? {
        loop {
            let gone = store.prune_log(&tenant.id, now.minus(keep.log), BITE_ROWS).await?;
            rows += gone;
            if gone < BITE_ROWS {
                break;
            }
        }
    }
    loop {
        match store.purge(BITE_ROWS).await? {
            0 => return Ok(rows),
            gone => rows += gone,
        }
    }
}
