//! What the gate needs to know of the calling client: its products and its team, and whose sandbox the tenant is, which
//! never changes. Looked up in the store; a client is cached for 2 seconds. A change counts at once on the node where it was made, and within 2 seconds on others.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use domain::subscription::Products;
use domain::{ClientId, Refusal, TeamId, TenantId, Ticks};
use parking_lot::RwLock;
use store::{Result, Store, Subscription};

/// How long a client is served from memory.
const AGE_MAX: Duration = Duration::from_secs(2);
const CLIENTS_MAX: usize = 10_000;
const TENANTS_MAX: usize = 100_000;

pub(crate) struct CallingClients {
    store: Arc<dyn Store>,
    cached: RwLock<HashMap<ClientId, CachedClient>>,
    /// Tenants, and the teams whose sandboxes they are.
    tenants: RwLock<HashMap<TenantId, Option<TeamId>>>,
    /// Whether sandbox tenants are open at all.
    is_sandbox_open: bool,
}

/// What the gate needs to know of a client; nothing is open to an unknown one.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallingClient {
    pub(crate) products: Products,
    team: Option<TeamId>,
    is_sandbox: bool,
}

impl CallingClient {
    /// Whether the subscription opens the tenant for this client. One of a team opens for that team's clients alone. The
    /// sandbox of a team opens with the team's own subscriptions and clients alone; another tenant opens with what is not
    /// for sandboxes. `sandbox_of` is of the tenant.
    pub(crate) fn is_opened_by(&self, subscription: &Subscription, sandbox_of: Option<&TeamId>) -> bool {
        if let Some(team) = sandbox_of {
            return self.team.as_ref() == Some(team) && subscription.team.as_ref() == Some(team);
        }
        let is_own = subscription.team.is_none() || subscription.team == self.team;
        is_own && !subscription.is_sandbox && !self.is_sandbox
    }

    /// Why a subscription does not open for this client.
    pub(crate) fn refusal_by(&self, subscription: &Subscription) -> Refusal {
        if subscription.team.is_some() && subscription.team != self.team {
            Refusal::KeyOfAnotherTeam
        } else {
            Refusal::SandboxMismatch
        }
    }
}

#[derive(Clone)]
struct CachedClient {
    client: CallingClient,
    loaded_at: Ticks,
    /// The store's access counter before the client was loaded.
    invalidation: u64,
}

impl CallingClients {
    pub(crate) fn new(store: Arc<dyn Store>, is_sandbox_open: bool) -> Self {
        Self { store, cached: RwLock::default(), tenants: RwLock::default(), is_sandbox_open }
    }

    /// Whether the subscription opens the tenant for the client.
    pub(crate) async fn is_opened(
        &self,
        tenant: &TenantId,
        client: &CallingClient,
        subscription: &Subscription,
    ) -> Result<bool> {
        let sandbox_of = self.sandbox_of(tenant).await?;
        let is_open = sandbox_of.is_none() || self.is_sandbox_open;
        Ok(is_open && client.is_opened_by(subscription, sandbox_of.as_ref()))
    }

    /// Whether a tenant that a call has named is a sandbox.
    pub(crate) fn is_sandbox(&self, tenant: &TenantId) -> bool {
        self.tenants.read().get(tenant).is_some_and(Option::is_some)
    }

    /// The team whose sandbox the tenant is. Only tenants of valid tokens come here.
    async fn sandbox_of(&self, tenant: &TenantId) -> Result<Option<TeamId>> {
        if let Some(known) = self.tenants.read().get(tenant) {
            return Ok(known.clone());
        }
        let Some(found) = self.store.find_tenant(tenant).await? else { return Ok(None) };
        let mut tenants = self.tenants.write();
        if tenants.len() >= TENANTS_MAX {
            tenants.clear();
        }
        tenants.insert(found.id, found.sandbox_of.clone());
        Ok(found.sandbox_of)
    }

    pub(crate) async fn find(&self, id: &ClientId, now: Ticks) -> Result<CallingClient> {
        let invalidation = self.store.invalidation().access_version();
        let cached = self.cached.read().get(id).cloned();
        if let Some(cached) = cached
            && cached.invalidation == invalidation
            && now >= cached.loaded_at
            && now.since(cached.loaded_at) < AGE_MAX
        {
            return Ok(cached.client);
        }
        let found = self.store.find_client(id).await?;
        let known = |found: store::Client| CallingClient {
            products: found.products,
            team: found.team,
            is_sandbox: found.is_sandbox,
        };
        let client = found.map(known).unwrap_or_default();
        self.insert(id, CachedClient { client: client.clone(), loaded_at: now, invalidation });
        Ok(client)
    }

    /// Only clients with a valid token come here, so that nobody can evict them with guesses.
    fn insert(&self, id: &ClientId, entry: CachedClient) {
        let mut cached = self.cached.write();
        if cached.len() >= CLIENTS_MAX {
            cached.retain(|_, other| entry.loaded_at.since(other.loaded_at) < AGE_MAX);
        }
        if cached.len() < CLIENTS_MAX {
            cached.insert(id.clone(), entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::Ticks;
    use store::{FIRST_REVISION, Status};

    use super::*;

    #[test]
    fn sandbox_opens_with_the_teams_own_credentials_alone_and_they_open_no_other() {
        let team = |name: &str| (!name.is_empty()).then(|| TeamId::new(name));
        let client =
            |of: &str, is_sandbox| CallingClient { team: team(of), is_sandbox, ..CallingClient::default() };
        let subscription = |of: &str, is_sandbox| Subscription {
            id: domain::ids::SubscriptionId::new("s"),
            name: String::new(),
            products: Products::all(),
            status: Status::Active,
            created_at: Ticks(0),
            daily_quota: None,
            cancelled_at: None,
            revision: FIRST_REVISION,
            team: team(of),
            is_sandbox,
        };
        for (client_of, subscription_of, tenant_of, expected) in [
            ("", "", "", true),
            ("panel", "", "", true),
            ("panel", "panel", "", true),
            ("panel", "other", "", false),
            ("panel", "panel", "panel", true),
            ("panel", "", "panel", false),
            ("", "", "panel", false),
            ("other", "other", "panel", false),
            ("panel", "other", "panel", false),
            ("other", "panel", "panel", false),
        ] {
            for (of_client, of_subscription) in [(false, false), (true, false), (false, true), (true, true)] {
                let is_opened = client(client_of, of_client)
                    .is_opened_by(&subscription(subscription_of, of_subscription), team(tenant_of).as_ref());
                // What is for sandboxes alone opens no real tenant.
                let is_kept_out = tenant_of.is_empty() && (of_client || of_subscription);
                let case = (client_of, of_client, subscription_of, of_subscription, tenant_of);
                assert_eq!(is_opened, expected && !is_kept_out, "{case:?}");
            }
        }
    }
}
