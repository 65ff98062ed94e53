//! What `/permissions` shows: each application with access to a tenant in the user's name or, for an administrator of the
//! tenant, in anybody's, with its webhooks.

use std::collections::{BTreeMap, HashMap};

use domain::{ClientId, Scopes, TenantId, Ticks, UserId};
use store::{AuthorizationFacts, DeliveryQuery, Grant, OwnerAccess, Webhook, WebhookOwner, WebhookQuery};

use super::page_error::PageError;
use crate::Identity;
use crate::params::query;

/// The webhooks shown for an application; the rest is counted.
const WEBHOOKS_SHOWN_MAX: usize = 20;
/// The most webhooks and authorizations that are read for one page entry or one tenant.
const ROWS_MAX: usize = 1_000;

/// An application's access to one tenant.
pub(super) struct ApplicationAccess {
    /// Identifies the entry in the form.
    pub(super) key: String,
    pub(super) owner: WebhookOwner,
    pub(super) application: String,
    pub(super) tenant: String,
    pub(super) since: Ticks,
    pub(super) last_used: Ticks,
    pub(super) scopes: Vec<&'static str>,
    /// Whether the user has allowed it.
    pub(super) is_own: bool,
    /// How many other users have allowed it.
    pub(super) colleagues: usize,
    /// Whether the user may end it for the whole tenant.
    pub(super) is_admin: bool,
    pub(super) webhooks: Vec<WebhookLine>,
    pub(super) webhooks_left_out: usize,
}

/// A webhook as a user sees it.
pub(super) struct WebhookLine {
    pub(super) resource: &'static str,
    pub(super) host: String,
    pub(super) last_delivered_at: Option<Ticks>,
    /// A colleague's authorization covers it.
    pub(super) is_kept_by_colleague: bool,
}

/// The authorizations of one application in one tenant that stand.
#[derive(Default)]
struct Group {
    all: Vec<AuthorizationFacts>,
    is_admin: bool,
}

