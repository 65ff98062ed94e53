//! Reads the settings of the server that the doctor judges.

use std::collections::HashMap;
use std::sync::Arc;

use domain::Ticks;

use super::connect::Connector;
use super::inventory::unless_refused;
use super::{PostgresStore, SERVER_DEADLINES, STATEMENT_DEADLINE, StorePool, nodes, store_error};
use crate::{PostgresDiagnosis, Result};

const SETTINGS: &str = "SELECT name, setting FROM pg_settings WHERE name IN ('server_version_num', 'fsync', \
    'full_page_writes', 'synchronous_commit', 'max_connections', 'superuser_reserved_connections', \
    'reserved_connections', 'wal_level', 'archive_mode')";
const CONNECTIONS: &str = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'";
const IS_ARCHIVING_FAILING: &str = "SELECT coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), \
    false) FROM pg_stat_archiver";

impl PostgresStore {
    /// Connects once and reads the settings; changes nothing.
    pub async fn diagnose(url: &str) -> Result<PostgresDiagnosis> {
        let connector = Connector::new(url, Arc::default(), STATEMENT_DEADLINE)?;
        let pool = StorePool::new(&connector, 1, SERVER_DEADLINES)?;
        let client = pool.connection().await?;
        let rows = client.query(SETTINGS, &[]).await.map_err(store_error)?;
        let settings: HashMap<String, String> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
        let text = |name: &str| settings.get(name).cloned().unwrap_or_default();
        let number = |name: &str| text(name).parse::<u32>().unwrap_or(0);
        // Other engines with the same protocol may lack these views.
        let used = unless_refused(client.query_one(CONNECTIONS, &[]).await)?;
        let failing = unless_refused(client.query_opt(IS_ARCHIVING_FAILING, &[]).await)?.flatten();
        let now = client.query_one(&format!("SELECT {}", nodes::NOW), &[]).await.map_err(store_error)?;
        Ok(PostgresDiagnosis {
            now: Ticks(now.get(0)),
            version: number("server_version_num"),
            is_fsync_on: text("fsync") == "on",
            are_full_pages_written: text("full_page_writes") == "on",
            synchronous_commit: text("synchronous_commit"),
            connections_max: number("max_connections"),
            connections_reserved: number("superuser_reserved_connections") + number("reserved_connections"),
            connections_used: used.map(|row| u32::try_from(row.get::<_, i64>(0)).unwrap_or(u32::MAX)),
            wal_level: text("wal_level"),
            is_archiving: matches!(text("archive_mode").as_str(), "on" | "always"),
            is_archiving_failing: failing.is_some_and(|row| row.get(0)),
        })
    }
}
