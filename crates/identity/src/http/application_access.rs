//! What `/permissions` shows: each application with access to a tenant in the user's name or, for an administrator of the
//! tenant, in anybody's, with its webhooks.

use std::collections::{BTreeMap, HashMap};

use domain::{AccountId, ClientId, Scopes, TenantId, Ticks};
use store::{
    Authorization, AuthorizationFacts, ClientAccess, DeliveryQuery, Grant, OwnerAccess, TenantMembership,
    Webhook, WebhookOwner, WebhookQuery,
};

use super::page_error::PageError;
use crate::params::{Params, query};
use crate::site::Site;

/// The webhooks shown for an application; the rest is counted.
const WEBHOOKS_SHOWN_MAX: usize = 20;
/// The most webhooks that are read for one application, and applications for one tenant.
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

impl Site {
    /// The applications that the user sees, last used first.
    pub(super) async fn application_access(
        &self,
        user: &AccountId,
    ) -> Result<Vec<ApplicationAccess>, PageError> {
        // With whether the user may end the access for the whole tenant.
        let mut visible: BTreeMap<(TenantId, ClientId), bool> = BTreeMap::new();
        for AuthorizationFacts { authorization, .. } in self.store.user_authorizations(user).await? {
            let ClientAccess { tenant, client, .. } = authorization.access;
            visible.insert((tenant, client), false);
        }
        for TenantMembership { membership, tenant, .. } in self.store.active_memberships(user).await? {
            if membership.is_admin {
                for client in self.store.authorized_clients(&tenant.id, ROWS_MAX).await? {
                    visible.insert((tenant.id.clone(), client), true);
                }
            }
        }
        let owners: Vec<WebhookOwner> = visible
            .keys()
            .map(|(tenant, client)| WebhookOwner { tenant: tenant.clone(), client: client.clone() })
            .collect();
        let access = self.store.owners_access(&owners).await?;
        let last_used = self.last_used(user).await?;
        let mut entries = Vec::new();
        for (owner, is_admin) in owners.into_iter().zip(visible.into_values()) {
            let Some(access) = access.get(&owner) else { continue };
            let last_used = last_used.get(&owner).copied();
            entries.extend(self.read_entry(user, owner, access, is_admin, last_used).await?);
        }
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.last_used));
        Ok(entries)
    }

    /// When each application last used a grant of the user.
    async fn last_used(&self, user: &AccountId) -> Result<HashMap<WebhookOwner, Ticks>, PageError> {
        let mut last_used: HashMap<WebhookOwner, Ticks> = HashMap::new();
        for Grant { tenant, client, last_used_at, .. } in
            self.store.live_grants(user, self.clock.now()).await?
        {
            let latest = last_used.entry(WebhookOwner { tenant, client }).or_default();
            *latest = last_used_at.max(*latest);
        }
        Ok(last_used)
    }

    /// None if nothing stands that the user may see, or if the tenant or the client is gone.
    async fn read_entry(
        &self,
        user: &AccountId,
        owner: WebhookOwner,
        access: &OwnerAccess,
        is_admin: bool,
        last_used: Option<Ticks>,
    ) -> Result<Option<ApplicationAccess>, PageError> {
        let standing: Vec<&Authorization> = access.standing().collect();
        let own = standing.iter().find(|one| one.access.user == *user);
        let Some(first) =
            own.or_else(|| standing.iter().filter(|_| is_admin).min_by_key(|one| one.created_at))
        else {
            return Ok(None);
        };
        let client = self.store.find_client(&owner.client).await?;
        let tenant = self.store.find_tenant(&owner.tenant).await?;
        let (Some(client), Some(tenant)) = (client, tenant) else { return Ok(None) };
        let scopes = match own {
            Some(own) => own.scopes,
            None => standing.iter().fold(Scopes::default(), |all, one| all.union(one.scopes)),
        };
        let stored = self.live_webhooks(&owner).await?;
        let webhooks_left_out = stored.len().saturating_sub(WEBHOOKS_SHOWN_MAX);
        let mut webhooks = Vec::new();
        for webhook in stored.iter().take(WEBHOOKS_SHOWN_MAX) {
            webhooks.push(self.webhook_line(user, access, webhook).await?);
        }
        Ok(Some(ApplicationAccess {
            key: owner_key(&owner),
            application: client.name,
            tenant: tenant.name,
            since: first.created_at,
            last_used: last_used.unwrap_or(first.created_at),
            scopes: scopes.names(),
            is_own: own.is_some(),
            colleagues: standing.iter().filter(|one| one.access.user != *user).count(),
            is_admin,
            webhooks,
            webhooks_left_out,
            owner,
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
        user: &AccountId,
        access: &OwnerAccess,
        webhook: &Webhook,
    ) -> Result<WebhookLine, PageError> {
        let newest =
            DeliveryQuery { webhook: webhook.id, before: None, since: None, only_failed: false, rows_max: 1 };
        let delivered = self.store.successful_deliveries(&newest).await?;
        let needed = webhook.resource.area().webhook_scopes();
        let is_kept = |one: &Authorization| one.access.user != *user && one.scopes.has_all(needed);
        Ok(WebhookLine {
            resource: webhook.resource.plural(),
            host: host(&webhook.url).to_owned(),
            last_delivered_at: delivered.first().map(|success| success.at),
            is_kept_by_colleague: access.standing().any(is_kept),
        })
    }

    /// Whether some of the application's webhooks are still delivered to.
    pub(super) async fn has_live_webhooks(
        &self,
        owner: &WebhookOwner,
        access: &OwnerAccess,
    ) -> Result<bool, PageError> {
        let is_alive = |webhook: &Webhook| access.suspension(webhook.resource.area()).is_none();
        Ok(self.live_webhooks(owner).await?.iter().any(is_alive))
    }
}

/// Identifies an application and a tenant in the form.
fn owner_key(owner: &WebhookOwner) -> String {
    query([("client", owner.client.as_str()), ("tenant", owner.tenant.as_str())])
}

/// The application and the tenant that a key identifies.
pub(super) fn owner_of_key(key: &str) -> Option<WebhookOwner> {
    let params = Params::parse(key.as_bytes());
    let (tenant, client) = (params.get("tenant")?, params.get("client")?);
    Some(WebhookOwner { tenant: TenantId::new(tenant), client: ClientId::new(client) })
}

/// The host of a receiver's URL, with its port if it has one.
fn host(url: &str) -> &str {
    let after_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    after_scheme.split(['/', '?']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{WebhookOwner, host, owner_key, owner_of_key};

    #[test]
    fn key_names_its_application_and_tenant() {
        let owner =
            WebhookOwner { tenant: domain::TenantId::new("a&b"), client: domain::ClientId::new("c=ñ") };
        assert_eq!(owner_of_key(&owner_key(&owner)), Some(owner));
        for wrong in ["", "client=c", "tenant=t&client=", "client=a&client=b&tenant=t"] {
            assert_eq!(owner_of_key(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn host_is_shown_without_path_and_query() {
        assert_eq!(host("https://erp.example/hooks?key=1"), "erp.example");
        assert_eq!(host("http://localhost:8765/x"), "localhost:8765");
        assert_eq!(host("https://erp.example?key=1"), "erp.example");
    }
}
