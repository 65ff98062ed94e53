//! Authorizations in SQLite.

use std::collections::HashMap;

use async_trait::async_trait;
use domain::subscription::Products;
use domain::{AccountId, ClientId, GrantId, MembershipId, Scopes, TenantId, Ticks, WebhookId};
use rusqlite::{Connection, OptionalExtension, Params, Row, params};

use super::audit::append_audit;
use super::directory::change;
use super::grants::revoke_grants;
use super::rows::parse;
use super::teams::team_products;
use super::webhooks::next_change_number;
use super::{SqliteStore, store_error};
use crate::authorizations::{access_ended_entry, authorize, concerns_webhooks};
use crate::grants::revocation_entry;
use crate::rows::{Columns, LIVE, SqliteRow};
use crate::{
    AuditContext, Authorization, AuthorizationEnd, AuthorizationFacts, Authorizations, ClientAccess,
    EndedAuthorization, Grant, OwnerAccess, Ports, Result, Status, WebhookOwner,
};

const AUTHORIZATION: &str = "SELECT a.user_id, a.client_id, a.tenant_id, a.membership_id, a.scopes, a.created_at, \
                             a.ended_at, a.ended_why";
/// Adds the facts of today.
const FACTS: &str = ", u.standing AS user_standing, m.id AS current_membership FROM authorizations a LEFT JOIN accounts u ON u.id = a.user_id \
                     LEFT JOIN memberships m ON m.user_id = a.user_id AND m.tenant_id = a.tenant_id";

fn find_all(reader: &Connection, condition: &str, args: impl Params) -> Result<Vec<AuthorizationFacts>> {
    reader
        .prepare_cached(&format!("{AUTHORIZATION}{FACTS} WHERE {condition}"))
        .and_then(|mut all| all.query_map(args, parse)?.collect())
        .map_err(store_error)
}

fn find_one(reader: &Connection, access: &ClientAccess) -> Result<Option<Authorization>> {
    let ids = [access.tenant.as_str(), access.client.as_str(), access.user.as_str()];
    reader
        .prepare_cached(&format!(
            "{AUTHORIZATION} FROM authorizations a WHERE a.tenant_id = ?1 AND a.client_id = ?2 AND a.user_id = ?3"
        ))
        .and_then(|mut find| find.query_row(ids, parse).optional())
        .map_err(store_error)
}

fn status(reader: &Connection, sql: &str, id: &str) -> Result<Option<Status>> {
    reader
        .prepare_cached(sql)
        .and_then(|mut find| find.query_row([id], |row| row.get(0).map(Status::from_code)).optional())
        .map_err(store_error)
}

fn client_products(reader: &Connection, client: &str) -> Result<Products> {
    reader
        .prepare_cached("SELECT products FROM clients WHERE id = ?1")
        .and_then(|mut find| find.query_row([client], |row| row.get(0)).optional())
        .map(|bits| Products::from_bits(bits.unwrap_or_default()))
        .map_err(store_error)
}

pub(super) fn owner_access(reader: &Connection, owner: &WebhookOwner) -> Result<OwnerAccess> {
    let (tenant, client) = (owner.tenant.as_str(), owner.client.as_str());
    Ok(OwnerAccess {
        tenant: status(reader, "SELECT standing FROM tenants WHERE id = ?1", tenant)?,
        client: status(reader, "SELECT standing FROM clients WHERE id = ?1", client)?,
        products: client_products(reader, client)?,
        team_products: team_products(reader, tenant, client)?,
        authorizations: find_all(reader, "a.tenant_id = ?1 AND a.client_id = ?2", [tenant, client])?,
    })
}

/// Makes or widens the authorization of a code exchange; returns the webhooks that may now be delivered to.
pub(super) fn add(writer: &Connection, grant: &Grant, scopes: Scopes) -> Result<Option<Vec<WebhookId>>> {
    let ids = [grant.tenant.as_str(), grant.client.as_str(), grant.user.as_str()];
    let membership: Option<Box<str>> = writer
        .prepare_cached("SELECT id FROM memberships WHERE user_id = ?1 AND tenant_id = ?2")
        .and_then(|mut find| find.query_row([ids[2], ids[0]], |row| row.get(0)).optional())
        .map_err(store_error)?;
    let Some(membership) = membership.map(MembershipId::new) else { return Ok(None) };
    let access = ClientAccess::of(grant);
    let before = find_one(writer, &access)?;
    let Some(after) = authorize(before.as_ref(), &access, &membership, scopes, grant.created_at) else {
        return Ok(None);
    };
    let concerns_webhooks = concerns_webhooks(before.as_ref(), &after);
    change(
        writer,
        "INSERT INTO authorizations (tenant_id, client_id, user_id, membership_id, scopes, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (tenant_id, client_id, user_id) DO UPDATE SET membership_id = excluded.membership_id,
             scopes = excluded.scopes, created_at = excluded.created_at, ended_at = NULL, ended_why = NULL",
        params![
            ids[0],
            ids[1],
            ids[2],
            after.membership.as_str(),
            after.scopes.to_string(),
            after.created_at.0
        ],
    )?;
    if concerns_webhooks { touch_owner(writer, &access.tenant, &access.client).map(Some) } else { Ok(None) }
}

