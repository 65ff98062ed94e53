//! Shard leases in PostgreSQL. They expire by the database's clock.

use std::time::Duration;

use domain::{Guid, Ticks};
use tokio_postgres::Row;

use super::nodes::NOW;
use super::rows::{column, execute, rows};
use super::{PostgresStore, store_error};
use crate::webhooks::{Lease, leases_held_by, rebalance};
use crate::{Result, ShardLease, StoreError};

fn lease(row: &Row) -> Result<Lease> {
    let holder: Option<&[u8]> = row.get(1);
    let guid = |bytes: &[u8]| bytes.try_into().map(Guid::from_bytes);
    Ok(Lease {
        shard: u8::try_from(row.get::<_, i64>(0)).map_err(StoreError::internal)?,
        holder: holder.map(guid).transpose().map_err(StoreError::internal)?,
        fence: row.get(2),
        expires_at: Ticks(row.get(3)),
    })
}

impl PostgresStore {
    pub(super) async fn renew_leases(
        &self,
        node: Guid,
        nodes: u32,
        span: Duration,
    ) -> Result<Vec<ShardLease>> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let found = rows(
            &transaction,
            &format!(
                "SELECT shard, holder, fence, expires_at, {NOW} FROM shard_leases ORDER BY shard FOR UPDATE"
            ),
            &[],
        )
        .await?;
        let now = Ticks(found.last().map_or(0, |row| row.get(4)));
        let mut leases = found.iter().map(lease).collect::<Result<Vec<Lease>>>()?;
        let changed = rebalance(&leases, node, nodes, now, now + span);
        execute(
            &transaction,
            "UPDATE shard_leases l SET holder = k.holder, fence = k.fence, expires_at = k.expires_at
             FROM unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::bigint[]) AS k (shard, holder, fence, expires_at)
             WHERE l.shard = k.shard",
            &[
                &column(&changed, |one| i64::from(one.shard)),
                &column(&changed, |one| one.holder.as_ref().map(|holder| holder.as_bytes().as_slice())),
                &column(&changed, |one| one.fence),
                &column(&changed, |one| one.expires_at.0),
            ],
        )
        .await
        .map_err(store_error)?;
        transaction.commit().await.map_err(store_error)?;
        for one in changed {
            if let Some(lease) = leases.iter_mut().find(|lease| lease.shard == one.shard) {
                *lease = one;
            }
        }
        Ok(leases_held_by(&leases, node))
    }

    pub(super) async fn release_leases(&self, node: Guid) -> Result<()> {
        let sql = "UPDATE shard_leases SET holder = NULL WHERE shard BETWEEN 0 AND 255 AND holder = $1";
        self.change(sql, &[&node.as_bytes().as_slice()]).await?;
        Ok(())
    }
}
