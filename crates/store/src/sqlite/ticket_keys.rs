//! Ticket keys in SQLite.

use async_trait::async_trait;
use domain::{Guid, Ticks};
use rusqlite::{Connection, OptionalExtension, params};

use super::directory::change;
use super::{SqliteStore, store_error};
use crate::keys::created_after;
use crate::ticket_keys::sealing_purpose;
use crate::{Result, TicketKey, TicketKeys};

fn newest_key(writer: &Connection) -> Result<Option<(Guid, Ticks)>> {
    writer
        .query_row(
            "SELECT id, created_at FROM ticket_keys ORDER BY created_at DESC, id DESC LIMIT 1",
            [],
            |row| Ok((Guid::from_bytes(row.get(0)?), Ticks(row.get(1)?))),
        )
        .optional()
        .map_err(store_error)
}

#[async_trait]
impl TicketKeys for SqliteStore {
    async fn add_ticket_key(&self, key: &TicketKey, newest: Option<Guid>) -> Result<bool> {
        let ports = self.ports();
        let sealed = ports.vault.seal(&*ports.random, &sealing_purpose(key.id), key.key.reveal())?;
        let key = key.clone();
        self.write(move |writer| {
            let last = newest_key(writer)?;
            let last = last.as_ref().map(|(id, at)| (id, *at));
            let Some(created_at) = created_after(key.created_at, newest.as_ref(), last) else {
                return Ok(false);
            };
            change(
                writer,
                "INSERT INTO ticket_keys (id, sealed, created_at, encrypts_from) VALUES (?1, ?2, ?3, ?4)",
                params![key.id.as_bytes(), sealed, created_at.0, key.encrypts_from.0],
            )
        })
        .await
    }

    async fn ticket_keys(&self) -> Result<Vec<TicketKey>> {
        let rows: Vec<([u8; 16], Vec<u8>, i64, i64)> = self.read(|reader| {
            reader
                .prepare_cached(
                    "SELECT id, sealed, created_at, encrypts_from FROM ticket_keys ORDER BY created_at, id",
                )
                .and_then(|mut all| {
                    all.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?
                        .collect()
                })
                .map_err(store_error)
        })?;
        let opened = rows.into_iter().map(|(id, sealed, created_at, encrypts_from)| {
            let id = Guid::from_bytes(id);
            let key = self.ports().vault.open(&sealing_purpose(id), &sealed)?;
            Ok(TicketKey { id, key, created_at: Ticks(created_at), encrypts_from: Ticks(encrypts_from) })
        });
        opened.collect()
    }

    async fn delete_ticket_key(&self, id: Guid) -> Result<bool> {
        self.write(move |writer| change(writer, "DELETE FROM ticket_keys WHERE id = ?1", [id.as_bytes()]))
            .await
    }
}