/// Gives these webhooks a new change number, so that every node reloads them.
fn touch(writer: &Connection, condition: &str, args: &[&str]) -> Result<Vec<WebhookId>> {
    let webhooks: Vec<WebhookId> = writer
        .prepare_cached(&format!("SELECT w.id FROM webhooks w WHERE {LIVE} AND {condition} ORDER BY w.id"))
        .and_then(|mut all| {
            all.query_map(rusqlite::params_from_iter(args), |row| SqliteRow::new(row).read("id"))?.collect()
        })
        .map_err(store_error)?;
    if !webhooks.is_empty() {
        let change_number = next_change_number(writer)?;
        for webhook in &webhooks {
            change(
                writer,
                "UPDATE webhooks SET moved = ?2 WHERE id = ?1",
                params![webhook.as_bytes(), change_number],
            )?;
        }
    }
    Ok(webhooks)
}

pub(super) fn touch_owner(
    writer: &Connection,
    tenant: &TenantId,
    client: &ClientId,
) -> Result<Vec<WebhookId>> {
    let condition = "w.tenant_no = (SELECT no FROM tenants WHERE id = ?1) AND w.client_id = ?2";
    touch(writer, condition, &[tenant.as_str(), client.as_str()])
}

/// The webhooks of every application that the user has authorized.
pub(super) fn touch_user(writer: &Connection, user: &AccountId) -> Result<Vec<WebhookId>> {
    let condition = "(w.tenant_no, w.client_id) IN (SELECT t.no, a.client_id FROM authorizations a
                         JOIN tenants t ON t.id = a.tenant_id WHERE a.user_id = ?1)";
    touch(writer, condition, &[user.as_str()])
}

/// Ends an authorization, unless it has ended or there is none, and audits it; returns the webhooks that it may have
/// kept alive.
pub(super) fn end(
    writer: &Connection,
    ports: &Ports,
    access: &ClientAccess,
    ended: EndedAuthorization,
    (context, note): (&AuditContext, &str),
) -> Result<Option<Vec<WebhookId>>> {
    let is_ended = change(
        writer,
        "UPDATE authorizations SET ended_at = ?4, ended_why = ?5
         WHERE tenant_id = ?1 AND client_id = ?2 AND user_id = ?3 AND ended_at IS NULL",
        params![
            access.tenant.as_str(),
            access.client.as_str(),
            access.user.as_str(),
            ended.at.0,
            ended.cause.as_str()
        ],
    )?;
    if !is_ended {
        return Ok(None);
    }
    append_audit(writer, &*ports.random, access_ended_entry(access, ended.at, context, note))?;
    touch_owner(writer, &access.tenant, &access.client).map(Some)
}

/// After a revocation: ends the authorization if no unexpired grant is left.
pub(super) fn end_if_unused(
    writer: &Connection,
    ports: &Ports,
    revoked: &Grant,
    now: Ticks,
    (context, note): (&AuditContext, &str),
) -> Result<Option<Vec<WebhookId>>> {
    let is_used = writer
        .prepare_cached(
            "SELECT 1 FROM grants WHERE user_id = ?1 AND client_id = ?2 AND +tenant_id = ?3
             AND +revoked_at IS NULL AND +expires_at > ?4",
        )
        .and_then(|mut find| {
            find.exists(params![
                revoked.user.as_str(),
                revoked.client.as_str(),
                revoked.tenant.as_str(),
                now.0
            ])
        })
        .map_err(store_error)?;
    if is_used {
        return Ok(None);
    }
    let ended = EndedAuthorization { at: now, cause: AuthorizationEnd::Revoked };
    end(writer, ports, &ClientAccess::of(revoked), ended, (context, note))
}

/// Ends the authorizations that fulfil a condition, with their grants and unused codes.
pub(super) fn end_all(
    writer: &Connection,
    ports: &Ports,
    (condition, args): (&str, &[&str]),
    ended: EndedAuthorization,
    (context, note): (&AuditContext, &str),
) -> Result<(Vec<Grant>, Vec<WebhookId>)> {
    let found = find_all(writer, condition, rusqlite::params_from_iter(args))?;
    let (mut grants, mut webhooks) = (Vec::new(), Vec::new());
    for facts in found.iter().filter(|facts| facts.authorization.ended.is_none()) {
        let access = &facts.authorization.access;
        for grant in revoke_grants(writer, access, ended.at)? {
            append_audit(writer, &*ports.random, revocation_entry(&grant, ended.at, context, note))?;
            grants.push(grant);
        }
        webhooks.extend(end(writer, ports, access, ended, (context, note))?.unwrap_or_default());
    }
    Ok((grants, webhooks))
}

