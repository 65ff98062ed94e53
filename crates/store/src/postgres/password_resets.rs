//! Password resets in PostgreSQL. Locks have one order: the account, its link.

use async_trait::async_trait;
use domain::{AccountId, Realm, Secret, Ticks};

use super::accounts::change_account;
use super::audit::append_audit;
use super::mails::queue_mail;
use super::rows::{execute, parse, row};
use super::{PostgresStore, store_error};
use crate::mails::SealedMail;
use crate::password_resets::reset_hash;
use crate::rows::ACCOUNT;
use crate::{Account, AccountUpdate, AuditContext, Mail, PasswordResets, Result, UpdateOutcome};

const BY_HASH: &str = "id = (SELECT account_id FROM password_resets WHERE hash = $1 AND expires_at + 0 > $2) AND realm + 0 = $3";

#[async_trait]
impl PasswordResets for PostgresStore {
    async fn request_password_reset(
        &self,
        id: &AccountId,
        token: &Secret,
        expires_at: Ticks,
        mail: Option<&Mail>,
        context: &AuditContext,
    ) -> Result<bool> {
        let ports = self.ports();
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let lock = format!("{ACCOUNT} WHERE id = $1 FOR UPDATE");
        let Some(found) =
            row(&transaction, &lock, &[&id.as_str()]).await?.as_ref().map(parse::<Account>).transpose()?
        else {
            return Ok(false);
        };
        let hash = reset_hash(&ports.vault, found.realm, token);
        let sealed = mail.map(|mail| SealedMail::of(mail, &ports.vault, &*ports.random)).transpose()?;
        execute(&transaction, "DELETE FROM password_resets WHERE account_id = $1", &[&id.as_str()])
            .await
            .map_err(store_error)?;
        let sql = "INSERT INTO password_resets (hash, account_id, expires_at) VALUES ($1, $2, $3)";
        execute(&transaction, sql, &[&hash.as_slice(), &id.as_str(), &expires_at.0])
            .await
            .map_err(store_error)?;
        if let Some(mail) = &sealed {
            queue_mail(&transaction, mail).await?;
        }
        let entry = self.act(context).password_reset_requested(found.realm, id);
        append_audit(&transaction, &*ports.random, entry).await?;
        transaction.commit().await.map_err(store_error)?;
        Ok(true)
    }

    async fn find_password_reset(&self, realm: Realm, token: &Secret, now: Ticks) -> Result<Option<Account>> {
        let hash = reset_hash(&self.ports().vault, realm, token);
        let sql = format!("{ACCOUNT} WHERE {BY_HASH}");
        self.row(&sql, &[&hash.as_slice(), &now.0, &realm.code()]).await?.as_ref().map(parse).transpose()
    }

    async fn reset_password(
        &self,
        realm: Realm,
        token: &Secret,
        password_hash: &str,
        mail: Option<&Mail>,
        context: &AuditContext,
    ) -> Result<Option<Account>> {
        let (ports, act) = (self.ports(), self.act(context));
        let hash = reset_hash(&ports.vault, realm, token);
        let sealed = mail.map(|mail| SealedMail::of(mail, &ports.vault, &*ports.random)).transpose()?;
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let lock = format!("{ACCOUNT} WHERE {BY_HASH} FOR UPDATE");
        let found = row(&transaction, &lock, &[&hash.as_slice(), &act.at.0, &realm.code()]).await?;
        let Some(found) = found.as_ref().map(parse::<Account>).transpose()? else { return Ok(None) };
        // Under the lock of the account: another request may have used or replaced the link meanwhile.
        let sql = "DELETE FROM password_resets WHERE hash = $1";
        if execute(&transaction, sql, &[&hash.as_slice()]).await.map_err(store_error)? == 0 {
            return Ok(None);
        }
        let update =
            AccountUpdate { password_hash: Some(password_hash.to_owned()), ..AccountUpdate::default() };
        let random = &*ports.random;
        let changed = change_account(&transaction, random, &found.id, &update, None, &act).await?;
        let UpdateOutcome::Updated(account) = changed else { return Ok(None) };
        if let Some(mail) = &sealed {
            queue_mail(&transaction, mail).await?;
        }
        append_audit(&transaction, random, act.password_reset(realm, &account.id)).await?;
        transaction.commit().await.map_err(store_error)?;
        Ok(Some(account))
    }
}
