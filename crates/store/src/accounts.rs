//! The accounts of users, developers and operators.

use async_trait::async_trait;
use domain::{AccountId, OperatorRole, Realm, Ticks};

use crate::{AuditContext, ListPage, ListQuery, Membership, Result, Status, UpdateOutcome};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub id: AccountId,
    pub realm: Realm,
    /// Lower case; unique in the realm.
    pub email: String,
    pub given_name: String,
    /// Empty: none.
    pub family_name: String,
    pub lang: String,
    /// An argon2id hash in PHC form.
    pub password_hash: String,
    pub status: Status,
    /// Operators alone have one.
    pub role: Option<OperatorRole>,
    pub created_at: Ticks,
    /// When name or language last changed.
    pub updated_at: Ticks,
    /// Incremented by every update.
    pub revision: u64,
}

impl Account {
    /// Given name and family name.
    pub fn full_name(&self) -> String {
        format!("{} {}", self.given_name, self.family_name).trim().to_owned()
    }

    /// For messages: `a user "maria@example.com"`.
    pub(crate) fn described(&self) -> String {
        Self::described_as(self.realm, &self.email)
    }

    pub(crate) fn described_as(realm: Realm, email: &str) -> String {
        let article = if realm == Realm::Operators { "an" } else { "a" };
        format!("{article} {} \"{email}\"", realm.person())
    }
}

/// Changes to an account; `None` leaves a property as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccountUpdate {
    /// Disabling an account ends its sessions.
    pub status: Option<Status>,
    /// A new password ends the account's sessions, and makes the link of a password reset void.
    pub password_hash: Option<String>,
    pub given_name: Option<String>,
    /// Empty removes it.
    pub family_name: Option<String>,
    pub lang: Option<String>,
    pub role: Option<OperatorRole>,
}

impl AccountUpdate {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn ends_sessions(&self) -> bool {
        self.password_hash.is_some() || self.status == Some(Status::Disabled)
    }

    /// Whether the claim `updated_at` moves.
    pub(crate) fn changes_profile(&self) -> bool {
        self.given_name.is_some() || self.family_name.is_some() || self.lang.is_some()
    }
}

/// Every mutation and its audit entry are one transaction.
#[async_trait]
pub trait Accounts: Send + Sync + 'static {
    /// Adds an account and, for a user, their memberships, or nothing. `UnknownTenant` where a tenant does not exist.
    async fn add_account(
        &self,
        account: &Account,
        memberships: &[Membership],
        context: &AuditContext,
    ) -> Result<()>;
    async fn find_account(&self, id: &AccountId) -> Result<Option<Account>>;
    async fn find_account_by_email(&self, realm: Realm, email: &str) -> Result<Option<Account>>;
    async fn list_accounts(&self, realm: Realm, query: &ListQuery) -> Result<ListPage<Account>>;
    /// Changes an account, if it has the expected revision (any by default).
    async fn update_account(
        &self,
        id: &AccountId,
        update: &AccountUpdate,
        expected_revision: Option<u64>,
        context: &AuditContext,
    ) -> Result<UpdateOutcome<Account>>;
    async fn set_account_status(
        &self,
        id: &AccountId,
        status: Status,
        context: &AuditContext,
    ) -> Result<bool> {
        let update = AccountUpdate { status: Some(status), ..AccountUpdate::default() };
        Ok(self.update_account(id, &update, None, context).await?.is_updated())
    }
    async fn set_password_hash(&self, id: &AccountId, hash: &str, context: &AuditContext) -> Result<bool> {
        let update = AccountUpdate { password_hash: Some(hash.to_owned()), ..AccountUpdate::default() };
        Ok(self.update_account(id, &update, None, context).await?.is_updated())
    }
}
