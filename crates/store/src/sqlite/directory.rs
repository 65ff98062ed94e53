//! Tenants and memberships in SQLite.

use async_trait::async_trait;
use domain::{AccountId, Random, TeamId, TenantId};
use rusqlite::{Connection, OptionalExtension, Params, params};

use super::audit::append_audit;
use super::authorizations::end_all;
use super::rows::{AFTER, IN_ORDER, find, list, parse, tenant_no};
use super::webhooks::next_change_number;
use super::{SqliteStore, exists, store_error};
use crate::audit::Act;
use crate::authorizations::MEMBERSHIP_REMOVED;
use crate::plan::signed;
use crate::rows::{MEMBERSHIP, TENANT, TENANT_MEMBERSHIPS};
use crate::sandboxes::check_apart;
use crate::{
    AuditContext, AuthorizationEnd, Directory, EndedAuthorization, ListPage, ListQuery, Membership,
    ResourceSet, Result, Status, Tenant, TenantMembership, TenantUpdate, UpdateOutcome,
};

/// Executes a statement; false if it changed no row.
pub(super) fn change(writer: &Connection, sql: &str, args: impl Params) -> Result<bool> {
    writer
        .prepare_cached(sql)
        .and_then(|mut change| change.execute(args))
        .map(|rows| rows > 0)
        .map_err(store_error)
}

/// Inserts a tenant with an empty log.
pub(super) fn insert_tenant(writer: &Connection, tenant: &Tenant) -> Result<()> {
    writer
        .execute(
            "INSERT INTO tenants (id, name, short_code, standing, created_at, revision, sandbox_team)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                tenant.id.as_str(),
                tenant.name,
                tenant.short_code,
                tenant.status.code(),
                tenant.created_at.0,
                signed(tenant.revision),
                tenant.sandbox_of.as_ref().map(TeamId::as_str)
            ],
        )
        .map_err(exists(format!("a tenant \"{}\"", tenant.id)))?;
    let tenant_no = writer.last_insert_rowid();
    let sql = "INSERT INTO heads (tenant_no, head, floor, version) VALUES (?1, 0, 0, 0)";
    change(writer, sql, [tenant_no]).map(drop)
}

/// Inserts a membership, unless it would join a sandbox with something else.
pub(super) fn insert_membership(writer: &Connection, membership: &Membership) -> Result<()> {
    let of: (Option<String>, Option<String>) = writer
        .prepare_cached(
            "SELECT (SELECT team_id FROM sandboxes WHERE user_id = ?1),
                 (SELECT sandbox_team FROM tenants WHERE id = ?2)",
        )
        .and_then(|mut find| {
            let ids = [membership.user.as_str(), membership.tenant.as_str()];
            find.query_row(ids, |row| Ok((row.get(0)?, row.get(1)?)))
        })
        .map_err(store_error)?;
    check_apart(of.0.as_deref(), of.1.as_deref())?;
    writer
        .execute(
            "INSERT INTO memberships (id, user_id, tenant_id, modules, key_user_correlation_id, equipo_user_id,
                 second_client_id, created_at, last_used_at, admin)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            params![
                membership.id.as_str(),
                membership.user.as_str(),
                membership.tenant.as_str(),
                membership.modules,
                membership.key_user_correlation_id.as_bytes(),
                membership.equipo_user_id,
                membership.second_client_id,
                membership.created_at.0,
                membership.last_used_at.map(|at| at.0),
                membership.is_admin
            ],
        )
        .map(drop)
        .map_err(exists("such a membership".into()))
}

