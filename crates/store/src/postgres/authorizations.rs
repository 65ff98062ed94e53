//! Authorizations in PostgreSQL. Locks are taken in one order: codes, grants, sessions, the authorization, webhook
//! changes.

use std::collections::HashMap;

use async_trait::async_trait;
use deadpool_postgres::Transaction;
use domain::subscription::Products;
use domain::{AccountId, ClientId, GrantId, MembershipId, Scopes, TenantId, Ticks, WebhookId};

use super::audit::append_audit;
use super::grants::revoke_grants;
use super::rows::{Args, column, execute, limit, parse, parse_all, row, rows, snapshot};
use super::teams::{SANDBOX_CLIENTS, TEAM_CLIENTS};
use super::webhooks::next_change_number;
use super::{PostgresStore, store_error};
use crate::authorizations::{access_ended_entry, authorize, concerns_webhooks};
use crate::grants::revocation_entry;
use crate::rows::{Columns, LIVE};
use crate::sandboxes::sandbox_clients;
use crate::{
    AuditContext, Authorization, AuthorizationEnd, AuthorizationFacts, Authorizations, ClientAccess,
    EndedAuthorization, Grant, OwnerAccess, Ports, Result, SandboxClients, Status, WebhookOwner,
};

const COLUMNS: &str = "a.user_id, a.client_id, a.tenant_id, a.membership_id, a.scopes, a.created_at, a.ended_at, \
                       a.ended_why";
/// The columns of the facts of today, and their tables.
const FACTS: &str = ", u.standing AS user_standing, m.id AS current_membership FROM authorizations a LEFT JOIN accounts u ON u.id = a.user_id \
                     LEFT JOIN memberships m ON m.user_id = a.user_id AND m.tenant_id = a.tenant_id";
const OF_OWNER: &str = "a.tenant_id = $1 AND a.client_id = $2";

fn facts_sql(condition: &str) -> String {
    format!("SELECT {COLUMNS}{FACTS} WHERE {condition}")
}

async fn owners_access(
    on: &Transaction<'_>,
    owners: &[&WebhookOwner],
) -> Result<HashMap<WebhookOwner, OwnerAccess>> {
    let mut access = authorizations_of(on, owners).await?;
    let tenants = column(owners, |owner| owner.tenant.as_str());
    let clients = column(owners, |owner| owner.client.as_str());
    let statuses = rows(
        on,
        "SELECT k.tenant_id, k.client_id, t.standing AS tenant_standing, c.standing AS client_standing, c.products
         FROM unnest($1::text[], $2::text[]) AS k (tenant_id, client_id)
         LEFT JOIN tenants t ON t.id = k.tenant_id LEFT JOIN clients c ON c.id = k.client_id",
        &[&tenants, &clients],
    )
    .await?;
    for row in statuses {
        let (tenant, client) = (row.read("tenant_id")?, row.read("client_id")?);
        let owner = access.entry(WebhookOwner { tenant, client }).or_default();
        owner.tenant = row.read::<Option<i64>>("tenant_standing")?.map(Status::from_code);
        owner.client = row.read::<Option<i64>>("client_standing")?.map(Status::from_code);
        owner.products = Products::from_bits(row.read::<Option<i64>>("products")?.unwrap_or_default());
    }
    let of_teams = rows(on, &format!("{TEAM_CLIENTS} AND c.id = ANY($1)"), &[&clients]).await?;
    let mut team_products: HashMap<ClientId, Products> = HashMap::new();
    for row in &of_teams {
        let (client, products): (ClientId, Option<Products>) = parse(row)?;
        let sum = team_products.entry(client).or_default();
        *sum = sum.union(products.unwrap_or_default());
    }
    let sandboxes =
        rows(on, &format!("{SANDBOX_CLIENTS} AND n.id = ANY($1) ORDER BY n.id, c.id"), &[&tenants]).await?;
    let sandboxes = sandbox_clients(parse_all(&sandboxes)?);
    for (owner, access) in &mut access {
        let sandbox = sandboxes.iter().find(|sandbox| sandbox.tenant == owner.tenant);
        let in_sandbox = |sandbox: &SandboxClients| sandbox.products_of(&owner.client);
        access.team_products = sandbox.map(in_sandbox).or(team_products.get(&owner.client).copied());
    }
    Ok(access)
}

