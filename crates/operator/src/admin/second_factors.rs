//! Removes the second factors of people who have lost them.

use domain::{AccountId, Realm};
use store::{Account, AccountFactors, FactorEffects};

use super::{Admin, AdminError, Permission, Result};

impl Admin {
    /// The account of a realm with this id or e-mail address.
    pub(super) async fn find_account_of(&self, realm: Realm, name: &str) -> Result<Account> {
        let account = if name.contains('@') {
            self.store.find_account_by_email(realm, &name.to_lowercase()).await?
        } else {
            self.store.find_account(&AccountId::new(name)).await?.filter(|account| account.realm == realm)
        };
        account.ok_or_else(|| AdminError::NotFound(format!("{} \"{name}\"", realm.person())))
    }

    /// The second factors of an account.
    pub async fn second_factors(&self, account: &Account) -> Result<AccountFactors> {
        Ok(self.store.second_factors(&account.id).await?)
    }

    /// Removes all second factors and recovery codes of an account and ends its sessions. Returns how many factors there
    /// were; without any, nothing happens.
    pub async fn reset_second_factors(&self, realm: Realm, name: &str) -> Result<u64> {
        let context = self.require(Permission::Accounts)?;
        let account = self.find_account_of(realm, name).await?;
        let mail = self.links.second_factor_mail(&account, self.now());
        let effects = FactorEffects { kept_session: None, mail };
        Ok(self.store.reset_second_factors(&account.id, &effects, context).await?)
    }
}
