//! The accounts of operators. They are made by invitation; here they are read and changed.

use domain::{AccountId, OperatorRole, Realm};
use store::{Account, AccountUpdate, Status};

use super::{Admin, AdminError, Permission, Result, check_revision, updated};
use crate::checks::{checked_lang, checked_name};

/// Changes to an operator; `None` leaves a property as it is.
#[derive(Clone, Debug, Default)]
pub struct OperatorChange {
    pub status: Option<Status>,
    pub role: Option<OperatorRole>,
    pub given_name: Option<String>,
    pub lang: Option<String>,
}

impl Admin {
    /// The operator with this id or e-mail address.
    pub async fn find_operator(&self, name: &str) -> Result<Account> {
        let operator = if name.contains('@') {
            self.store.find_account_by_email(Realm::Operators, &name.to_lowercase()).await?
        } else {
            let account = self.store.find_account(&AccountId::new(name)).await?;
            account.filter(|account| account.realm == Realm::Operators)
        };
        operator.ok_or_else(|| AdminError::NotFound(format!("operator \"{name}\"")))
    }

    /// Changes an operator, if it has the expected revision (any by default). The last one with the role admin keeps it and
    /// stays enabled.
    pub async fn update_operator(
        &self,
        operator: &Account,
        change: OperatorChange,
        expected_revision: Option<u64>,
    ) -> Result<Account> {
        let context = self.require(Permission::Accounts)?;
        let what = || format!("operator \"{}\"", operator.email);
        let update = AccountUpdate {
            status: change.status,
            role: change.role,
            given_name: change.given_name.as_deref().map(checked_name).transpose()?,
            family_name: None,
            lang: change.lang.as_deref().map(checked_lang).transpose()?,
            password_hash: None,
        };
        if update.is_empty() {
            check_revision(operator.revision, expected_revision, what)?;
            return Ok(operator.clone());
        }
        let outcome = self.store.update_operator(&operator.id, &update, expected_revision, context).await?;
        updated(outcome, what)
    }
}
