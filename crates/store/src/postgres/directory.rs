//! Tenants and memberships in PostgreSQL.

use async_trait::async_trait;
use deadpool_postgres::Transaction;
use domain::{AccountId, Random, TeamId, TenantId};

use super::audit::append_audit;
use super::authorizations::end_all;
use super::rows::{AFTER, Args, IN_ORDER, execute, parse, row, tenant_no};
use super::webhooks::next_change_number;
use super::{PostgresStore, exists, store_error};
use crate::audit::Act;
use crate::authorizations::MEMBERSHIP_REMOVED;
use crate::plan::signed;
use crate::rows::{MEMBERSHIP, TENANT, TENANT_MEMBERSHIPS};
use crate::sandboxes::check_apart;
use crate::{
    AuditContext, AuthorizationEnd, Directory, EndedAuthorization, ListPage, ListQuery, Membership,
    ResourceSet, Result, Status, Tenant, TenantMembership, TenantUpdate, UpdateOutcome,
};

/// Inserts a tenant with an empty log.
pub(super) async fn insert_tenant(on: &Transaction<'_>, tenant: &Tenant) -> Result<()> {
    execute(
        on,
        "WITH added AS (INSERT INTO tenants (id, name, short_code, standing, created_at, revision, sandbox_team)
             VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING no)
         INSERT INTO heads (tenant_no, head, floor, version) SELECT no, 0, 0, 0 FROM added",
        &[
            &tenant.id.as_str(),
            &tenant.name,
            &tenant.short_code,
            &tenant.status.code(),
            &tenant.created_at.0,
            &signed(tenant.revision),
            &tenant.sandbox_of.as_ref().map(TeamId::as_str),
        ],
    )
    .await
    .map(drop)
    .map_err(exists(format!("a tenant \"{}\"", tenant.id)))
}

/// Inserts a membership, unless it would join a sandbox with something else.
pub(super) async fn insert_membership(on: &Transaction<'_>, membership: &Membership) -> Result<()> {
    let of = row(
        on,
        "SELECT (SELECT team_id FROM sandboxes WHERE user_id = $1), (SELECT sandbox_team FROM tenants WHERE id = $2)",
        &[&membership.user.as_str(), &membership.tenant.as_str()],
    )
    .await?;
    if let Some(of) = of {
        check_apart(of.get(0), of.get(1))?;
    }
    execute(
        on,
        "INSERT INTO memberships (id, user_id, tenant_id, modules, key_user_correlation_id, equipo_user_id,
             second_client_id, created_at, last_used_at, admin)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        &[
            &membership.id.as_str(),
            &membership.user.as_str(),
            &membership.tenant.as_str(),
            &membership.modules,
            &membership.key_user_correlation_id.as_bytes().as_slice(),
            &membership.equipo_user_id,
            &membership.second_client_id,
            &membership.created_at.0,
            &membership.last_used_at.map(|at| at.0),
            &i64::from(membership.is_admin),
        ],
    )
    .await
    .map(drop)
    .map_err(exists("such a membership".into()))
}

/// Deletes a tenant's memberships, codes, grants and authorizations, in the order of locks that revocations and exchanges of
/// codes have.
async fn delete_access(on: &Transaction<'_>, tenant: &TenantId) -> Result<()> {
    for sql in [
        "DELETE FROM memberships WHERE tenant_id = $1",
        "DELETE FROM codes WHERE hash IN
         (SELECT hash FROM codes WHERE tenant_id = $1 AND used_at IS NULL ORDER BY hash FOR UPDATE)",
        "DELETE FROM refresh_tokens WHERE grant_id IN (SELECT id FROM grants WHERE tenant_id = $1)",
        "DELETE FROM grants WHERE tenant_id = $1",
        "DELETE FROM authorizations WHERE tenant_id = $1",
    ] {
        on.execute(sql, &[&tenant.as_str()]).await.map_err(store_error)?;
    }
    Ok(())
}

