//! Node registration in SQLite.

use std::time::Duration;

use async_trait::async_trait;
use domain::{Guid, Ticks};
use rusqlite::params;

use super::directory::change;
use super::{SqliteStore, store_error};
use crate::{Nodes, Result};

#[async_trait]
impl Nodes for SqliteStore {
    fn is_shared(&self) -> bool {
        false
    }

    async fn clock(&self) -> Result<Option<Ticks>> {
        Ok(None)
    }

    async fn register_node(&self, node: Guid, silence_max: Duration) -> Result<u32> {
        let now = self.ports().clock.now();
        self.write(move |writer| {
            change(writer, "DELETE FROM nodes WHERE seen_at < ?1", [now.minus(silence_max).0])?;
            change(
                writer,
                "INSERT INTO nodes (id, seen_at) VALUES (?1, ?2)
                 ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at",
                params![node.as_bytes(), now.0],
            )?;
            writer.query_row("SELECT count(*) FROM nodes", [], |row| row.get(0)).map_err(store_error)
        })
        .await
    }

    async fn count_live_nodes(&self, silence_max: Duration) -> Result<u32> {
        let earliest = self.ports().clock.now().minus(silence_max);
        self.read(|reader| {
            reader
                .query_row("SELECT count(*) FROM nodes WHERE seen_at >= ?1", [earliest.0], |row| row.get(0))
                .map_err(store_error)
        })
    }

    async fn deregister_node(&self, node: Guid) -> Result<()> {
        self.write(move |writer| change(writer, "DELETE FROM nodes WHERE id = ?1", [node.as_bytes()]))
            .await?;
        Ok(())
    }
}
