//! Signing keys in PostgreSQL.

use async_trait::async_trait;
use domain::Ticks;

use super::audit::append_audit;
use super::rows::{execute, row};
use super::{PostgresStore, exists, store_error};
use crate::keys::{created_after, sealing_purpose};
use crate::rows::Columns;
use crate::{AuditContext, Result, SigningKey, SigningKeys};

#[async_trait]
impl SigningKeys for PostgresStore {
    async fn add_signing_key(
        &self,
        key: &SigningKey,
        newest: Option<&str>,
        context: &AuditContext,
    ) -> Result<bool> {
        let ports = self.ports();
        let sealed = ports.vault.seal(&*ports.random, &sealing_purpose(&key.kid), key.private.reveal())?;
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        // One writer at a time; readers do not wait.
        transaction.batch_execute("LOCK TABLE signing_keys IN EXCLUSIVE MODE").await.map_err(store_error)?;
        let last = row(
            &transaction,
            "SELECT kid, created_at FROM signing_keys ORDER BY created_at DESC, kid DESC LIMIT 1",
            &[],
        )
        .await?;
        let last = last.as_ref().map(|row| (row.get(0), Ticks(row.get(1))));
        let Some(created_at) = created_after(key.created_at, newest, last) else {
            return Ok(false);
        };
        execute(
            &transaction,
            "INSERT INTO signing_keys (kid, sealed, public_jwk, created_at, signs_from, retired_at)
             VALUES ($1, $2, $3, $4, $5, $6)",
            &[
                &key.kid,
                &sealed,
                &key.public_jwk,
                &created_at.0,
                &key.signs_from.0,
                &key.retired_at.map(|at| at.0),
            ],
        )
        .await
        .map_err(exists(format!("a signing key \"{}\"", key.kid)))?;
        append_audit(&transaction, &*ports.random, self.act(context).signing_key_added(key)).await?;
        transaction.commit().await.map_err(store_error)?;
        Ok(true)
    }

    async fn signing_keys(&self) -> Result<Vec<SigningKey>> {
        let rows = self
            .rows(
                "SELECT kid, sealed, public_jwk, created_at, signs_from, retired_at FROM signing_keys
                 ORDER BY created_at, kid",
                &[],
            )
            .await?;
        rows.iter()
            .map(|row| {
                let kid: String = row.read("kid")?;
                let sealed: Vec<u8> = row.read("sealed")?;
                Ok(SigningKey {
                    private: self.ports().vault.open(&sealing_purpose(&kid), &sealed)?,
                    kid,
                    public_jwk: row.read("public_jwk")?,
                    created_at: row.read("created_at")?,
                    signs_from: row.read("signs_from")?,
                    retired_at: row.read("retired_at")?,
                })
            })
            .collect()
    }

    async fn retire_signing_key(&self, kid: &str, at: Ticks, context: &AuditContext) -> Result<bool> {
        let entry = self.act(context).signing_key_retired(kid, at);
        let sql = "UPDATE signing_keys SET retired_at = $2 WHERE kid = $1";
        self.change_audited(sql, &[&kid, &at.0], entry).await
    }

    async fn delete_signing_key(&self, kid: &str, context: &AuditContext) -> Result<bool> {
        let entry = self.act(context).signing_key_deleted(kid);
        self.change_audited("DELETE FROM signing_keys WHERE kid = $1", &[&kid], entry).await
    }
}
