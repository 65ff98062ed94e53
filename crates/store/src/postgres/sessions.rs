//! Sessions in PostgreSQL.

use async_trait::async_trait;
use domain::{AccountId, Secret, Ticks};

use super::audit::append_audit;
use super::authorizations::touch_user;
use super::rows::execute;
use super::{PostgresStore, exists, store_error};
use crate::sessions::SESSION;
use crate::{AuditEntry, Result, Session, Sessions, Status};

#[async_trait]
impl Sessions for PostgresStore {
    async fn begin_session(
        &self,
        id: &Secret,
        session: &Session,
        replaced: Option<&Secret>,
        entry: &AuditEntry,
    ) -> Result<()> {
        let ports = self.ports();
        let hash = ports.vault.fingerprint(SESSION, id);
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        if let Some(replaced) = replaced {
            let old = ports.vault.fingerprint(SESSION, replaced);
            execute(&transaction, "DELETE FROM sessions WHERE hash = $1", &[&old.as_slice()])
                .await
                .map_err(store_error)?;
        }
        execute(
            &transaction,
            "INSERT INTO sessions (hash, user_id, authenticated_at, methods, expires_at)
             VALUES ($1, $2, $3, $4, $5)",
            &[
                &hash.as_slice(),
                &session.user.as_str(),
                &session.authenticated_at.0,
                &session.methods,
                &session.expires_at.0,
            ],
        )
        .await
        .map_err(exists("such a session".into()))?;
        let confirmed = execute(
            &transaction,
            "UPDATE users SET standing = $2, revision = revision + 1 WHERE id = $1 AND standing = $3",
            &[&session.user.as_str(), &Status::Active.code(), &Status::Unconfirmed.code()],
        )
        .await
        .map_err(store_error)?;
        append_audit(&transaction, &*ports.random, entry.clone()).await?;
        let webhooks =
            if confirmed > 0 { Some(touch_user(&transaction, &session.user).await?) } else { None };
        self.commit_access(transaction, webhooks).await
    }

    async fn find_session(&self, id: &Secret, now: Ticks) -> Result<Option<Session>> {
        let hash = self.ports().vault.fingerprint(SESSION, id);
        let row = self
            .row(
                "SELECT user_id, authenticated_at, methods, expires_at FROM sessions
                 WHERE hash = $1 AND expires_at + 0 > $2",
                &[&hash.as_slice(), &now.0],
            )
            .await?;
        Ok(row.map(|row| Session {
            user: AccountId::new(row.get::<_, Box<str>>(0)),
            authenticated_at: Ticks(row.get(1)),
            methods: row.get(2),
            expires_at: Ticks(row.get(3)),
        }))
    }

    async fn end_session(&self, id: &Secret, entry: &AuditEntry) -> Result<bool> {
        let hash = self.ports().vault.fingerprint(SESSION, id);
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let ended = execute(&transaction, "DELETE FROM sessions WHERE hash = $1", &[&hash.as_slice()])
            .await
            .map_err(store_error)?;
        if ended == 0 {
            return Ok(false);
        }
        append_audit(&transaction, &*self.ports().random, entry.clone()).await?;
        transaction.commit().await.map_err(store_error)?;
        Ok(true)
    }
}
