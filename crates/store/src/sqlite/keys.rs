//! Signing keys in SQLite.

use async_trait::async_trait;
use domain::Ticks;
use rusqlite::{Connection, OptionalExtension, params};

use super::audit::append_audit;
use super::directory::change;
use super::{SqliteStore, exists, store_error};
use crate::keys::{created_after, sealing_purpose};
use crate::{AuditContext, Result, SigningKey, SigningKeys};

fn newest_key(writer: &Connection) -> Result<Option<(String, Ticks)>> {
    writer
        .query_row(
            "SELECT kid, created_at FROM signing_keys ORDER BY created_at DESC, kid DESC LIMIT 1",
            [],
            |row| Ok((row.get(0)?, Ticks(row.get(1)?))),
        )
        .optional()
        .map_err(store_error)
}

#[async_trait]
impl SigningKeys for SqliteStore {
    async fn add_signing_key(
        &self,
        key: &SigningKey,
        newest: Option<&str>,
        context: &AuditContext,
    ) -> Result<bool> {
        let ports = self.ports();
        let sealed = ports.vault.seal(&*ports.random, &sealing_purpose(&key.kid), key.private.reveal())?;
        let (key, expected) = (key.clone(), newest.map(str::to_owned));
        let (act, random) = (self.act(context), ports.random.clone());
        self.write(move |writer| {
            let newest = newest_key(writer)?;
            let newest = newest.as_ref().map(|(kid, at)| (kid.as_str(), *at));
            let Some(created_at) = created_after(key.created_at, expected.as_deref(), newest) else {
                return Ok(false);
            };
            writer
                .execute(
                    "INSERT INTO signing_keys (kid, sealed, public_jwk, created_at, signs_from, retired_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                    params![
                        key.kid,
                        sealed,
                        key.public_jwk,
                        created_at.0,
                        key.signs_from.0,
                        key.retired_at.map(|at| at.0)
                    ],
                )
                .map_err(exists(format!("a signing key \"{}\"", key.kid)))?;
            append_audit(writer, &*random, act.signing_key_added(&key))?;
            Ok(true)
        })
        .await
    }

    async fn signing_keys(&self) -> Result<Vec<SigningKey>> {
        type SealedWebhook = (String, Vec<u8>, String, i64, i64, Option<i64>);
        let rows: Vec<SealedWebhook> = self.read(|reader| {
            reader
                .prepare_cached(
                    "SELECT kid, sealed, public_jwk, created_at, signs_from, retired_at FROM signing_keys
                     ORDER BY created_at, kid",
                )
                .and_then(|mut all| {
                    all.query_map([], |row| {
                        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?))
                    })?
                    .collect()
                })
                .map_err(store_error)
        })?;
        rows.into_iter()
            .map(|(kid, sealed, public_jwk, created_at, signs_from, retired_at)| {
                let private = self.ports().vault.open(&sealing_purpose(&kid), &sealed)?;
                let (created_at, signs_from) = (Ticks(created_at), Ticks(signs_from));
                Ok(SigningKey {
                    kid,
                    private,
                    public_jwk,
                    created_at,
                    signs_from,
                    retired_at: retired_at.map(Ticks),
                })
            })
            .collect()
    }

    async fn retire_signing_key(&self, kid: &str, at: Ticks, context: &AuditContext) -> Result<bool> {
        let (kid, entry) = (kid.to_owned(), self.act(context).signing_key_retired(kid, at));
        let random = self.ports().random.clone();
        self.write(move |writer| {
            let retired =
                change(writer, "UPDATE signing_keys SET retired_at = ?2 WHERE kid = ?1", params![kid, at.0])?;
            if retired {
                append_audit(writer, &*random, entry)?;
            }
            Ok(retired)
        })
        .await
    }

    async fn delete_signing_key(&self, kid: &str, context: &AuditContext) -> Result<bool> {
        let (kid, entry) = (kid.to_owned(), self.act(context).signing_key_deleted(kid));
        let random = self.ports().random.clone();
        self.write(move |writer| {
            let deleted = change(writer, "DELETE FROM signing_keys WHERE kid = ?1", [kid])?;
            if deleted {
                append_audit(writer, &*random, entry)?;
            }
            Ok(deleted)
        })
        .await
    }
}