/// The authorizations of several owners in one statement.
pub(super) async fn authorizations_of(
    on: &Transaction<'_>,
    owners: &[&WebhookOwner],
) -> Result<HashMap<WebhookOwner, OwnerAccess>> {
    let sql = format!(
        "SELECT {COLUMNS}{FACTS} JOIN unnest($1::text[], $2::text[]) AS k (tenant_id, client_id)
         ON a.tenant_id = k.tenant_id AND a.client_id = k.client_id"
    );
    let tenants = column(owners, |owner| owner.tenant.as_str());
    let clients = column(owners, |owner| owner.client.as_str());
    let mut found: HashMap<WebhookOwner, OwnerAccess> = HashMap::new();
    for row in rows(on, &sql, &[&tenants, &clients]).await? {
        let facts: AuthorizationFacts = parse(&row)?;
        let ClientAccess { tenant, client, .. } = facts.authorization.access.clone();
        found.entry(WebhookOwner { tenant, client }).or_default().authorizations.push(facts);
    }
    Ok(found)
}

/// Makes or widens the authorization of a code exchange; returns the webhooks that may now be delivered to.
pub(super) async fn add(
    on: &Transaction<'_>,
    grant: &Grant,
    scopes: Scopes,
) -> Result<Option<Vec<WebhookId>>> {
    let (tenant, client, user) = (grant.tenant.as_str(), grant.client.as_str(), grant.user.as_str());
    let membership =
        row(on, "SELECT id FROM memberships WHERE user_id = $1 AND tenant_id = $2", &[&user, &tenant])
            .await?;
    let Some(membership) = membership.map(|row| MembershipId::new(row.get::<_, Box<str>>(0))) else {
        return Ok(None);
    };
    // A first row, so that there is one to lock; it stands only once it is updated below.
    execute(
        on,
        "INSERT INTO authorizations (tenant_id, client_id, user_id, membership_id, scopes, created_at, ended_at)
         VALUES ($1, $2, $3, '', '', $4, $4) ON CONFLICT DO NOTHING",
        &[&tenant, &client, &user, &grant.created_at.0],
    )
    .await
    .map_err(store_error)?;
    let before = row(
        on,
        &format!("SELECT {COLUMNS} FROM authorizations a WHERE {OF_OWNER} AND a.user_id = $3 FOR UPDATE"),
        &[&tenant, &client, &user],
    )
    .await?;
    let before = before.as_ref().map(parse).transpose()?;
    let access = ClientAccess::of(grant);
    let Some(after) = authorize(before.as_ref(), &access, &membership, scopes, grant.created_at) else {
        return Ok(None);
    };
    let concerns_webhooks = concerns_webhooks(before.as_ref(), &after);
    execute(
        on,
        "UPDATE authorizations SET membership_id = $4, scopes = $5, created_at = $6, ended_at = NULL, ended_why = NULL
         WHERE tenant_id = $1 AND client_id = $2 AND user_id = $3",
        &[
            &tenant,
            &client,
            &user,
            &after.membership.as_str(),
            &after.scopes.to_string(),
            &after.created_at.0,
        ],
    )
    .await
    .map_err(store_error)?;
    if concerns_webhooks { touch_owners(on, &[access]).await.map(Some) } else { Ok(None) }
}

/// Gives these webhooks a new change number, so that every node reloads them. Takes the number before it looks for
/// webhooks, as their own changes do: locks have one order, and a webhook that is being added is not overlooked.
async fn touch(on: &Transaction<'_>, condition: &str, args: Args<'_>) -> Result<Vec<WebhookId>> {
    let change_number = next_change_number(on).await?;
    let lock =
        format!("SELECT w.id FROM webhooks w WHERE {LIVE} AND {condition} ORDER BY w.id FOR UPDATE OF w");
    let locked = rows(on, &lock, args).await?;
    let webhooks = locked.iter().map(|row| row.read("id")).collect::<Result<Vec<WebhookId>>>()?;
    if !webhooks.is_empty() {
        let ids = column(&webhooks, |id| id.as_bytes().as_slice());
        execute(on, "UPDATE webhooks SET moved = $2 WHERE id = ANY($1)", &[&ids, &change_number])
            .await
            .map_err(store_error)?;
    }
    Ok(webhooks)
}

/// The webhooks of these applications in these tenants.
async fn touch_owners(on: &Transaction<'_>, ended: &[ClientAccess]) -> Result<Vec<WebhookId>> {
    let condition = "(w.tenant_no, w.client_id) IN (SELECT t.no, k.client_id
                         FROM unnest($1::text[], $2::text[]) AS k (tenant_id, client_id)
                         JOIN tenants t ON t.id = k.tenant_id)";
    let tenants = column(ended, |access| access.tenant.as_str());
    let clients = column(ended, |access| access.client.as_str());
    touch(on, condition, &[&tenants, &clients]).await
}

/// The webhooks of every application that the user has authorized.
pub(super) async fn touch_user(on: &Transaction<'_>, user: &AccountId) -> Result<Vec<WebhookId>> {
    let condition = "(w.tenant_no, w.client_id) IN (SELECT t.no, a.client_id FROM authorizations a
                         JOIN tenants t ON t.id = a.tenant_id WHERE a.user_id = $1)";
    touch(on, condition, &[&user.as_str()]).await
}

