//! Ticket keys in PostgreSQL.

use async_trait::async_trait;
use domain::{Guid, Ticks};

use super::rows::{execute, row};
use super::{PostgresStore, store_error};
use crate::keys::created_after;
use crate::rows::Columns;
use crate::ticket_keys::sealing_purpose;
use crate::{Result, TicketKey, TicketKeys};

#[async_trait]
impl TicketKeys for PostgresStore {
    async fn add_ticket_key(&self, key: &TicketKey, newest: Option<Guid>) -> Result<bool> {
        let ports = self.ports();
        let sealed = ports.vault.seal(&*ports.random, &sealing_purpose(key.id), key.key.reveal())?;
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        // One writer at a time; readers do not wait.
        transaction.batch_execute("LOCK TABLE ticket_keys IN EXCLUSIVE MODE").await.map_err(store_error)?;
        let last = row(
            &transaction,
            "SELECT id, created_at FROM ticket_keys ORDER BY created_at DESC, id DESC LIMIT 1",
            &[],
        )
        .await?;
        let last: Option<(Guid, Ticks)> =
            last.map(|row| Ok((row.read("id")?, row.read("created_at")?))).transpose()?;
        let last = last.as_ref().map(|(id, at)| (id, *at));
        let Some(created_at) = created_after(key.created_at, newest.as_ref(), last) else {
            return Ok(false);
        };
        execute(
            &transaction,
            "INSERT INTO ticket_keys (id, sealed, created_at, encrypts_from) VALUES ($1, $2, $3, $4)",
            &[&key.id.as_bytes().as_slice(), &sealed, &created_at.0, &key.encrypts_from.0],
        )
        .await
        .map_err(store_error)?;
        transaction.commit().await.map_err(store_error)?;
        Ok(true)
    }

    async fn ticket_keys(&self) -> Result<Vec<TicketKey>> {
        let rows = self
            .rows(
                "SELECT id, sealed, created_at, encrypts_from FROM ticket_keys ORDER BY created_at, id",
                &[],
            )
            .await?;
        let opened = rows.iter().map(|row| {
            let id = row.read("id")?;
            let key = self.ports().vault.open(&sealing_purpose(id), &row.read::<Vec<u8>>("sealed")?)?;
            Ok(TicketKey {
                id,
                key,
                created_at: row.read("created_at")?,
                encrypts_from: row.read("encrypts_from")?,
            })
        });
        opened.collect()
    }

    async fn delete_ticket_key(&self, id: Guid) -> Result<bool> {
        self.change("DELETE FROM ticket_keys WHERE id = $1", &[&id.as_bytes().as_slice()]).await
    }
}
