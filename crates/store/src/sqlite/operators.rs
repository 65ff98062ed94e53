//! The accounts of operators in SQLite.

use async_trait::async_trait;
use domain::{AccountId, OperatorRole, Realm};
use rusqlite::params;

use super::accounts::change_account;
use super::rows::{find, parse};
use super::{SqliteStore, store_error};
use crate::operators::refusal;
use crate::rows::ACCOUNT;
use crate::{Account, AccountUpdate, AuditContext, Operators, Result, Status, UpdateOutcome};

const OTHER_ADMIN: &str = "SELECT EXISTS (SELECT 1 FROM accounts
         WHERE realm = ?1 AND role = ?2 AND standing <> ?3 AND id <> ?4)";

#[async_trait]
impl Operators for SqliteStore {
    async fn update_operator(
        &self,
        id: &AccountId,
        update: &AccountUpdate,
        expected_revision: Option<u64>,
        context: &AuditContext,
    ) -> Result<UpdateOutcome<Account>> {
        let (id, update) = (id.clone(), update.clone());
        let (act, random) = (self.act(context), self.ports().random.clone());
        self.write_access_for(move |writer| {
            let before = find(writer, &format!("{ACCOUNT} WHERE id = ?1"), id.as_str(), parse)?;
            let codes = (Realm::Operators.code(), OperatorRole::Admin.code(), Status::Disabled.code());
            let has_other_admin = writer
                .prepare_cached(OTHER_ADMIN)
                .and_then(|mut any| {
                    any.query_row(params![codes.0, codes.1, codes.2, id.as_str()], |row| row.get(0))
                })
                .map_err(store_error)?;
            if let Some(refused) = refusal(before.as_ref(), &update, expected_revision, has_other_admin) {
                return Ok((refused, None));
            }
            let outcome = change_account(writer, &*random, &id, &update, expected_revision, &act)?;
            Ok((outcome, Some(Vec::new())))
        })
        .await
    }
}