/// Ends an authorization and audits it; false if it had ended or there is none.
async fn end_one(
    on: &Transaction<'_>,
    ports: &Ports,
    access: &ClientAccess,
    ended: EndedAuthorization,
    (context, note): (&AuditContext, &str),
) -> Result<bool> {
    let (tenant, client, user) = (access.tenant.as_str(), access.client.as_str(), access.user.as_str());
    if [user, client, tenant].iter().any(|id| id.contains('\0')) {
        return Ok(false);
    }
    let rows = execute(
        on,
        "UPDATE authorizations SET ended_at = $4, ended_why = $5
         WHERE tenant_id = $1 AND client_id = $2 AND user_id = $3 AND ended_at IS NULL",
        &[&tenant, &client, &user, &ended.at.0, &ended.cause.as_str()],
    )
    .await
    .map_err(store_error)?;
    if rows > 0 {
        append_audit(on, &*ports.random, access_ended_entry(access, ended.at, context, note)).await?;
    }
    Ok(rows > 0)
}

/// Ends an authorization, unless it has ended or there is none; returns the webhooks that it may have kept alive.
pub(super) async fn end(
    on: &Transaction<'_>,
    ports: &Ports,
    access: &ClientAccess,
    ended: EndedAuthorization,
    why: (&AuditContext, &str),
) -> Result<Option<Vec<WebhookId>>> {
    if !end_one(on, ports, access, ended, why).await? {
        return Ok(None);
    }
    touch_owners(on, std::slice::from_ref(access)).await.map(Some)
}

/// After a revocation: ends the authorization if no unexpired grant is left. The authorization is locked first, so that
/// of two concurrent revocations the second one sees the first.
pub(super) async fn end_if_unused(
    on: &Transaction<'_>,
    ports: &Ports,
    revoked: &Grant,
    now: Ticks,
    (context, note): (&AuditContext, &str),
) -> Result<Option<Vec<WebhookId>>> {
    let (tenant, client, user) = (revoked.tenant.as_str(), revoked.client.as_str(), revoked.user.as_str());
    let lock = format!("SELECT 1 FROM authorizations a WHERE {OF_OWNER} AND a.user_id = $3 FOR UPDATE");
    row(on, &lock, &[&tenant, &client, &user]).await?;
    let live = row(
        on,
        "SELECT 1 FROM grants g WHERE g.user_id = $1 AND g.client_id = $2 AND g.tenant_id || '' = $3
         AND g.revoked_at + 0 IS NULL AND g.expires_at + 0 > $4 LIMIT 1",
        &[&user, &client, &tenant, &now.0],
    )
    .await?;
    if live.is_some() {
        return Ok(None);
    }
    let ended = EndedAuthorization { at: now, cause: AuthorizationEnd::Revoked };
    end(on, ports, &ClientAccess::of(revoked), ended, (context, note)).await
}

