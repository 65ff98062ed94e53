//! The accounts of developers, as the operator manages them.

use store::{Account, AccountUpdate, Status};

use super::{Admin, Permission, Result, check_revision, updated};
use crate::checks::{checked_lang, checked_name};

/// Changes to a developer; `None` leaves a property as it is.
#[derive(Clone, Debug, Default)]
pub struct DeveloperChange {
    pub status: Option<Status>,
    pub given_name: Option<String>,
    pub lang: Option<String>,
}

impl Admin {
    /// Changes a developer, if it has the expected revision (any by default).
    pub async fn update_developer(
        &self,
        developer: &Account,
        change: DeveloperChange,
        expected_revision: Option<u64>,
    ) -> Result<Account> {
        let context = self.require(Permission::Accounts)?;
        let what = || format!("developer \"{}\"", developer.email);
        let update = AccountUpdate {
            status: change.status,
            given_name: change.given_name.as_deref().map(checked_name).transpose()?,
            lang: change.lang.as_deref().map(checked_lang).transpose()?,
            ..AccountUpdate::default()
        };
        if update.is_empty() {
            check_revision(developer.revision, expected_revision, what)?;
            return Ok(developer.clone());
        }
        let outcome = self.store.update_account(&developer.id, &update, expected_revision, context).await?;
        updated(outcome, what)
    }

    pub async fn set_developer_status(&self, name: &str, status: Status) -> Result<Account> {
        let change = DeveloperChange { status: Some(status), ..DeveloperChange::default() };
        self.update_developer(&self.find_developer(name).await?, change, None).await
    }
}
