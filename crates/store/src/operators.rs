//! The accounts of operators: changed so that somebody who may do everything can always sign in.

use async_trait::async_trait;
use domain::{AccountId, OperatorRole, Realm};

use crate::{Account, AccountUpdate, AuditContext, Result, Status, UpdateOutcome};

/// Every mutation and its audit entry are one transaction.
#[async_trait]
pub trait Operators: Send + Sync + 'static {
    /// Changes an operator, if it has the expected revision (any by default). `LastAdmin`, and nothing changes, where no
    /// other account with the role admin could sign in afterwards; concurrent changes cannot get around this.
    async fn update_operator(
        &self,
        id: &AccountId,
        update: &AccountUpdate,
        expected_revision: Option<u64>,
        context: &AuditContext,
    ) -> Result<UpdateOutcome<Account>>;
}

/// Whether this operator may do everything and can sign in. An unconfirmed account is confirmed by signing in.
pub(crate) fn is_usable_admin(account: &Account) -> bool {
    account.realm == Realm::Operators
        && account.role == Some(OperatorRole::Admin)
        && account.status != Status::Disabled
}

/// Why an update of an operator changes nothing, if it does not.
pub(crate) fn refusal(
    before: Option<&Account>,
    update: &AccountUpdate,
    expected_revision: Option<u64>,
    has_other_admin: bool,
) -> Option<UpdateOutcome<Account>> {
    let Some(before) = before.filter(|account| account.realm == Realm::Operators) else {
        return Some(UpdateOutcome::NotFound);
    };
    if expected_revision.is_some_and(|expected| expected != before.revision) {
        return Some(UpdateOutcome::RevisionConflict);
    }
    let after = Account {
        status: update.status.unwrap_or(before.status),
        role: update.role.or(before.role),
        ..before.clone()
    };
    let is_last = is_usable_admin(before) && !is_usable_admin(&after) && !has_other_admin;
    is_last.then_some(UpdateOutcome::LastAdmin)
}
