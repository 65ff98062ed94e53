//! Sessions in PostgreSQL.

use async_trait::async_trait;
use deadpool_postgres::Transaction;
use domain::second_factor::has_second_factor;
use domain::{AccountId, Realm, Secret, Ticks};

use super::audit::append_audit;
use super::authorizations::touch_user;
use super::logouts::{end_session, end_sessions};
use super::rows::{execute, parse, row};
use super::second_factors::{is_enrolled, lock_account};
use super::{PostgresStore, exists, store_error};
use crate::audit::Act;
use crate::sessions::session_hash;
use crate::{
    AuditContext, AuditEntry, EndedSessions, GrantSession, Result, SESSIONS_LISTED_MAX, Session, Sessions,
    SignInProof, Status, StoreError,
};

const SESSION: &str =
    "SELECT user_id, authenticated_at, methods, expires_at, id, realm, address, user_agent FROM sessions";

/// Whether the account is not disabled, and has this password or this passkey still. The caller holds the account's lock.
async fn holds(on: &Transaction<'_>, session: &Session, proof: &SignInProof) -> Result<bool> {
    let (account, disabled) = (session.account.as_str(), Status::Disabled.code());
    let found = match proof {
        SignInProof::Password(hash) => {
            let sql = "SELECT 1 FROM accounts WHERE id = $1 AND standing <> $2 AND password_hash = $3";
            row(on, sql, &[&account, &disabled, hash]).await?
        }
        SignInProof::Passkey(factor) => {
            let sql = "SELECT 1 FROM accounts a JOIN second_factors f ON f.account_id = a.id
                 WHERE a.id = $1 AND a.standing <> $2 AND f.id = $3";
            row(on, sql, &[&account, &disabled, &factor.as_bytes().as_slice()]).await?
        }
    };
    Ok(found.is_some())
}

#[async_trait]
impl Sessions for PostgresStore {
    async fn begin_session(
        &self,
        cookie: &Secret,
        session: &Session,
        replaced: Option<&Secret>,
        proof: Option<&SignInProof>,
        entry: &AuditEntry,
    ) -> Result<()> {
        let ports = self.ports();
        let hash = session_hash(&ports.vault, session.realm, cookie);
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        // An addition of a factor locks the account too: it either is seen here, or ends this session.
        lock_account(&transaction, &session.account).await?;
        if let Some(proof) = proof
            && !holds(&transaction, session, proof).await?
        {
            return Err(StoreError::ProofVoid);
        }
        if !has_second_factor(&session.methods) && is_enrolled(&transaction, &session.account).await? {
            return Err(StoreError::SecondFactorNeeded);
        }
        if let Some(replaced) = replaced {
            let old = session_hash(&ports.vault, session.realm, replaced);
            let successor = Some(GrantSession { id: session.id, expires_at: session.expires_at });
            end_session(&transaction, &*ports.random, &old, successor, &Act::of(entry)).await?;
        }
        execute(
            &transaction,
            "INSERT INTO sessions (hash, user_id, authenticated_at, methods, expires_at, id, realm, address, user_agent)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
            &[
                &hash.as_slice(),
                &session.account.as_str(),
                &session.authenticated_at.0,
                &session.methods,
                &session.expires_at.0,
                &session.id.as_bytes().as_slice(),
                &session.realm.code(),
                &session.address,
                &session.user_agent,
            ],
        )
        .await
        .map_err(exists("such a session".into()))?;
        let confirmed = execute(
            &transaction,
            "UPDATE accounts SET standing = $2, revision = revision + 1 WHERE id = $1 AND standing = $3",
            &[&session.account.as_str(), &Status::Active.code(), &Status::Unconfirmed.code()],
        )
        .await
        .map_err(store_error)?;
        append_audit(&transaction, &*ports.random, entry.clone()).await?;
        let webhooks =
            if confirmed > 0 { Some(touch_user(&transaction, &session.account).await?) } else { None };
        self.commit_access(transaction, webhooks).await
    }

    async fn find_session(&self, realm: Realm, cookie: &Secret, now: Ticks) -> Result<Option<Session>> {
        let hash = session_hash(&self.ports().vault, realm, cookie);
        let sql = format!("{SESSION} WHERE hash = $1 AND expires_at + 0 > $2");
        self.row(&sql, &[&hash.as_slice(), &now.0]).await?.as_ref().map(parse).transpose()
    }

    async fn end_session(&self, realm: Realm, cookie: &Secret, entry: &AuditEntry) -> Result<bool> {
        let hash = session_hash(&self.ports().vault, realm, cookie);
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let random = &*self.ports().random;
        if !end_session(&transaction, random, &hash, None, &Act::of(entry)).await? {
            return Ok(false);
        }
        append_audit(&transaction, random, entry.clone()).await?;
        transaction.commit().await.map_err(store_error)?;
        Ok(true)
    }

    async fn list_sessions(&self, account: &AccountId, now: Ticks) -> Result<Vec<Session>> {
        let sql = format!(
            "{SESSION} WHERE user_id = $1 AND expires_at + 0 > $2
             ORDER BY authenticated_at DESC, id LIMIT {SESSIONS_LISTED_MAX}"
        );
        self.rows(&sql, &[&account.as_str(), &now.0]).await?.iter().map(parse).collect()
    }

    async fn end_sessions(
        &self,
        account: &AccountId,
        which: EndedSessions,
        context: &AuditContext,
    ) -> Result<u64> {
        let (act, random) = (self.act(context), &*self.ports().random);
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let ended = end_sessions(&transaction, random, account, which, &act).await?;
        if let Some(realm) = ended.first() {
            let entry = act.sessions_ended(*realm, account, ended.len() as u64);
            append_audit(&transaction, random, entry).await?;
        }
        transaction.commit().await.map_err(store_error)?;
        Ok(ended.len() as u64)
    }
}