/// Erases a tenant and audits it; false if there is none.
pub(super) async fn erase(
    on: &Transaction<'_>,
    random: &dyn Random,
    id: &TenantId,
    act: &Act,
) -> Result<bool> {
    delete_access(on, id).await?;
    // Taking the change number first blocks concurrent subscriptions.
    let change_number = next_change_number(on).await?;
    let Some(tenant_no) = tenant_no(on, id).await? else {
        return Ok(false);
    };
    on.execute("SELECT 1 FROM heads WHERE tenant_no = $1 FOR UPDATE", &[&tenant_no])
        .await
        .map_err(store_error)?;
    let erased = row(on, &format!("{TENANT} WHERE no = $1"), &[&tenant_no]).await?;
    // None if another node erased the tenant while this one waited for the lock.
    let Some(erased) = erased.as_ref().map(parse).transpose()? else { return Ok(false) };
    append_audit(on, random, act.tenant_erased(&erased)).await?;
    execute(on, "DELETE FROM tenants WHERE no = $1", &[&tenant_no]).await.map_err(store_error)?;
    // What was added while this transaction waited for its locks.
    delete_access(on, id).await?;
    on.execute(
        "UPDATE webhooks SET moved = $2
         WHERE tenant_no = $1 AND unsubscribed_at IS NULL AND deleted_at IS NULL",
        &[&tenant_no, &change_number],
    )
    .await
    .map_err(store_error)?;
    on.execute("INSERT INTO erased_tenants (tenant_no) VALUES ($1)", &[&tenant_no])
        .await
        .map_err(store_error)?;
    Ok(true)
}

