//! The accounts of operators in memory.

use async_trait::async_trait;
use domain::AccountId;

use super::MemoryStore;
use crate::operators::{is_usable_admin, refusal};
use crate::{Account, AccountUpdate, AuditContext, Operators, Result, UpdateOutcome};

#[async_trait]
impl Operators for MemoryStore {
    async fn update_operator(
        &self,
        id: &AccountId,
        update: &AccountUpdate,
        expected_revision: Option<u64>,
        context: &AuditContext,
    ) -> Result<UpdateOutcome<Account>> {
        let act = self.act(context);
        let mut state = self.state_mut()?;
        let has_other_admin = state.accounts.values().any(|one| one.id != *id && is_usable_admin(one));
        let before = state.accounts.get(id.as_str());
        if let Some(refused) = refusal(before, update, expected_revision, has_other_admin) {
            return Ok(refused);
        }
        let outcome = state.change_account(&*self.ports.random, id, update, expected_revision, &act);
        drop(state);
        self.access_changed_for(Some(Vec::new()));
        Ok(outcome)
    }
}
