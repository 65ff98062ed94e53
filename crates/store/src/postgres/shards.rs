//! Shard leases in PostgreSQL. They expire by the database's clock.

use std::collections::HashMap;
use std::time::Duration;

use deadpool_postgres::Transaction;
use domain::{Guid, Ticks};
use tokio_postgres::Row;

use super::nodes::NOW;
use super::rows::{column, execute, rows};
use super::{PostgresStore, store_error};
use crate::rows::Columns;
use crate::webhooks::{Lease, rebalance};
use crate::{LeaseRenewal, RenewedLeases, Result};

/// How long the row of a node that is gone stays.
const HOLDER_KEPT: Duration = Duration::from_secs(60 * 60);

/// The time by the database's clock, and until when the leases of each node last.
async fn holders(on: &Transaction<'_>) -> Result<(Ticks, HashMap<Guid, Ticks>)> {
    let sql = format!(
        "SELECT {NOW} AS now, h.node, h.expires_at FROM (SELECT 1) AS one LEFT JOIN lease_holders h ON true"
    );
    let found = rows(on, &sql, &[]).await?;
    let now = found.first().map_or(Ok(Ticks(0)), |row| row.read("now"))?;
    let mut holders = HashMap::new();
    for row in &found {
        if let (Some(node), Some(until)) = (row.read("node")?, row.read("expires_at")?) {
            holders.insert(node, until);
        }
    }
    Ok((now, holders))
}

fn lease(row: &Row, holders: &HashMap<Guid, Ticks>) -> Result<Lease> {
    let holder: Option<Guid> = row.read("holder")?;
    let renewed_until = holder.and_then(|holder| holders.get(&holder).copied());
    Ok(Lease {
        shard: row.read("shard")?,
        holder,
        fence: row.read("fence")?,
        expires_at: renewed_until.map_or_else(|| row.read("expires_at"), Ok)?,
        asked_by: row.read("asked_by")?,
        asked_until: row.read("asked_until")?,
    })
}

/// Whether at most the expiry differs, which `lease_holders` has.
fn is_renewed_only(before: &Lease, after: &Lease) -> bool {
    *before == Lease { expires_at: before.expires_at, ..*after }
        && (before.holder.is_some() || before.expires_at == after.expires_at)
}

/// Notes until when the node's leases last, and forgets nodes that are gone.
async fn keep_until(
    on: &Transaction<'_>,
    renewal: &LeaseRenewal,
    renewed: &RenewedLeases,
    now: Ticks,
) -> Result<()> {
    if !renewed.held.is_empty() {
        let upsert = "INSERT INTO lease_holders (node, expires_at) VALUES ($1, $2)
                      ON CONFLICT (node) DO UPDATE SET expires_at = excluded.expires_at";
        let until = now + renewal.lease;
        execute(on, upsert, &[&renewal.node.as_bytes().as_slice(), &until.0]).await.map_err(store_error)?;
    }
    if renewed.taken_over > 0 {
        let gone = "DELETE FROM lease_holders WHERE expires_at < $1";
        execute(on, gone, &[&now.minus(HOLDER_KEPT).0]).await.map_err(store_error)?;
    }
    Ok(())
}

impl PostgresStore {
    pub(super) async fn renew_leases(&self, renewal: &LeaseRenewal) -> Result<RenewedLeases> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let found = rows(
            &transaction,
            "SELECT shard, holder, fence, expires_at, asked_by, asked_until FROM shard_leases ORDER BY shard FOR UPDATE",
            &[],
        )
        .await?;
        // A statement of its own: it must see what other nodes committed while this one waited for the locks.
        let (now, holders) = holders(&transaction).await?;
        let before = found.iter().map(|row| lease(row, &holders)).collect::<Result<Vec<Lease>>>()?;
        let (after, renewed) = rebalance(&before, renewal, now);
        let changed = after.into_iter().zip(before).filter(|(after, before)| !is_renewed_only(before, after));
        let changed: Vec<Lease> = changed.map(|(after, _)| after).collect();
        execute(
            &transaction,
            "UPDATE shard_leases l SET holder = k.holder, fence = k.fence, expires_at = k.expires_at,
                 asked_by = k.asked_by, asked_until = k.asked_until
             FROM unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::bigint[], $5::bytea[], $6::bigint[])
                 AS k (shard, holder, fence, expires_at, asked_by, asked_until)
             WHERE l.shard = k.shard",
            &[
                &column(&changed, |one| i64::from(one.shard)),
                &column(&changed, |one| one.holder.as_ref().map(|holder| holder.as_bytes().as_slice())),
                &column(&changed, |one| one.fence),
                &column(&changed, |one| one.expires_at.0),
                &column(&changed, |one| one.asked_by.as_ref().map(|asker| asker.as_bytes().as_slice())),
                &column(&changed, |one| one.asked_until.0),
            ],
        )
        .await
        .map_err(store_error)?;
        keep_until(&transaction, renewal, &renewed, now).await?;
        transaction.commit().await.map_err(store_error)?;
        drop(client);
        if renewed.given > 0 {
            self.notify_of_free_shards().await;
        }
        Ok(renewed)
    }

    /// The leases end now, so that other nodes see since when the shards are free.
    pub(super) async fn release_leases(&self, node: Guid) -> Result<()> {
        let sql = format!(
            "UPDATE shard_leases SET holder = NULL, expires_at = {NOW}
             WHERE shard BETWEEN 0 AND 255 AND holder = $1"
        );
        self.change(&sql, &[&node.as_bytes().as_slice()]).await?;
        self.change("DELETE FROM lease_holders WHERE node = $1", &[&node.as_bytes().as_slice()]).await?;
        self.notify_of_free_shards().await;
        Ok(())
    }
}
