//! Node registration in PostgreSQL, by the database's clock.

use std::time::Duration;

use async_trait::async_trait;
use domain::{Guid, Ticks};

use super::PostgresStore;
use crate::{Nodes, Result};

/// The database's clock, in ticks.
pub(super) const NOW: &str =
    "((extract(epoch FROM clock_timestamp()) * 10000000)::bigint + 621355968000000000)";

fn ticks(span: Duration) -> i64 {
    i64::try_from(span.as_nanos() / 100).unwrap_or(i64::MAX)
}

#[async_trait]
impl Nodes for PostgresStore {
    fn is_shared(&self) -> bool {
        true
    }

    async fn clock(&self) -> Result<Option<Ticks>> {
        let row = self.row(&format!("SELECT {NOW}"), &[]).await?;
        Ok(row.map(|row| Ticks(row.get(0))))
    }

    async fn register_node(&self, node: Guid, silence_max: Duration) -> Result<u32> {
        let silence = ticks(silence_max);
        self.change(&format!("DELETE FROM nodes WHERE seen_at < {NOW} - $1"), &[&silence]).await?;
        let here = format!(
            "INSERT INTO nodes (id, seen_at) VALUES ($1, {NOW})
             ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at"
        );
        self.change(&here, &[&node.as_bytes().as_slice()]).await?;
        let count = self.row("SELECT count(*) FROM nodes", &[]).await?;
        Ok(count.and_then(|row| u32::try_from(row.get::<_, i64>(0)).ok()).unwrap_or(1))
    }

    async fn count_live_nodes(&self, silence_max: Duration) -> Result<u32> {
        let silence = ticks(silence_max);
        let count = format!("SELECT count(*) FROM nodes WHERE seen_at >= {NOW} - $1");
        let count = self.row(&count, &[&silence]).await?;
        Ok(count.and_then(|row| u32::try_from(row.get::<_, i64>(0)).ok()).unwrap_or(0))
    }

    async fn deregister_node(&self, node: Guid) -> Result<()> {
        self.change("DELETE FROM nodes WHERE id = $1", &[&node.as_bytes().as_slice()]).await?;
        Ok(())
    }
}
