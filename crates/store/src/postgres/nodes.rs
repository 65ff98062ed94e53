//! Node registration in PostgreSQL, by the database's clock.

use std::time::Duration;

use async_trait::async_trait;
use domain::{Guid, Ticks};

use super::PostgresStore;
use super::rows::parse;
use crate::nodes::stored_count;
use crate::{NodeDetails, Nodes, RegisteredNode, Result};

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

    async fn describe_node(&self, node: Guid, details: &NodeDetails) -> Result<()> {
        let sql = format!(
            "INSERT INTO nodes (id, seen_at, version, host, started_at, webhooks, events_behind, oldest_undelivered_at,
                 failing, disabled, suspended, certificate_ends_at, operator_certificate_ends_at)
             VALUES ($1, {NOW}, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
             ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, version = excluded.version,
                 host = excluded.host, started_at = excluded.started_at, webhooks = excluded.webhooks,
                 events_behind = excluded.events_behind, oldest_undelivered_at = excluded.oldest_undelivered_at,
                 failing = excluded.failing, disabled = excluded.disabled, suspended = excluded.suspended,
                 certificate_ends_at = excluded.certificate_ends_at,
                 operator_certificate_ends_at = excluded.operator_certificate_ends_at"
        );
        let ticks = |at: Option<Ticks>| at.map(|at| at.0);
        self.change(
            &sql,
            &[
                &node.as_bytes().as_slice(),
                &details.version,
                &details.host,
                &details.started_at.0,
                &stored_count(details.webhooks),
                &stored_count(details.events_behind),
                &ticks(details.oldest_undelivered_at),
                &stored_count(details.failing),
                &stored_count(details.disabled),
                &stored_count(details.suspended),
                &ticks(details.certificate_ends_at),
                &ticks(details.operator_certificate_ends_at),
            ],
        )
        .await?;
        Ok(())
    }

    async fn live_nodes(&self, silence_max: Duration) -> Result<Vec<RegisteredNode>> {
        let sql = format!(
            "SELECT n.id, n.seen_at, (SELECT count(*) FROM shard_leases l LEFT JOIN lease_holders h ON h.node = l.holder
                 WHERE l.shard BETWEEN 0 AND 255 AND l.holder = n.id AND coalesce(h.expires_at, l.expires_at) > {NOW}) AS shards,
                 n.version, n.host, n.started_at, n.webhooks, n.events_behind, n.oldest_undelivered_at, n.failing,
                 n.disabled, n.suspended, n.certificate_ends_at, n.operator_certificate_ends_at
             FROM nodes n WHERE n.seen_at >= {NOW} - $1 ORDER BY n.started_at, n.id"
        );
        self.rows(&sql, &[&ticks(silence_max)]).await?.iter().map(parse).collect()
    }

    async fn deregister_node(&self, node: Guid) -> Result<()> {
        self.change("DELETE FROM nodes WHERE id = $1", &[&node.as_bytes().as_slice()]).await?;
        Ok(())
    }
}