impl Identity {
    /// The applications that the user sees, last used first.
    pub(super) async fn application_access(
        &self,
        user: &UserId,
    ) -> Result<Vec<ApplicationAccess>, PageError> {
        let mut groups: BTreeMap<(TenantId, ClientId), Group> = BTreeMap::new();
        let mut add = |facts: AuthorizationFacts, is_admin: bool| {
            if facts.obstacle().is_none() {
                let access = &facts.authorization.access;
                let group = groups.entry((access.tenant.clone(), access.client.clone())).or_default();
                group.is_admin |= is_admin;
                if group.all.iter().all(|known| known.authorization.access.user != access.user) {
                    group.all.push(facts);
                }
            }
        };
        for facts in self.store.user_authorizations(user).await? {
            add(facts, false);
        }
        for membership in self.store.active_memberships(user).await? {
            if membership.membership.is_admin {
                for facts in self.store.tenant_authorizations(&membership.tenant.id, ROWS_MAX).await? {
                    add(facts, true);
                }
            }
        }
        let mut last_used: HashMap<(TenantId, ClientId), Ticks> = HashMap::new();
        for Grant { tenant, client, last_used_at, .. } in
            self.store.live_grants(user, self.clock.now()).await?
        {
            let latest = last_used.entry((tenant, client)).or_default();
            *latest = last_used_at.max(*latest);
        }
        let mut entries = Vec::new();
        for (pair, group) in groups {
            let last_used = last_used.get(&pair).copied();
            entries.extend(self.read_entry(user, pair, &group, last_used).await?);
        }
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.last_used));
        Ok(entries)
    }

    /// None if the tenant or the client is gone.
    async fn read_entry(
        &self,
        user: &UserId,
        (tenant_id, client_id): (TenantId, ClientId),
        group: &Group,
        last_used: Option<Ticks>,
    ) -> Result<Option<ApplicationAccess>, PageError> {
        let client = self.store.find_client(&client_id).await?;
        let tenant = self.store.find_tenant(&tenant_id).await?;
        let (Some(client), Some(tenant)) = (client, tenant) else { return Ok(None) };
        let owner = WebhookOwner { tenant: tenant_id, client: client_id };
        let authorizations = || group.all.iter().map(|facts| &facts.authorization);
        let own = authorizations().find(|one| one.access.user == *user);
        let since = own.or_else(|| authorizations().min_by_key(|one| one.created_at));
        let since = since.map_or(Ticks::default(), |one| one.created_at);
        let scopes = match own {
            Some(own) => own.scopes,
            None => authorizations().fold(Scopes::default(), |all, one| all.union(one.scopes)),
        };
        let access = self.store.owner_access(&owner).await?;
        let stored = self.live_webhooks(&owner).await?;
        let webhooks_left_out = stored.len().saturating_sub(WEBHOOKS_SHOWN_MAX);
        let mut webhooks = Vec::new();
        for webhook in stored.iter().take(WEBHOOKS_SHOWN_MAX) {
            webhooks.push(self.webhook_line(user, &access, webhook).await?);
        }
        let others = |facts: &&AuthorizationFacts| {
            facts.authorization.access.user != *user && facts.obstacle().is_none()
        };
        Ok(Some(ApplicationAccess {
            key: query([("client", owner.client.as_str()), ("tenant", owner.tenant.as_str())]),
            owner,
            application: client.name,
            tenant: tenant.name,
            since,
            last_used: last_used.unwrap_or(since),
            scopes: scopes.names(),
            is_own: own.is_some(),
            colleagues: access.authorizations.iter().filter(others).count(),
            is_admin: group.is_admin,
            webhooks,
            webhooks_left_out,
        }))
    }

    async fn live_webhooks(&self, owner: &WebhookOwner) -> Result<Vec<Webhook>, PageError> {
        let query = WebhookQuery {
            tenant: Some(owner.tenant.clone()),
            client: Some(owner.client.clone()),
            rows_max: ROWS_MAX,
            ..WebhookQuery::default()
        };
        Ok(self.store.webhooks(&query).await?)
    }

    async fn webhook_line(
        &self,
        user: &UserId,
        access: &OwnerAccess,
        webhook: &Webhook,
    ) -> Result<WebhookLine, PageError> {
        let newest =
            DeliveryQuery { webhook: webhook.id, before: None, since: None, only_failed: false, rows_max: 1 };
        let delivered = self.store.successful_deliveries(&newest).await?;
        let needed = webhook.resource.area().webhook_scopes();
        let is_kept = |facts: &AuthorizationFacts| {
            let authorization = &facts.authorization;
            authorization.access.user != *user
                && authorization.scopes.has_all(needed)
                && facts.obstacle().is_none()
        };
        Ok(WebhookLine {
            resource: webhook.resource.plural(),
            host: host(&webhook.url).to_owned(),
            last_delivered_at: delivered.first().map(|success| success.at),
            is_kept_by_colleague: access.authorizations.iter().any(is_kept),
        })
    }

    /// Whether some of the application's webhooks are still delivered to. Only members of the tenant may know.
    pub(super) async fn has_live_webhooks(
        &self,
        user: &UserId,
        owner: &WebhookOwner,
    ) -> Result<bool, PageError> {
        if self.store.find_tenant_membership(user, &owner.tenant).await?.is_none() {
            return Ok(false);
        }
        let access = self.store.owner_access(owner).await?;
        let is_alive = |webhook: &Webhook| access.suspension(webhook.resource.area()).is_none();
        Ok(self.live_webhooks(owner).await?.iter().any(is_alive))
    }
}

/// The host of a receiver's URL, with its port if it has one.
fn host(url: &str) -> &str {
    let after_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    after_scheme.split(['/', '?']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::host;

    #[test]
    fn host_is_shown_without_path_and_query() {
        assert_eq!(host("https://erp.example/hooks?key=1"), "erp.example");
        assert_eq!(host("http://localhost:8765/x"), "localhost:8765");
        assert_eq!(host("https://erp.example?key=1"), "erp.example");
    }
}
