//! Accounts in PostgreSQL.

use async_trait::async_trait;
use deadpool_postgres::Transaction;
use domain::{AccountId, OperatorRole, Random, Realm};

use super::audit::append_audit;
use super::authorizations::touch_user;
use super::directory::insert_membership;
use super::logouts::end_sessions;
use super::rows::{AFTER, IN_ORDER, execute, parse, row};
use super::{PostgresStore, exists, store_error};
use crate::audit::Act;
use crate::plan::signed;
use crate::rows::ACCOUNT;
use crate::{
    Account, AccountUpdate, Accounts, AuditContext, EndedSessions, ListPage, ListQuery, Membership, Result,
    Status, StoreError, UpdateOutcome,
};

/// Inserts an account with its memberships, and audits it.
pub(super) async fn insert_account(
    on: &Transaction<'_>,
    random: &dyn Random,
    one: &Account,
    memberships: &[Membership],
    act: &Act,
) -> Result<()> {
    execute(
        on,
        "INSERT INTO accounts (id, email, given_name, lang, password_hash, standing, created_at, revision, realm,
             role, family_name, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
        &[
            &one.id.as_str(),
            &one.email,
            &one.given_name,
            &one.lang,
            &one.password_hash,
            &one.status.code(),
            &one.created_at.0,
            &signed(one.revision),
            &one.realm.code(),
            &one.role.map(OperatorRole::code),
            &one.family_name,
            &one.updated_at.0,
        ],
    )
    .await
    .map_err(exists(one.described()))?;
    append_audit(on, random, act.account_added(one)).await?;
    for membership in memberships {
        // The lock keeps the tenant from being erased before the commit.
        let lock = "SELECT 1 FROM tenants WHERE id = $1 FOR KEY SHARE";
        if row(on, lock, &[&membership.tenant.as_str()]).await?.is_none() {
            return Err(StoreError::UnknownTenant(membership.tenant.to_string()));
        }
        insert_membership(on, membership).await?;
        append_audit(on, random, act.membership_added(membership)).await?;
    }
    Ok(())
}

/// Changes an account, if it has the expected revision, and audits it.
pub(super) async fn change_account(
    on: &Transaction<'_>,
    random: &dyn Random,
    id: &AccountId,
    update: &AccountUpdate,
    expected_revision: Option<u64>,
    act: &Act,
) -> Result<UpdateOutcome<Account>> {
    let find = format!("{ACCOUNT} WHERE id = $1");
    let before = row(on, &format!("{find} FOR UPDATE"), &[&id.as_str()]).await?;
    let updated = execute(
        on,
        "WITH updated AS (
             UPDATE accounts SET standing = coalesce($2, standing), password_hash = coalesce($3, password_hash),
                 given_name = coalesce($4, given_name), lang = coalesce($5, lang), role = coalesce($6, role),
                 family_name = coalesce($8, family_name), updated_at = coalesce($9, updated_at), revision = revision + 1
             WHERE id = $1 AND ($7::bigint IS NULL OR revision = $7) RETURNING id),
         voided AS (
             DELETE FROM password_resets WHERE $3::text IS NOT NULL AND account_id IN (SELECT id FROM updated))
         SELECT id FROM updated",
        &[
            &id.as_str(),
            &update.status.map(Status::code),
            &update.password_hash,
            &update.given_name,
            &update.lang,
            &update.role.map(OperatorRole::code),
            &expected_revision.map(signed),
            &update.family_name,
            &update.changes_profile().then_some(act.at.0),
        ],
    )
    .await
    .map_err(store_error)?;
    if updated > 0 && update.ends_sessions() {
        end_sessions(on, random, id, EndedSessions::All, act).await?;
    }
    let after = row(on, &find, &[&id.as_str()]).await?.as_ref().map(parse).transpose()?;
    let before: Option<Account> = before.as_ref().map(parse).transpose()?;
    if let (true, Some(before), Some(after)) = (updated > 0, before, &after) {
        append_audit(on, random, act.account_changed(&before, after, update)).await?;
    }
    Ok(UpdateOutcome::of(updated > 0, after))
}

#[async_trait]
impl Accounts for PostgresStore {
    async fn add_account(
        &self,
        account: &Account,
        memberships: &[Membership],
        context: &AuditContext,
    ) -> Result<()> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let act = self.act(context);
        insert_account(&transaction, &*self.ports().random, account, memberships, &act).await?;
        transaction.commit().await.map_err(store_error)
    }

    async fn find_account(&self, id: &AccountId) -> Result<Option<Account>> {
        self.row(&format!("{ACCOUNT} WHERE id = $1"), &[&id.as_str()]).await?.as_ref().map(parse).transpose()
    }

    async fn find_account_by_email(&self, realm: Realm, email: &str) -> Result<Option<Account>> {
        let sql = format!("{ACCOUNT} WHERE realm = $1 AND email = $2");
        self.row(&sql, &[&realm.code(), &email]).await?.as_ref().map(parse).transpose()
    }

    async fn list_accounts(&self, realm: Realm, query: &ListQuery) -> Result<ListPage<Account>> {
        let sql = format!("{ACCOUNT} WHERE realm = {} AND {AFTER} {IN_ORDER}", realm.code());
        let rows = self.list(&sql, query).await?;
        Ok(query.page(rows.iter().map(parse).collect::<Result<_>>()?))
    }

    async fn update_account(
        &self,
        id: &AccountId,
        update: &AccountUpdate,
        expected_revision: Option<u64>,
        context: &AuditContext,
    ) -> Result<UpdateOutcome<Account>> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let (random, act) = (&*self.ports().random, self.act(context));
        let outcome = change_account(&transaction, random, id, update, expected_revision, &act).await?;
        let is_touched = outcome.is_updated() && update.status.is_some();
        let webhooks = if is_touched { touch_user(&transaction, id).await? } else { Vec::new() };
        self.commit_access(transaction, Some(webhooks)).await?;
        Ok(outcome)
    }
}
