//! Password resets in SQLite.

use async_trait::async_trait;
use domain::{AccountId, Realm, Secret, Ticks};
use rusqlite::{Connection, OptionalExtension, params};

use super::accounts::change_account;
use super::audit::append_audit;
use super::directory::change;
use super::mails::queue_mail;
use super::rows::{find, parse};
use super::{SqliteStore, store_error};
use crate::mails::SealedMail;
use crate::password_resets::reset_hash;
use crate::rows::ACCOUNT;
use crate::{Account, AccountUpdate, AuditContext, Mail, PasswordResets, Result, UpdateOutcome};

fn find_by_hash(
    connection: &Connection,
    hash: &[u8; 32],
    realm: Realm,
    now: Ticks,
) -> Result<Option<Account>> {
    let id: Option<Box<str>> = connection
        .prepare_cached("SELECT account_id FROM password_resets WHERE hash = ?1 AND +expires_at > ?2")
        .and_then(|mut find| find.query_row(params![hash, now.0], |row| row.get(0)).optional())
        .map_err(store_error)?;
    let Some(id) = id else { return Ok(None) };
    let found: Option<Account> = find(connection, &format!("{ACCOUNT} WHERE id = ?1"), &id, parse)?;
    Ok(found.filter(|account| account.realm == realm))
}

#[async_trait]
impl PasswordResets for SqliteStore {
    async fn request_password_reset(
        &self,
        id: &AccountId,
        token: &Secret,
        expires_at: Ticks,
        mail: Option<&Mail>,
        context: &AuditContext,
    ) -> Result<bool> {
        let by_id = format!("{ACCOUNT} WHERE id = ?1");
        let Some(found) = self.read(|reader| find::<Account>(reader, &by_id, id.as_str(), parse))? else {
            return Ok(false);
        };
        let ports = self.ports().clone();
        let hash = reset_hash(&ports.vault, found.realm, token);
        let sealed = mail.map(|mail| SealedMail::of(mail, &ports.vault, &*ports.random)).transpose()?;
        let entry = self.act(context).password_reset_requested(found.realm, &found.id);
        self.write(move |writer| {
            change(writer, "DELETE FROM password_resets WHERE account_id = ?1", [found.id.as_str()])?;
            change(
                writer,
                "INSERT INTO password_resets (hash, account_id, expires_at) VALUES (?1, ?2, ?3)",
                params![hash, found.id.as_str(), expires_at.0],
            )?;
            if let Some(mail) = &sealed {
                queue_mail(writer, mail)?;
            }
            append_audit(writer, &*ports.random, entry)?;
            Ok(true)
        })
        .await
    }

    async fn find_password_reset(&self, realm: Realm, token: &Secret, now: Ticks) -> Result<Option<Account>> {
        let hash = reset_hash(&self.ports().vault, realm, token);
        self.read(|reader| find_by_hash(reader, &hash, realm, now))
    }

    async fn reset_password(
        &self,
        realm: Realm,
        token: &Secret,
        password_hash: &str,
        mail: Option<&Mail>,
        context: &AuditContext,
    ) -> Result<Option<Account>> {
        let (ports, act) = (self.ports().clone(), self.act(context));
        let hash = reset_hash(&ports.vault, realm, token);
        let sealed = mail.map(|mail| SealedMail::of(mail, &ports.vault, &*ports.random)).transpose()?;
        let update =
            AccountUpdate { password_hash: Some(password_hash.to_owned()), ..AccountUpdate::default() };
        self.write(move |writer| {
            let Some(found) = find_by_hash(writer, &hash, realm, act.at)? else { return Ok(None) };
            let random = &*ports.random;
            // A new password also deletes the link.
            let changed = change_account(writer, random, &found.id, &update, None, &act)?;
            let UpdateOutcome::Updated(account) = changed else { return Ok(None) };
            if let Some(mail) = &sealed {
                queue_mail(writer, mail)?;
            }
            append_audit(writer, random, act.password_reset(realm, &account.id))?;
            Ok(Some(account))
        })
        .await
    }
}
