//! Sessions in SQLite.

use async_trait::async_trait;
use domain::second_factor::has_second_factor;
use domain::{AccountId, Guid, Realm, Secret, Ticks};
use rusqlite::{Connection, OptionalExtension, params};

use super::audit::append_audit;
use super::authorizations::touch_user;
use super::directory::change;
use super::logouts::{end_session, end_sessions};
use super::rows::parse;
use super::second_factors::is_enrolled;
use super::{SqliteStore, exists, store_error};
use crate::audit::Act;
use crate::sessions::session_hash;
use crate::{
    AuditContext, AuditEntry, EndedSessions, GrantSession, Result, SESSIONS_LISTED_MAX, Session, Sessions,
    SignInProof, Status, StoreError,
};

const SESSION: &str =
    "SELECT user_id, authenticated_at, methods, expires_at, id, realm, address, user_agent FROM sessions";

fn insert(writer: &Connection, hash: &[u8; 32], one: &Session) -> Result<()> {
    writer
        .prepare_cached(
            "INSERT INTO sessions (hash, user_id, authenticated_at, methods, expires_at, id, realm, address, user_agent)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )
        .and_then(|mut add| {
            add.execute(params![
                hash,
                one.account.as_str(),
                one.authenticated_at.0,
                one.methods,
                one.expires_at.0,
                one.id.as_bytes(),
                one.realm.code(),
                one.address,
                one.user_agent
            ])
        })
        .map(drop)
        .map_err(exists("such a session".into()))
}

/// The methods of a session of the account; None if it has ended.
pub(super) fn session_methods(
    connection: &Connection,
    account: &AccountId,
    session: Guid,
) -> Result<Option<String>> {
    let sql = "SELECT methods FROM sessions WHERE user_id = ?1 AND id = ?2";
    connection
        .prepare_cached(sql)
        .and_then(|mut find| {
            find.query_row(params![account.as_str(), session.as_bytes()], |row| row.get(0)).optional()
        })
        .map_err(store_error)
}

/// Whether the account is not disabled, and has this password or this passkey still.
fn holds(writer: &Connection, session: &Session, proof: &SignInProof) -> Result<bool> {
    let account = session.account.as_str();
    let (sql, disabled) =
        ("SELECT 1 FROM accounts WHERE id = ?1 AND standing <> ?2", Status::Disabled.code());
    let exists = |sql: &str, args: &[&dyn rusqlite::ToSql]| {
        writer.prepare_cached(sql).and_then(|mut find| find.exists(args)).map_err(store_error)
    };
    Ok(match proof {
        SignInProof::Password(hash) => {
            exists(&format!("{sql} AND password_hash = ?3"), &[&account, &disabled, hash])?
        }
        SignInProof::Passkey(factor) => {
            let factor = factor.as_bytes();
            exists(sql, &[&account, &disabled])?
                && exists(
                    "SELECT 1 FROM second_factors WHERE id = ?1 AND account_id = ?2",
                    &[factor, &account],
                )?
        }
    })
}

#[async_trait]
impl Sessions for SqliteStore {
    async fn begin_session(
        &self,
        cookie: &Secret,
        session: &Session,
        replaced: Option<&Secret>,
        proof: Option<&SignInProof>,
        entry: &AuditEntry,
    ) -> Result<()> {
        let ports = self.ports().clone();
        let hash = session_hash(&ports.vault, session.realm, cookie);
        let replaced = replaced.map(|old| session_hash(&ports.vault, session.realm, old));
        let (one, entry, proof) = (session.clone(), entry.clone(), proof.cloned());
        self.write_access_for(move |writer| {
            if let Some(proof) = &proof
                && !holds(writer, &one, proof)?
            {
                return Err(StoreError::ProofVoid);
            }
            if !has_second_factor(&one.methods) && is_enrolled(writer, &one.account)? {
                return Err(StoreError::SecondFactorNeeded);
            }
            if let Some(replaced) = replaced {
                let successor = Some(GrantSession { id: one.id, expires_at: one.expires_at });
                end_session(writer, &*ports.random, &replaced, successor, &Act::of(&entry))?;
            }
            insert(writer, &hash, &one)?;
            let is_confirmed = change(
                writer,
                "UPDATE accounts SET standing = ?2, revision = revision + 1 WHERE id = ?1 AND standing = ?3",
                params![one.account.as_str(), Status::Active.code(), Status::Unconfirmed.code()],
            )?;
            append_audit(writer, &*ports.random, entry)?;
            let webhooks = if is_confirmed { Some(touch_user(writer, &one.account)?) } else { None };
            Ok(((), webhooks))
        })
        .await
    }

    async fn find_session(&self, realm: Realm, cookie: &Secret, now: Ticks) -> Result<Option<Session>> {
        let hash = session_hash(&self.ports().vault, realm, cookie);
        self.read(|reader| {
            reader
                .prepare_cached(&format!("{SESSION} WHERE hash = ?1 AND +expires_at > ?2"))
                .and_then(|mut find| find.query_row(params![hash, now.0], parse).optional())
                .map_err(store_error)
        })
    }

    async fn end_session(&self, realm: Realm, cookie: &Secret, entry: &AuditEntry) -> Result<bool> {
        let ports = self.ports().clone();
        let hash = session_hash(&ports.vault, realm, cookie);
        let entry = entry.clone();
        self.write(move |writer| {
            let ended = end_session(writer, &*ports.random, &hash, None, &Act::of(&entry))?;
            if ended {
                append_audit(writer, &*ports.random, entry)?;
            }
            Ok(ended)
        })
        .await
    }

    async fn list_sessions(&self, account: &AccountId, now: Ticks) -> Result<Vec<Session>> {
        let sql = format!(
            "{SESSION} WHERE user_id = ?1 AND +expires_at > ?2
             ORDER BY authenticated_at DESC, id LIMIT {SESSIONS_LISTED_MAX}"
        );
        self.read(|reader| {
            reader
                .prepare_cached(&sql)
                .and_then(|mut all| all.query_map(params![account.as_str(), now.0], parse)?.collect())
                .map_err(store_error)
        })
    }

    async fn end_sessions(
        &self,
        account: &AccountId,
        which: EndedSessions,
        context: &AuditContext,
    ) -> Result<u64> {
        let (act, random) = (self.act(context), self.ports().random.clone());
        let account = account.clone();
        self.write(move |writer| {
            let ended = end_sessions(writer, &*random, &account, which, &act)?;
            if let Some(realm) = ended.first() {
                append_audit(writer, &*random, act.sessions_ended(*realm, &account, ended.len() as u64))?;
            }
            Ok(ended.len() as u64)
        })
        .await
    }
}
