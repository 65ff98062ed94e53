//! Node registration in SQLite.

use std::time::Duration;

use async_trait::async_trait;
use domain::{Guid, Ticks};
use rusqlite::params;

use super::directory::change;
use super::rows::parse;
use super::{SqliteStore, store_error};
use crate::nodes::stored_count;
use crate::{NodeDetails, Nodes, RegisteredNode, Result};

/// The lock beside the file decides who delivers, so leases of a file do not expire.
const LIVE: &str = "SELECT n.id, n.seen_at, (SELECT count(*) FROM shard_leases l WHERE l.holder = n.id) AS shards, n.version, n.host,
         n.started_at, n.webhooks, n.events_behind, n.oldest_undelivered_at, n.failing, n.disabled, n.suspended,
         n.certificate_ends_at, n.operator_certificate_ends_at
     FROM nodes n WHERE n.seen_at >= ?1 ORDER BY n.started_at, n.id";

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

    async fn describe_node(&self, node: Guid, details: &NodeDetails) -> Result<()> {
        let (now, details) = (self.ports().clock.now(), details.clone());
        self.write(move |writer| {
            let ticks = |at: Option<Ticks>| at.map(|at| at.0);
            change(
                writer,
                "INSERT OR REPLACE INTO nodes (id, seen_at, version, host, started_at, webhooks, events_behind,
                     oldest_undelivered_at, failing, disabled, suspended, certificate_ends_at, operator_certificate_ends_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
                params![
                    node.as_bytes(),
                    now.0,
                    details.version,
                    details.host,
                    details.started_at.0,
                    stored_count(details.webhooks),
                    stored_count(details.events_behind),
                    ticks(details.oldest_undelivered_at),
                    stored_count(details.failing),
                    stored_count(details.disabled),
                    stored_count(details.suspended),
                    ticks(details.certificate_ends_at),
                    ticks(details.operator_certificate_ends_at)
                ],
            )
        })
        .await?;
        Ok(())
    }

    async fn live_nodes(&self, silence_max: Duration) -> Result<Vec<RegisteredNode>> {
        let earliest = self.ports().clock.now().minus(silence_max);
        self.read(|reader| {
            reader
                .prepare_cached(LIVE)
                .and_then(|mut all| all.query_map([earliest.0], parse)?.collect())
                .map_err(store_error)
        })
    }

    async fn deregister_node(&self, node: Guid) -> Result<()> {
        self.write(move |writer| change(writer, "DELETE FROM nodes WHERE id = ?1", [node.as_bytes()]))
            .await?;
        Ok(())
    }
}
