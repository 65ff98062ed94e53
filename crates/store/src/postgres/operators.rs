//! The accounts of operators in PostgreSQL.

use async_trait::async_trait;
use domain::{AccountId, OperatorRole, Realm};

use super::accounts::change_account;
use super::rows::{parse, row, rows};
use super::{PostgresStore, store_error};
use crate::operators::refusal;
use crate::rows::ACCOUNT;
use crate::{Account, AccountUpdate, AuditContext, Operators, Result, Status, UpdateOutcome};

/// All who count, locked in one order: a second change waits for the first one and then sees it.
const LOCK_ADMINS: &str = "SELECT id FROM accounts WHERE realm = $1 AND role = $2 AND standing <> $3
     ORDER BY id FOR UPDATE";

#[async_trait]
impl Operators for PostgresStore {
    async fn update_operator(
        &self,
        id: &AccountId,
        update: &AccountUpdate,
        expected_revision: Option<u64>,
        context: &AuditContext,
    ) -> Result<UpdateOutcome<Account>> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let codes = (Realm::Operators.code(), OperatorRole::Admin.code(), Status::Disabled.code());
        let admins = rows(&transaction, LOCK_ADMINS, &[&codes.0, &codes.1, &codes.2]).await?;
        let has_other_admin = admins.iter().any(|row| row.get::<_, &str>(0) != id.as_str());
        let find = format!("{ACCOUNT} WHERE id = $1 FOR UPDATE");
        let before = row(&transaction, &find, &[&id.as_str()]).await?.as_ref().map(parse).transpose()?;
        if let Some(refused) = refusal(before.as_ref(), update, expected_revision, has_other_admin) {
            return Ok(refused);
        }
        let (random, act) = (&*self.ports().random, self.act(context));
        let outcome = change_account(&transaction, random, id, update, expected_revision, &act).await?;
        self.commit_access(transaction, Some(Vec::new())).await?;
        Ok(outcome)
    }
}
