//! Signing keys in SQLite.

use async_trait::async_trait;
use domain::Ticks;
use rusqlite::params;

use super::{SqliteStore, exists, fault};
use crate::keys::purpose;
use crate::{Result, SigningKey, SigningKeys};

#[async_trait]
impl SigningKeys for SqliteStore {
    async fn add_signing_key(&self, key: &SigningKey) -> Result<()> {
        let ports = self.ports();
        let sealed = ports.vault.seal(&*ports.random, &purpose(&key.kid), key.private.reveal())?;
        let key = key.clone();
        self.write(move |writer| {
            writer
                .execute(
                    "INSERT INTO signing_keys (kid, sealed, public_jwk, created_at, signs_from, retired_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                    params![
                        key.kid,
                        sealed,
                        key.public_jwk,
                        key.created_at.0,
                        key.signs_from.0,
                        key.retired_at.map(|at| at.0)
                    ],
                )
                .map_err(exists(format!("a signing key \"{}\"", key.kid)))?;
            Ok(())
        })
        .await
    }

    async fn signing_keys(&self) -> Result<Vec<SigningKey>> {
        type Sealed = (String, Vec<u8>, String, i64, i64, Option<i64>);
        let rows: Vec<Sealed> = self.read(|reader| {
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
                .map_err(fault)
        })?;
        rows.into_iter()
            .map(|(kid, sealed, public_jwk, created_at, signs_from, retired_at)| {
                let private = self.ports().vault.open(&purpose(&kid), &sealed)?;
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

    async fn retire_signing_key(&self, kid: &str, at: Ticks) -> Result<bool> {
        let kid = kid.to_owned();
        self.write(move |writer| {
            let changed = writer
                .execute("UPDATE signing_keys SET retired_at = ?2 WHERE kid = ?1", params![kid, at.0])
                .map_err(fault)?;
            Ok(changed > 0)
        })
        .await
    }
}