pub(super) fn erase(writer: &Connection, random: &dyn Random, id: &TenantId, act: &Act) -> Result<bool> {
    let (Some(tenant_no), Some(erased)) =
        (tenant_no(writer, id)?, find(writer, &format!("{TENANT} WHERE id = ?1"), id.as_str(), parse)?)
    else {
        return Ok(false);
    };
    append_audit(writer, random, act.tenant_erased(&erased))?;
    change(
        writer,
        "DELETE FROM refresh_tokens WHERE grant_id IN (SELECT id FROM grants WHERE tenant_id = ?1)",
        [id.as_str()],
    )?;
    change(writer, "DELETE FROM grants WHERE tenant_id = ?1", [id.as_str()])?;
    change(writer, "DELETE FROM memberships WHERE tenant_id = ?1", [id.as_str()])?;
    change(writer, "DELETE FROM codes WHERE tenant_id = ?1 AND used_at IS NULL", [id.as_str()])?;
    change(writer, "DELETE FROM authorizations WHERE tenant_id = ?1", [id.as_str()])?;
    let change_number = next_change_number(writer)?;
    change(
        writer,
        "UPDATE webhooks SET moved = ?2 WHERE tenant_no = ?1 AND unsubscribed_at IS NULL AND deleted_at IS NULL",
        [tenant_no, change_number],
    )?;
    change(writer, "DELETE FROM tenants WHERE no = ?1", [tenant_no])?;
    change(writer, "INSERT INTO erased_tenants (tenant_no) VALUES (?1)", [tenant_no])
}

#[async_trait]
impl Directory for SqliteStore {
    async fn add_tenant(&self, tenant: &Tenant, context: &AuditContext) -> Result<()> {
        let (tenant, act, random) = (tenant.clone(), self.act(context), self.ports().random.clone());
        self.write(move |writer| {
            insert_tenant(writer, &tenant)?;
            append_audit(writer, &*random, act.tenant_added(&tenant))
        })
        .await
    }

    async fn find_tenant(&self, id: &TenantId) -> Result<Option<Tenant>> {
        self.read(|reader| {
            reader
                .prepare_cached(&format!("{TENANT} WHERE id = ?1"))
                .and_then(|mut find| find.query_row([id.as_str()], parse).optional())
                .map_err(store_error)
        })
    }

    async fn list_tenants(&self, query: &ListQuery) -> Result<ListPage<Tenant>> {
        self.read(|reader| list(reader, &format!("{TENANT} WHERE {AFTER} {IN_ORDER}"), query, parse))
    }

    async fn update_tenant(
        &self,
        id: &TenantId,
        update: &TenantUpdate,
        expected_revision: Option<u64>,
        context: &AuditContext,
    ) -> Result<UpdateOutcome<Tenant>> {
        let (id, update) = (id.clone(), update.clone());
        let (act, random) = (self.act(context), self.ports().random.clone());
        self.write_access(move |writer| {
            let row = || find(writer, &format!("{TENANT} WHERE id = ?1"), id.as_str(), parse);
            let before = row()?;
            let updated = change(
                writer,
                "UPDATE tenants SET standing = coalesce(?2, standing), revision = revision + 1
                 WHERE id = ?1 AND (?3 IS NULL OR revision = ?3)",
                params![id.as_str(), update.status.map(Status::code), expected_revision.map(signed)],
            )?;
            let outcome = UpdateOutcome::of(updated, row()?);
            if let (Some(before), UpdateOutcome::Updated(after)) = (&before, &outcome) {
                append_audit(writer, &*random, act.tenant_changed(before, after))?;
            }
            Ok(outcome)
        })
        .await
    }

    async fn erase_tenant(&self, id: &TenantId, context: &AuditContext) -> Result<bool> {
        let (one, act, random) = (id.clone(), self.act(context), self.ports().random.clone());
        let erased = self.write_access(move |writer| erase(writer, &*random, &one, &act)).await;
        self.inner.invalidation.records_changed(id, ResourceSet::default());
        self.inner.invalidation.commit_signal().signal_all();
        erased
    }

    async fn add_membership(&self, membership: &Membership, context: &AuditContext) -> Result<()> {
        let (one, act, random) = (membership.clone(), self.act(context), self.ports().random.clone());
        self.write(move |writer| {
            insert_membership(writer, &one)?;
            append_audit(writer, &*random, act.membership_added(&one))
        })
        .await
    }