#[async_trait]
impl Authorizations for SqliteStore {
    async fn user_authorizations(&self, user: &AccountId) -> Result<Vec<AuthorizationFacts>> {
        let condition =
            "a.user_id = ?1 AND a.ended_at IS NULL ORDER BY a.created_at DESC, a.tenant_id, a.client_id";
        self.read(|reader| find_all(reader, condition, [user.as_str()]))
    }

    async fn list_authorizations(
        &self,
        user: &AccountId,
        after: Option<&WebhookOwner>,
        rows_max: usize,
    ) -> Result<Vec<AuthorizationFacts>> {
        let condition = "a.user_id = ?1 AND a.ended_at IS NULL AND (a.tenant_id, a.client_id) > (?2, ?3)
                         ORDER BY a.tenant_id, a.client_id LIMIT ?4";
        let (tenant, client) = after.map_or(("", ""), |after| (after.tenant.as_str(), after.client.as_str()));
        let rows_max = i64::try_from(rows_max).unwrap_or(i64::MAX);
        self.read(|reader| find_all(reader, condition, params![user.as_str(), tenant, client, rows_max]))
    }

    async fn find_authorization(&self, access: &ClientAccess) -> Result<Option<Authorization>> {
        self.read(|reader| find_one(reader, access))
    }

    async fn authorized_clients(&self, tenant: &TenantId, rows_max: usize) -> Result<Vec<ClientId>> {
        // From one client to the next, however many users have authorized each.
        let sql = "WITH RECURSIVE found (client_id) AS (
            SELECT min(client_id) FROM authorizations INDEXED BY authorizations_by_tenant
            WHERE tenant_id = ?1 AND ended_at IS NULL
            UNION ALL
            SELECT (SELECT min(a.client_id) FROM authorizations a INDEXED BY authorizations_by_tenant
                WHERE a.tenant_id = ?1 AND a.ended_at IS NULL AND a.client_id > found.client_id)
            FROM found WHERE found.client_id IS NOT NULL LIMIT ?2
        ) SELECT client_id FROM found WHERE client_id IS NOT NULL";
        let rows_max = i64::try_from(rows_max).unwrap_or(i64::MAX);
        let client = |row: &Row<'_>| SqliteRow::new(row).read("client_id");
        self.read(|reader| {
            reader
                .prepare_cached(sql)
                .and_then(|mut all| all.query_map(params![tenant.as_str(), rows_max], client)?.collect())
                .map_err(store_error)
        })
    }

    async fn count_client_authorizations(&self, client: &ClientId, count_max: usize) -> Result<usize> {
        let sql = "SELECT count(*) FROM (SELECT 1 FROM authorizations WHERE client_id = ?1 AND ended_at IS NULL LIMIT ?2)";
        let count_max = i64::try_from(count_max).unwrap_or(i64::MAX);
        let count: i64 = self.read(|reader| {
            reader
                .prepare_cached(sql)
                .and_then(|mut count| count.query_row(params![client.as_str(), count_max], |row| row.get(0)))
                .map_err(store_error)
        })?;
        Ok(usize::try_from(count).unwrap_or_default())
    }

    async fn owner_access(&self, owner: &WebhookOwner) -> Result<OwnerAccess> {
        self.read_fresh_snapshot(|reader| owner_access(reader, owner))
    }

    async fn owners_access(&self, owners: &[WebhookOwner]) -> Result<HashMap<WebhookOwner, OwnerAccess>> {
        self.read_fresh_snapshot(|reader| {
            let read = |owner: &WebhookOwner| Ok((owner.clone(), owner_access(reader, owner)?));
            owners.iter().map(read).collect()
        })
    }

    async fn revoke_tenant_access(
        &self,
        tenant: &TenantId,
        client: &ClientId,
        now: Ticks,
        context: &AuditContext,
        note: &str,
    ) -> Result<Vec<GrantId>> {
        let (ports, tenant, client) = (self.ports().clone(), tenant.clone(), client.clone());
        let (context, note) = (context.clone(), note.to_owned());
        let ended = EndedAuthorization { at: now, cause: AuthorizationEnd::WithdrawnForTenant };
        self.write_access_for(move |writer| {
            let ids = [tenant.as_str(), client.as_str()];
            // Also of users who have no authorization yet.
            let codes = "DELETE FROM codes WHERE tenant_id = ?1 AND client_id = ?2 AND used_at IS NULL";
            change(writer, codes, ids)?;
            let which = ("a.tenant_id = ?1 AND a.client_id = ?2", &ids[..]);
            let (grants, webhooks) = end_all(writer, &ports, which, ended, (&context, &note))?;
            Ok((grants.into_iter().map(|grant| grant.id).collect(), Some(webhooks)))
        })
        .await
    }
}
