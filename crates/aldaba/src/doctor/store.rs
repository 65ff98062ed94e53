//! The store's settings, and its clock beside this machine's.

use std::sync::Arc;

use ::store::postgres::PostgresStore;
use ::store::sqlite::SqliteStore;
use operator::operations::doctor::{ClockFacts, PostgresFacts, SqliteFacts, SqliteIntegrity, StoreFacts};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::reason;
use crate::config::{Config, StoreUrl};
use crate::wiring::{ClockDifference, NodeClock, SystemClock};

/// Connections beside the pool: for long statements, and for notifications.
const OTHER_CONNECTIONS: u32 = 3;

pub(super) struct ClockAndStore {
    pub(super) clock: ClockFacts,
    pub(super) store: StoreFacts,
}

pub(super) async fn examine(
    config: &Config,
    clock: &NodeClock,
    file_operations: &Arc<Semaphore>,
) -> ClockAndStore {
    match &config.store.url {
        StoreUrl::Postgres(url) => postgres(config, url, clock).await,
        StoreUrl::Sqlite(path) => {
            let path = path.clone();
            let Ok(place) = file_operations.clone().try_acquire_owned() else {
                let store = StoreFacts::Silent("an earlier examination of the file has not ended".into());
                return ClockAndStore { clock: ClockFacts::NoOther, store };
            };
            let diagnose = move || {
                let _place = place;
                SqliteStore::diagnose(&path)
            };
            let found = tokio::task::spawn_blocking(diagnose).await;
            let store = match found {
                Ok(Ok(Some(found))) => StoreFacts::Sqlite(SqliteFacts {
                    journal_mode: found.journal_mode,
                    synchronous: found.synchronous,
                    bytes: found.bytes,
                    integrity: match found.integrity {
                        Some(Ok(())) => SqliteIntegrity::Intact,
                        Some(Err(why)) => SqliteIntegrity::Damaged(reason(&why)),
                        None => SqliteIntegrity::NotChecked,
                    },
                }),
                Ok(Ok(None)) => StoreFacts::Missing,
                Ok(Err(error)) => StoreFacts::Silent(reason(&error)),
                Err(error) => StoreFacts::Silent(reason(&error)),
            };
            ClockAndStore { clock: ClockFacts::NoOther, store }
        }
    }
}

async fn postgres(config: &Config, url: &str, clock: &NodeClock) -> ClockAndStore {
    let asked_at = Instant::now();
    let found = match PostgresStore::diagnose(url).await {
        Ok(found) => found,
        Err(error) => {
            return ClockAndStore { clock: ClockFacts::Unknown, store: StoreFacts::Silent(reason(&error)) };
        }
    };
    // A running node compares its clock all the time; a command compares it now.
    let ClockDifference { seconds, is_corrected } = clock
        .difference()
        .unwrap_or_else(|| NodeClock::new(Arc::new(SystemClock)).compare(found.now, asked_at.elapsed()));
    let pool = u32::try_from(config.store.connections_max).unwrap_or(u32::MAX);
    let store = StoreFacts::Postgres(PostgresFacts {
        version: found.version,
        is_fsync_on: found.is_fsync_on,
        are_full_pages_written: found.are_full_pages_written,
        synchronous_commit: found.synchronous_commit,
        connections_max: found.connections_max,
        connections_reserved: found.connections_reserved,
        connections_used: found.connections_used,
        own_connections_max: pool.saturating_add(OTHER_CONNECTIONS),
        wal_level: found.wal_level,
        is_archiving: found.is_archiving,
        is_archiving_failing: found.is_archiving_failing,
    });
    ClockAndStore { clock: ClockFacts::Difference { seconds, is_corrected }, store }
}
