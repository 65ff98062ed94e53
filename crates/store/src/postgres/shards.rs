//! Shard leases in PostgreSQL. They expire by the database's clock.

use domain::{Guid, Ticks};
use tokio_postgres::Row;

use super::nodes::NOW;
use super::rows::{column, execute, rows};
use super::{PostgresStore, store_error};
use crate::webhooks::{Lease, rebalance};
use crate::{LeaseRenewal, RenewedLeases, Result, StoreError};

fn lease(row: &Row) -> Result<Lease> {
    let guid = |column: usize| {
        let bytes: Option<&[u8]> = row.get(column);
        bytes.map(|bytes| bytes.try_into().map(Guid::from_bytes)).transpose().map_err(StoreError::internal)
    };
    Ok(Lease {
        shard: u8::try_from(row.get::<_, i64>(0)).map_err(StoreError::internal)?,
        holder: guid(1)?,
        fence: row.get(2),
        expires_at: Ticks(row.get(3)),
        asked_by: guid(4)?,
        asked_until: Ticks(row.get(5)),
    })
}

impl PostgresStore {
    pub(super) async fn renew_leases(&self, renewal: &LeaseRenewal) -> Result<RenewedLeases> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let found = rows(
            &transaction,
            &format!(
                "SELECT shard, holder, fence, expires_at, asked_by, asked_until, {NOW}
                 FROM shard_leases ORDER BY shard FOR UPDATE"
            ),
            &[],
        )
        .await?;
        let now = Ticks(found.last().map_or(0, |row| row.get(6)));
        let before = found.iter().map(lease).collect::<Result<Vec<Lease>>>()?;
        let (after, renewed) = rebalance(&before, renewal, now);
        let changed = after.into_iter().zip(before).filter(|(after, before)| after != before);
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
        self.notify_of_free_shards().await;
        Ok(())
    }
}
