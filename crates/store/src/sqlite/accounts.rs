//! Accounts in SQLite.

use async_trait::async_trait;
use domain::{AccountId, Random, Realm};
use rusqlite::{Connection, OptionalExtension, params};

use super::audit::append_audit;
use super::authorizations::touch_user;
use super::directory::{change, insert_membership};
use super::logouts::end_sessions;
use super::rows::{AFTER, IN_ORDER, find, list, parse, tenant_no};
use super::{SqliteStore, exists, store_error};
use crate::audit::Act;
use crate::plan::signed;
use crate::rows::ACCOUNT;
use crate::{
    Account, AccountUpdate, Accounts, AuditContext, EndedSessions, ListPage, ListQuery, Membership, Result,
    Status, StoreError, UpdateOutcome,
};

/// Inserts an account with its memberships, and audits it.
pub(super) fn insert_account(
    writer: &Connection,
    random: &dyn Random,
    one: &Account,
    memberships: &[Membership],
    act: &Act,
) -> Result<()> {
    writer
        .execute(
            "INSERT INTO accounts (id, email, given_name, lang, password_hash, standing, created_at, revision, realm,
                 role, family_name, updated_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            params![
                one.id.as_str(),
                one.email,
                one.given_name,
                one.lang,
                one.password_hash,
                one.status.code(),
                one.created_at.0,
                signed(one.revision),
                one.realm.code(),
                one.role.map(domain::OperatorRole::code),
                one.family_name,
                one.updated_at.0
            ],
        )
        .map_err(exists(one.described()))?;
    append_audit(writer, random, act.account_added(one))?;
    memberships.iter().try_for_each(|membership| {
        if tenant_no(writer, &membership.tenant)?.is_none() {
            return Err(StoreError::UnknownTenant(membership.tenant.to_string()));
        }
        insert_membership(writer, membership)?;
        append_audit(writer, random, act.membership_added(membership))
    })
}

/// Changes an account, if it has the expected revision, and audits it.
pub(super) fn change_account(
    writer: &Connection,
    random: &dyn Random,
    id: &AccountId,
    update: &AccountUpdate,
    expected_revision: Option<u64>,
    act: &Act,
) -> Result<UpdateOutcome<Account>> {
    let row = || find(writer, &format!("{ACCOUNT} WHERE id = ?1"), id.as_str(), parse);
    let before = row()?;
    let updated = change(
        writer,
        "UPDATE accounts SET standing = coalesce(?2, standing), password_hash = coalesce(?3, password_hash),
             given_name = coalesce(?4, given_name), lang = coalesce(?5, lang), role = coalesce(?6, role),
             family_name = coalesce(?8, family_name), updated_at = coalesce(?9, updated_at), revision = revision + 1
         WHERE id = ?1 AND (?7 IS NULL OR revision = ?7)",
        params![
            id.as_str(),
            update.status.map(Status::code),
            update.password_hash,
            update.given_name,
            update.lang,
            update.role.map(domain::OperatorRole::code),
            expected_revision.map(signed),
            update.family_name,
            update.changes_profile().then_some(act.at.0)
        ],
    )?;
    if updated && update.ends_sessions() {
        end_sessions(writer, random, id, EndedSessions::All, act)?;
    }
    if updated && update.password_hash.is_some() {
        change(writer, "DELETE FROM password_resets WHERE account_id = ?1", [id.as_str()])?;
    }
    let outcome = UpdateOutcome::of(updated, row()?);
    if let (Some(before), UpdateOutcome::Updated(after)) = (&before, &outcome) {
        append_audit(writer, random, act.account_changed(before, after, update))?;
    }
    Ok(outcome)
}

#[async_trait]
impl Accounts for SqliteStore {
    async fn add_account(
        &self,
        account: &Account,
        memberships: &[Membership],
        context: &AuditContext,
    ) -> Result<()> {
        let (one, memberships) = (account.clone(), memberships.to_vec());
        let (act, random) = (self.act(context), self.ports().random.clone());
        self.write(move |writer| insert_account(writer, &*random, &one, &memberships, &act)).await
    }

    async fn find_account(&self, id: &AccountId) -> Result<Option<Account>> {
        self.read(|reader| find(reader, &format!("{ACCOUNT} WHERE id = ?1"), id.as_str(), parse))
    }

    async fn find_account_by_email(&self, realm: Realm, email: &str) -> Result<Option<Account>> {
        self.read(|reader| {
            reader
                .prepare_cached(&format!("{ACCOUNT} WHERE realm = ?1 AND email = ?2"))
                .and_then(|mut find| find.query_row(params![realm.code(), email], parse).optional())
                .map_err(store_error)
        })
    }

    async fn list_accounts(&self, realm: Realm, query: &ListQuery) -> Result<ListPage<Account>> {
        let sql = format!("{ACCOUNT} WHERE realm = {} AND {AFTER} {IN_ORDER}", realm.code());
        self.read(|reader| list(reader, &sql, query, parse))
    }

    async fn update_account(
        &self,
        id: &AccountId,
        update: &AccountUpdate,
        expected_revision: Option<u64>,
        context: &AuditContext,
    ) -> Result<UpdateOutcome<Account>> {
        let (id, update) = (id.clone(), update.clone());
        let (act, random) = (self.act(context), self.ports().random.clone());
        self.write_access_for(move |writer| {
            let outcome = change_account(writer, &*random, &id, &update, expected_revision, &act)?;
            let is_touched = outcome.is_updated() && update.status.is_some();
            let webhooks = if is_touched { touch_user(writer, &id)? } else { Vec::new() };
            Ok((outcome, Some(webhooks)))
        })
        .await
    }
}
