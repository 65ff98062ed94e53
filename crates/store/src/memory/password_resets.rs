//! Password resets in memory.

use async_trait::async_trait;
use domain::{AccountId, Realm, Secret, Ticks};

use super::{MemoryStore, State};
use crate::mails::SealedMail;
use crate::password_resets::reset_hash;
use crate::{Account, AccountUpdate, AuditContext, Mail, PasswordResets, Result, UpdateOutcome};

#[derive(Clone)]
pub(super) struct StoredReset {
    pub(super) account: AccountId,
    pub(super) expires_at: Ticks,
}

impl State {
    fn reset_account(&self, hash: &[u8; 32], realm: Realm, now: Ticks) -> Option<Account> {
        let reset = self.password_resets.get(hash).filter(|reset| reset.expires_at > now)?;
        self.accounts.get(reset.account.as_str()).filter(|account| account.realm == realm).cloned()
    }
}

#[async_trait]
impl PasswordResets for MemoryStore {
    async fn request_password_reset(
        &self,
        id: &AccountId,
        token: &Secret,
        expires_at: Ticks,
        mail: Option<&Mail>,
        context: &AuditContext,
    ) -> Result<bool> {
        let act = self.act(context);
        let seal = |mail| SealedMail::of(mail, &self.ports.vault, &*self.ports.random);
        let sealed = mail.map(seal).transpose()?;
        let mut state = self.state_mut()?;
        let Some(realm) = state.accounts.get(id.as_str()).map(|account| account.realm) else {
            return Ok(false);
        };
        if let Some(mail) = sealed {
            state.queue_mail(mail)?;
        }
        state.password_resets.retain(|_, reset| reset.account != *id);
        let hash = reset_hash(&self.ports.vault, realm, token);
        state.password_resets.insert(hash, StoredReset { account: id.clone(), expires_at });
        state.append_audit(&*self.ports.random, act.password_reset_requested(realm, id));
        Ok(true)
    }

    async fn find_password_reset(&self, realm: Realm, token: &Secret, now: Ticks) -> Result<Option<Account>> {
        let hash = reset_hash(&self.ports.vault, realm, token);
        Ok(self.state().reset_account(&hash, realm, now))
    }

    async fn reset_password(
        &self,
        realm: Realm,
        token: &Secret,
        password_hash: &str,
        mail: Option<&Mail>,
        context: &AuditContext,
    ) -> Result<Option<Account>> {
        let (ports, act) = (&self.ports, self.act(context));
        let hash = reset_hash(&ports.vault, realm, token);
        let sealed = mail.map(|mail| SealedMail::of(mail, &ports.vault, &*ports.random)).transpose()?;
        let mut state = self.state_mut()?;
        let Some(found) = state.reset_account(&hash, realm, act.at) else { return Ok(None) };
        if let Some(mail) = sealed {
            state.queue_mail(mail)?;
        }
        let update =
            AccountUpdate { password_hash: Some(password_hash.to_owned()), ..AccountUpdate::default() };
        // A new password also deletes the link.
        let changed = state.change_account(&*ports.random, &found.id, &update, None, &act);
        let UpdateOutcome::Updated(account) = changed else { return Ok(None) };
        state.append_audit(&*ports.random, act.password_reset(realm, &account.id));
        Ok(Some(account))
    }
}
