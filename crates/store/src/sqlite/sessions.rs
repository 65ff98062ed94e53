//! Sessions in SQLite.

use async_trait::async_trait;
use domain::{AccountId, Secret, Ticks};
use rusqlite::{Connection, OptionalExtension, params};

use super::audit::append_audit;
use super::authorizations::touch_user;
use super::directory::change;
use super::{SqliteStore, exists, store_error};
use crate::sessions::SESSION;
use crate::{AuditEntry, Result, Session, Sessions, Status};

fn remove(writer: &Connection, hash: &[u8; 32]) -> Result<bool> {
    change(writer, "DELETE FROM sessions WHERE hash = ?1", [hash])
}

#[async_trait]
impl Sessions for SqliteStore {
    async fn begin_session(
        &self,
        id: &Secret,
        session: &Session,
        replaced: Option<&Secret>,
        entry: &AuditEntry,
    ) -> Result<()> {
        let ports = self.ports().clone();
        let hash = ports.vault.fingerprint(SESSION, id);
        let replaced = replaced.map(|old| ports.vault.fingerprint(SESSION, old));
        let (one, entry) = (session.clone(), entry.clone());
        self.write_access_for(move |writer| {
            if let Some(replaced) = replaced {
                remove(writer, &replaced)?;
            }
            writer
                .prepare_cached(
                    "INSERT INTO sessions (hash, user_id, authenticated_at, methods, expires_at)
                     VALUES (?1, ?2, ?3, ?4, ?5)",
                )
                .and_then(|mut add| {
                    add.execute(params![
                        hash,
                        one.user.as_str(),
                        one.authenticated_at.0,
                        one.methods,
                        one.expires_at.0
                    ])
                })
                .map_err(exists("such a session".into()))?;
            let is_confirmed = change(
                writer,
                "UPDATE users SET standing = ?2, revision = revision + 1 WHERE id = ?1 AND standing = ?3",
                params![one.user.as_str(), Status::Active.code(), Status::Unconfirmed.code()],
            )?;
            append_audit(writer, &*ports.random, entry)?;
            let webhooks = if is_confirmed { Some(touch_user(writer, &one.user)?) } else { None };
            Ok(((), webhooks))
        })
        .await
    }

    async fn find_session(&self, id: &Secret, now: Ticks) -> Result<Option<Session>> {
        let hash = self.ports().vault.fingerprint(SESSION, id);
        self.read(|reader| {
            reader
                .prepare_cached(
                    "SELECT user_id, authenticated_at, methods, expires_at FROM sessions
                     WHERE hash = ?1 AND +expires_at > ?2",
                )
                .and_then(|mut find| {
                    find.query_row(params![hash, now.0], |row| {
                        Ok(Session {
                            user: AccountId::new(row.get::<_, Box<str>>(0)?),
                            authenticated_at: Ticks(row.get(1)?),
                            methods: row.get(2)?,
                            expires_at: Ticks(row.get(3)?),
                        })
                    })
                    .optional()
                })
                .map_err(store_error)
        })
    }

    async fn end_session(&self, id: &Secret, entry: &AuditEntry) -> Result<bool> {
        let ports = self.ports().clone();
        let hash = ports.vault.fingerprint(SESSION, id);
        let entry = entry.clone();
        self.write(move |writer| {
            let ended = remove(writer, &hash)?;
            if ended {
                append_audit(writer, &*ports.random, entry)?;
            }
            Ok(ended)
        })
        .await
    }
}