/// Ends the authorizations that fulfil a condition, with their grants and unused codes.
pub(super) async fn end_all(
    on: &Transaction<'_>,
    ports: &Ports,
    (condition, args): (&str, Args<'_>),
    ended: EndedAuthorization,
    (context, note): (&AuditContext, &str),
) -> Result<(Vec<Grant>, Vec<WebhookId>)> {
    let order = "a.ended_at IS NULL ORDER BY a.tenant_id, a.client_id, a.user_id";
    let found = rows(on, &facts_sql(&format!("{condition} AND {order}")), args).await?;
    let found: Vec<Authorization> = parse_all(&found)?;
    let accesses: Vec<ClientAccess> = found.into_iter().map(|one| one.access).collect();
    let mut grants = Vec::new();
    for access in &accesses {
        for grant in revoke_grants(on, access, ended.at).await? {
            append_audit(on, &*ports.random, revocation_entry(&grant, ended.at, context, note)).await?;
            grants.push(grant);
        }
        end_one(on, ports, access, ended, (context, note)).await?;
    }
    Ok((grants, touch_owners(on, &accesses).await?))
}

impl PostgresStore {
    /// Commits a change of access; `webhooks` are those that it concerns, or None if access is unchanged.
    pub(super) async fn commit_access(
        &self,
        transaction: Transaction<'_>,
        webhooks: Option<Vec<WebhookId>>,
    ) -> Result<()> {
        let committed = transaction.commit().await.map_err(store_error);
        // Also after an error: the connection may have broken after the commit.
        if let Some(webhooks) = webhooks {
            self.access_changed_for(&webhooks);
        }
        committed
    }
}

#[async_trait]
impl Authorizations for PostgresStore {
    async fn user_authorizations(&self, user: &AccountId) -> Result<Vec<AuthorizationFacts>> {
        let condition =
            "a.user_id = $1 AND a.ended_at IS NULL ORDER BY a.created_at DESC, a.tenant_id, a.client_id";
        self.rows(&facts_sql(condition), &[&user.as_str()]).await?.iter().map(parse).collect()
    }

    async fn list_authorizations(
        &self,
        user: &AccountId,
        after: Option<&WebhookOwner>,
        rows_max: usize,
    ) -> Result<Vec<AuthorizationFacts>> {
        let condition = "a.user_id = $1 AND a.ended_at IS NULL AND (a.tenant_id, a.client_id) > ($2, $3)
                         ORDER BY a.tenant_id, a.client_id LIMIT $4";
        let (tenant, client) = after.map_or(("", ""), |after| (after.tenant.as_str(), after.client.as_str()));
        let found =
            self.rows(&facts_sql(condition), &[&user.as_str(), &tenant, &client, &limit(rows_max)]).await?;
        found.iter().map(parse).collect()
    }

    async fn find_authorization(&self, access: &ClientAccess) -> Result<Option<Authorization>> {
        let sql = format!("SELECT {COLUMNS} FROM authorizations a WHERE {OF_OWNER} AND a.user_id = $3");
        let ids: Args<'_> = &[&access.tenant.as_str(), &access.client.as_str(), &access.user.as_str()];
        self.row(&sql, ids).await?.as_ref().map(parse).transpose()
    }

    async fn authorized_clients(&self, tenant: &TenantId, rows_max: usize) -> Result<Vec<ClientId>> {
        // From one client to the next, however many users have authorized each.
        let sql = "WITH RECURSIVE found (client_id) AS (
            (SELECT client_id FROM authorizations WHERE tenant_id = $1 AND ended_at IS NULL
                ORDER BY tenant_id, client_id LIMIT 1)
            UNION ALL
            SELECT n.client_id FROM found CROSS JOIN LATERAL (
                SELECT a.client_id FROM authorizations a
                WHERE a.tenant_id = $1 AND a.ended_at IS NULL AND a.client_id > found.client_id
                ORDER BY a.tenant_id, a.client_id LIMIT 1) n
        ) SELECT client_id FROM found LIMIT $2";
        let found = self.rows(sql, &[&tenant.as_str(), &limit(rows_max)]).await?;
        Ok(found.iter().map(|row| ClientId::new(row.get::<_, Box<str>>(0))).collect())
    }

    async fn count_client_authorizations(&self, client: &ClientId, count_max: usize) -> Result<usize> {
        let sql = "SELECT count(*) FROM (SELECT 1 FROM authorizations WHERE client_id = $1 AND ended_at IS NULL LIMIT $2) one";
        let found = self.row(sql, &[&client.as_str(), &limit(count_max)]).await?;
        Ok(found.map_or(0, |row| usize::try_from(row.get::<_, i64>(0)).unwrap_or_default()))
    }

    async fn owner_access(&self, owner: &WebhookOwner) -> Result<OwnerAccess> {
        let mut found = self.owners_access(std::slice::from_ref(owner)).await?;
        Ok(found.remove(owner).unwrap_or_default())
    }

    async fn owners_access(&self, owners: &[WebhookOwner]) -> Result<HashMap<WebhookOwner, OwnerAccess>> {
        let mut client = self.client().await?;
        // PostgreSQL has no NUL, so nobody has such an id.
        let has_nul =
            |owner: &&WebhookOwner| [owner.tenant.as_str(), owner.client.as_str()].concat().contains('\0');
        let owners: Vec<&WebhookOwner> = owners.iter().filter(|owner| !has_nul(owner)).collect();
        owners_access(&snapshot(&mut client).await?, &owners).await
    }

    async fn revoke_tenant_access(
        &self,
        tenant: &TenantId,
        client: &ClientId,
        now: Ticks,
        context: &AuditContext,
        note: &str,
    ) -> Result<Vec<GrantId>> {
        let mut connection = self.client().await?;
        let transaction = connection.transaction().await.map_err(store_error)?;
        let ended = EndedAuthorization { at: now, cause: AuthorizationEnd::WithdrawnForTenant };
        let ids: Args<'_> = &[&tenant.as_str(), &client.as_str()];
        // Also of users who have no authorization yet. Waits for exchanges that are under way.
        let codes = "DELETE FROM codes WHERE hash IN
                     (SELECT hash FROM codes WHERE tenant_id = $1 AND client_id = $2 AND used_at IS NULL
                      ORDER BY hash FOR UPDATE)";
        execute(&transaction, codes, ids).await.map_err(store_error)?;
        let which = (OF_OWNER, ids);
        let (grants, webhooks) = end_all(&transaction, self.ports(), which, ended, (context, note)).await?;
        self.commit_access(transaction, Some(webhooks)).await?;
        Ok(grants.into_iter().map(|grant| grant.id).collect())
    }
}