    async fn set_membership_admin(
        &self,
        user: &AccountId,
        tenant: &TenantId,
        is_admin: bool,
        context: &AuditContext,
    ) -> Result<bool> {
        let (user, tenant) = (user.clone(), tenant.clone());
        let (act, random) = (self.act(context), self.ports().random.clone());
        self.write(move |writer| {
            let before = writer
                .prepare_cached(&format!(
                    "SELECT {MEMBERSHIP} FROM memberships WHERE user_id = ?1 AND tenant_id = ?2"
                ))
                .and_then(|mut find| {
                    find.query_row([user.as_str(), tenant.as_str()], parse::<Membership>).optional()
                })
                .map_err(store_error)?;
            let Some(before) = before else { return Ok(false) };
            change(
                writer,
                "UPDATE memberships SET admin = ?3 WHERE user_id = ?1 AND tenant_id = ?2",
                params![user.as_str(), tenant.as_str(), is_admin],
            )?;
            let after = Membership { is_admin, ..before.clone() };
            append_audit(writer, &*random, act.membership_changed(&before, &after))?;
            Ok(true)
        })
        .await
    }

    async fn remove_membership(
        &self,
        user: &AccountId,
        tenant: &TenantId,
        context: &AuditContext,
    ) -> Result<bool> {
        let (ports, user, tenant) = (self.ports().clone(), user.clone(), tenant.clone());
        let (act, context) = (self.act(context), context.clone());
        let ended = EndedAuthorization { at: ports.clock.now(), cause: AuthorizationEnd::MembershipRemoved };
        self.write_access_for(move |writer| {
            let ids = [user.as_str(), tenant.as_str()];
            let removed = writer
                .prepare_cached(&format!(
                    "DELETE FROM memberships WHERE user_id = ?1 AND tenant_id = ?2 RETURNING {MEMBERSHIP}"
                ))
                .and_then(|mut remove| remove.query_row(ids, parse).optional())
                .map_err(store_error)?;
            if let Some(removed) = &removed {
                append_audit(writer, &*ports.random, act.membership_removed(removed))?;
            }
            let unused = "DELETE FROM codes WHERE user_id = ?1 AND tenant_id = ?2 AND used_at IS NULL";
            change(writer, unused, ids)?;
            let which = ("a.user_id = ?1 AND a.tenant_id = ?2", &ids[..]);
            let (_, webhooks) = end_all(writer, &ports, which, ended, (&context, MEMBERSHIP_REMOVED))?;
            Ok((removed.is_some(), Some(webhooks)))
        })
        .await
    }

    async fn list_memberships(&self, user: &AccountId, query: &ListQuery) -> Result<ListPage<Membership>> {
        self.read(|reader| {
            let (created_at, id) = query.after();
            let rows = reader
                .prepare_cached(&format!(
                    "SELECT {MEMBERSHIP} FROM memberships WHERE {AFTER} AND user_id = ?4 {IN_ORDER}"
                ))
                .and_then(|mut rows| {
                    let args = params![created_at, id, query.limit(), user.as_str()];
                    rows.query_map(args, parse)?.collect()
                })
                .map_err(store_error)?;
            Ok(query.page(rows))
        })
    }

    async fn find_tenant_membership(
        &self,
        user: &AccountId,
        tenant: &TenantId,
    ) -> Result<Option<TenantMembership>> {
        self.read(|reader| {
            reader
                .prepare_cached(&format!("{TENANT_MEMBERSHIPS} WHERE m.user_id = ?1 AND m.tenant_id = ?2"))
                .and_then(|mut find| find.query_row([user.as_str(), tenant.as_str()], parse).optional())
                .map_err(store_error)
        })
    }

    async fn active_memberships(&self, user: &AccountId) -> Result<Vec<TenantMembership>> {
        self.read(|reader| {
            reader
                .prepare_cached(&format!(
                    "{TENANT_MEMBERSHIPS} WHERE m.user_id = ?1 AND u.standing = ?2 AND t.standing = ?2
                     ORDER BY m.last_used_at DESC NULLS LAST, t.name, t.id"
                ))
                .and_then(|mut all| {
                    all.query_map(params![user.as_str(), Status::Active.code()], parse)?.collect()
                })
                .map_err(store_error)
        })
    }
}