#[async_trait]
impl Directory for PostgresStore {
    async fn add_tenant(&self, tenant: &Tenant, context: &AuditContext) -> Result<()> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        insert_tenant(&transaction, tenant).await?;
        let entry = self.act(context).tenant_added(tenant);
        append_audit(&transaction, &*self.ports().random, entry).await?;
        transaction.commit().await.map_err(store_error)
    }

    async fn find_tenant(&self, id: &TenantId) -> Result<Option<Tenant>> {
        self.row(&format!("{TENANT} WHERE id = $1"), &[&id.as_str()]).await?.as_ref().map(parse).transpose()
    }

    async fn list_tenants(&self, query: &ListQuery) -> Result<ListPage<Tenant>> {
        let rows = self.list(&format!("{TENANT} WHERE {AFTER} {IN_ORDER}"), query).await?;
        Ok(query.page(rows.iter().map(parse).collect::<Result<_>>()?))
    }

    async fn update_tenant(
        &self,
        id: &TenantId,
        update: &TenantUpdate,
        expected_revision: Option<u64>,
        context: &AuditContext,
    ) -> Result<UpdateOutcome<Tenant>> {
        let (updated, row) = self
            .update_row(
                (
                    "UPDATE tenants SET standing = coalesce($2, standing), revision = revision + 1
                     WHERE id = $1 AND ($3::bigint IS NULL OR revision = $3)",
                    &[&id.as_str(), &update.status.map(Status::code), &expected_revision.map(signed)],
                ),
                (&format!("{TENANT} WHERE id = $1"), id.as_str()),
                parse,
                |before, after| self.act(context).tenant_changed(before, after),
            )
            .await?;
        Ok(UpdateOutcome::of(updated, row))
    }

    async fn erase_tenant(&self, id: &TenantId, context: &AuditContext) -> Result<bool> {
        let mut client = self.long_client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        if !erase(&transaction, &*self.ports().random, id, &self.act(context)).await? {
            return Ok(false);
        }
        transaction.commit().await.map_err(store_error)?;
        self.access_changed();
        self.records_changed(id, ResourceSet::default());
        self.all_changed();
        Ok(true)
    }

    async fn add_membership(&self, membership: &Membership, context: &AuditContext) -> Result<()> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        insert_membership(&transaction, membership).await?;
        let entry = self.act(context).membership_added(membership);
        append_audit(&transaction, &*self.ports().random, entry).await?;
        transaction.commit().await.map_err(store_error)
    }

    async fn set_membership_admin(
        &self,
        user: &AccountId,
        tenant: &TenantId,
        is_admin: bool,
        context: &AuditContext,
    ) -> Result<bool> {
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let find =
            format!("SELECT {MEMBERSHIP} FROM memberships WHERE user_id = $1 AND tenant_id = $2 FOR UPDATE");
        let found = row(&transaction, &find, &[&user.as_str(), &tenant.as_str()]).await?;
        let Some(before) = found.as_ref().map(parse::<Membership>).transpose()? else { return Ok(false) };
        execute(
            &transaction,
            "UPDATE memberships SET admin = $3 WHERE user_id = $1 AND tenant_id = $2",
            &[&user.as_str(), &tenant.as_str(), &i64::from(is_admin)],
        )
        .await
        .map_err(store_error)?;
        let after = Membership { is_admin, ..before.clone() };
        let entry = self.act(context).membership_changed(&before, &after);
        append_audit(&transaction, &*self.ports().random, entry).await?;
        transaction.commit().await.map_err(store_error)?;
        Ok(true)
    }

    async fn remove_membership(
        &self,
        user: &AccountId,
        tenant: &TenantId,
        context: &AuditContext,
    ) -> Result<bool> {
        let ports = self.ports();
        let ended = EndedAuthorization { at: ports.clock.now(), cause: AuthorizationEnd::MembershipRemoved };
        let ids: Args<'_> = &[&user.as_str(), &tenant.as_str()];
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let sql =
            format!("DELETE FROM memberships WHERE user_id = $1 AND tenant_id = $2 RETURNING {MEMBERSHIP}");
        let removed = row(&transaction, &sql, ids).await?.as_ref().map(parse).transpose()?;
        if let Some(removed) = &removed {
            let entry = self.act(context).membership_removed(removed);
            append_audit(&transaction, &*ports.random, entry).await?;
        }
        execute(
            &transaction,
            "DELETE FROM codes WHERE hash IN
             (SELECT hash FROM codes WHERE user_id = $1 AND tenant_id = $2 AND used_at IS NULL
              ORDER BY hash FOR UPDATE)",
            ids,
        )
        .await
        .map_err(store_error)?;
        let which = ("a.user_id = $1 AND a.tenant_id = $2", ids);
        let (_, webhooks) = end_all(&transaction, ports, which, ended, (context, MEMBERSHIP_REMOVED)).await?;
        self.commit_access(transaction, Some(webhooks)).await?;
        Ok(removed.is_some())
    }

    async fn list_memberships(&self, user: &AccountId, query: &ListQuery) -> Result<ListPage<Membership>> {
        let (created_at, id) = query.after();
        let rows = self
            .rows(
                &format!("SELECT {MEMBERSHIP} FROM memberships WHERE {AFTER} AND user_id = $4 {IN_ORDER}"),
                &[&created_at, &id, &query.limit(), &user.as_str()],
            )
            .await?;
        Ok(query.page(rows.iter().map(parse).collect::<Result<_>>()?))
    }

    async fn find_tenant_membership(
        &self,
        user: &AccountId,
        tenant: &TenantId,
    ) -> Result<Option<TenantMembership>> {
        let found = self
            .row(
                &format!("{TENANT_MEMBERSHIPS} WHERE m.user_id = $1 AND m.tenant_id = $2"),
                &[&user.as_str(), &tenant.as_str()],
            )
            .await?;
        found.as_ref().map(parse).transpose()
    }

    async fn active_memberships(&self, user: &AccountId) -> Result<Vec<TenantMembership>> {
        let rows = self
            .rows(
                &format!(
                    "{TENANT_MEMBERSHIPS} WHERE m.user_id = $1 AND u.standing = $2 AND t.standing = $2
                     ORDER BY m.last_used_at DESC NULLS LAST, t.name, t.id"
                ),
                &[&user.as_str(), &Status::Active.code()],
            )
            .await?;
        rows.iter().map(parse).collect()
    }
}
