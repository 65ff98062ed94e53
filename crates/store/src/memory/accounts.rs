//! Accounts in memory.

use async_trait::async_trait;
use domain::{AccountId, Random, Realm};

use super::{MemoryStore, State};
use crate::audit::Act;
use crate::{
    Account, AccountUpdate, Accounts, AuditContext, EndedSessions, ListPage, ListQuery, Membership, Result,
    StoreError, UpdateOutcome,
};

impl State {
    /// Inserts an account with its memberships, and audits it; or changes nothing.
    pub(super) fn insert_account(
        &mut self,
        random: &dyn Random,
        one: &Account,
        memberships: &[Membership],
        act: &Act,
    ) -> Result<()> {
        let is_taken =
            |other: &Account| (other.realm, &other.email) == (one.realm, &one.email) || other.id == one.id;
        if self.accounts.values().any(is_taken) {
            return Err(StoreError::Exists(one.described()));
        }
        let before = self.memberships.clone();
        for membership in memberships {
            let added = if self.tenant_no(&membership.tenant).is_some() {
                self.add_membership(membership)
            } else {
                Err(StoreError::UnknownTenant(membership.tenant.to_string()))
            };
            if added.is_err() {
                self.memberships = before;
                return added;
            }
        }
        self.accounts.insert(one.id.as_str().into(), one.clone());
        self.append_audit(random, act.account_added(one));
        for membership in memberships {
            self.append_audit(random, act.membership_added(membership));
        }
        Ok(())
    }

    /// Changes an account, if it has the expected revision, and audits it.
    pub(super) fn change_account(
        &mut self,
        random: &dyn Random,
        id: &AccountId,
        update: &AccountUpdate,
        expected_revision: Option<u64>,
        act: &Act,
    ) -> UpdateOutcome<Account> {
        let Some(account) = self.accounts.get_mut(id.as_str()) else {
            return UpdateOutcome::NotFound;
        };
        if expected_revision.is_some_and(|expected| expected != account.revision) {
            return UpdateOutcome::RevisionConflict;
        }
        let before = account.clone();
        account.status = update.status.unwrap_or(account.status);
        account.role = update.role.or(account.role);
        let texts = [
            (&mut account.password_hash, &update.password_hash),
            (&mut account.given_name, &update.given_name),
            (&mut account.family_name, &update.family_name),
            (&mut account.lang, &update.lang),
        ];
        for (text, new) in texts {
            if let Some(new) = new {
                text.clone_from(new);
            }
        }
        if update.changes_profile() {
            account.updated_at = act.at;
        }
        account.revision += 1;
        let account = account.clone();
        if update.ends_sessions() {
            self.end_sessions(random, id, EndedSessions::All, act);
        }
        if update.password_hash.is_some() {
            self.password_resets.retain(|_, reset| reset.account != *id);
        }
        self.append_audit(random, act.account_changed(&before, &account, update));
        UpdateOutcome::Updated(account)
    }
}

#[async_trait]
impl Accounts for MemoryStore {
    async fn add_account(
        &self,
        account: &Account,
        memberships: &[Membership],
        context: &AuditContext,
    ) -> Result<()> {
        let act = self.act(context);
        self.state_mut()?.insert_account(&*self.ports.random, account, memberships, &act)
    }

    async fn find_account(&self, id: &AccountId) -> Result<Option<Account>> {
        Ok(self.state().accounts.get(id.as_str()).cloned())
    }

    async fn find_account_by_email(&self, realm: Realm, email: &str) -> Result<Option<Account>> {
        let state = self.state();
        let mut accounts = state.accounts.values();
        Ok(accounts.find(|account| account.realm == realm && account.email == email).cloned())
    }

    async fn list_accounts(&self, realm: Realm, query: &ListQuery) -> Result<ListPage<Account>> {
        let state = self.state();
        let accounts = state.accounts.values().filter(|account| account.realm == realm);
        Ok(query.page_of_all(accounts.cloned()))
    }

    async fn update_account(
        &self,
        id: &AccountId,
        update: &AccountUpdate,
        expected_revision: Option<u64>,
        context: &AuditContext,
    ) -> Result<UpdateOutcome<Account>> {
        let act = self.act(context);
        let mut state = self.state_mut()?;
        self.invalidation.access_changed();
        let outcome = state.change_account(&*self.ports.random, id, update, expected_revision, &act);
        if !outcome.is_updated() {
            return Ok(outcome);
        }
        let webhooks = if update.status.is_some() { state.touch_user(id) } else { Vec::new() };
        drop(state);
        self.access_changed_for(Some(webhooks));
        Ok(outcome)
    }
}
