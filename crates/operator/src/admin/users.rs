//! Users and their memberships in tenants.

use domain::{AccountId, Realm, Secret, TenantId};
use store::{Account, AccountUpdate, FIRST_REVISION, Membership, Status};

use super::{Admin, AdminError, Permission, Result, check_found, check_revision, updated};
use crate::checks::{checked_email, checked_family_name, checked_lang, checked_name};

#[derive(Clone, Debug)]
pub struct NewUser {
    pub email: String,
    pub given_name: String,
    /// Empty: none.
    pub family_name: String,
    pub lang: String,
    pub password: Secret,
    pub tenants: Vec<TenantId>,
}

/// Changes to a user; `None` leaves a property as it is.
#[derive(Clone, Debug, Default)]
pub struct UserChange {
    pub status: Option<Status>,
    /// A new password ends the user's sessions.
    pub password: Option<Secret>,
    pub given_name: Option<String>,
    /// Empty removes it.
    pub family_name: Option<String>,
    pub lang: Option<String>,
}

impl Admin {
    /// Adds a user and their memberships, in one transaction.
    pub async fn add_user(&self, new: NewUser) -> Result<Account> {
        let context = self.require(Permission::Accounts)?;
        let email = checked_email(&new.email)?;
        let (given_name, lang) = (checked_name(&new.given_name)?, checked_lang(&new.lang)?);
        let family_name = checked_family_name(&new.family_name)?;
        let mut tenants = new.tenants;
        tenants.sort_unstable();
        tenants.dedup();
        for tenant in &tenants {
            self.tenant(tenant).await?;
        }
        let password_hash = self.new_password_hash(new.password, &given_name, &email).await?;
        let user = Account {
            id: AccountId::from(self.random.guid()),
            realm: Realm::Users,
            email,
            given_name,
            family_name,
            lang,
            password_hash,
            status: Status::Active,
            role: None,
            created_at: self.now(),
            updated_at: self.now(),
            revision: FIRST_REVISION,
        };
        let memberships: Vec<Membership> =
            tenants.iter().map(|tenant| self.new_membership(&user.id, tenant)).collect();
        self.store.add_account(&user, &memberships, context).await?;
        Ok(user)
    }

    pub async fn user(&self, email: &str) -> Result<Account> {
        let email = checked_email(email)?;
        let user = self.store.find_account_by_email(Realm::Users, &email).await?;
        user.ok_or_else(|| AdminError::NotFound(format!("user \"{email}\"")))
    }

    /// The user with this id or e-mail address.
    pub async fn find_user(&self, name: &str) -> Result<Account> {
        let user = if name.contains('@') {
            self.store.find_account_by_email(Realm::Users, &name.to_lowercase()).await?
        } else {
            self.store
                .find_account(&AccountId::new(name))
                .await?
                .filter(|account| account.realm == Realm::Users)
        };
        user.ok_or_else(|| AdminError::NotFound(format!("user \"{name}\"")))
    }

    /// Changes a user, if it has the expected revision (any by default).
    pub async fn update_user(
        &self,
        user: &Account,
        change: UserChange,
        expected_revision: Option<u64>,
    ) -> Result<Account> {
        let context = self.require(Permission::Accounts)?;
        let what = || format!("user \"{}\"", user.email);
        let mut update = AccountUpdate {
            status: change.status,
            given_name: change.given_name.as_deref().map(checked_name).transpose()?,
            family_name: change.family_name.as_deref().map(checked_family_name).transpose()?,
            lang: change.lang.as_deref().map(checked_lang).transpose()?,
            ..AccountUpdate::default()
        };
        if let Some(plain) = change.password {
            let name = update.given_name.as_deref().unwrap_or(&user.given_name);
            update.password_hash = Some(self.new_password_hash(plain, name, &user.email).await?);
        }
        if update.is_empty() {
            check_revision(user.revision, expected_revision, what)?;
            return Ok(user.clone());
        }
        updated(self.store.update_account(&user.id, &update, expected_revision, context).await?, what)
    }

    pub async fn set_user_status(&self, email: &str, status: Status) -> Result<Account> {
        let change = UserChange { status: Some(status), ..UserChange::default() };
        self.update_user(&self.user(email).await?, change, None).await
    }

    pub async fn set_password(&self, email: &str, plain: Secret) -> Result<Account> {
        let change = UserChange { password: Some(plain), ..UserChange::default() };
        self.update_user(&self.user(email).await?, change, None).await
    }

    fn new_membership(&self, user: &AccountId, tenant: &TenantId) -> Membership {
        Membership::new(&*self.random, user, tenant, self.now())
    }

    pub async fn add_membership(&self, user: &Account, tenant: &TenantId) -> Result<Membership> {
        let context = self.require(Permission::Accounts)?;
        self.tenant(tenant).await?;
        let membership = self.new_membership(&user.id, tenant);
        self.store.add_membership(&membership, context).await?;
        Ok(membership)
    }

    /// Makes a member an administrator of the tenant, or no longer one.
    pub async fn set_membership_admin(
        &self,
        user: &Account,
        tenant: &TenantId,
        is_admin: bool,
    ) -> Result<()> {
        let context = self.require(Permission::Accounts)?;
        let is_member = self.store.set_membership_admin(&user.id, tenant, is_admin, context).await?;
        check_found(is_member, || format!("membership of \"{}\" in \"{tenant}\"", user.email))
    }

    pub async fn remove_membership(&self, email: &str, tenant: &TenantId) -> Result<()> {
        let context = self.require(Permission::Accounts)?;
        let user = self.user(email).await?;
        let gone = self.store.remove_membership(&user.id, tenant, context).await?;
        check_found(gone, || format!("membership of \"{email}\" in \"{tenant}\""))
    }
}
