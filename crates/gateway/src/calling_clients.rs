//! What the gate needs to know of the calling client: its products and its team. Looked up in the store and cached for
//! 2 seconds. A change counts at once on the node where it was made, and within 2 seconds on others.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use domain::subscription::Products;
use domain::{ClientId, Refusal, TeamId, Ticks};
use parking_lot::RwLock;
use store::{Result, Store, Subscription};

/// How long a client is served from memory.
const AGE_MAX: Duration = Duration::from_secs(2);
const CLIENTS_MAX: usize = 10_000;

pub(crate) struct CallingClients {
    store: Arc<dyn Store>,
    cached: RwLock<HashMap<ClientId, CachedClient>>,
}

/// What the gate needs to know of a client; nothing is open to an unknown one.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallingClient {
    pub(crate) products: Products,
    team: Option<TeamId>,
    is_sandbox: bool,
}

impl CallingClient {
    /// Whether the subscription opens for this client: one of a team opens for that team's clients alone. What is for the
    /// sandbox opens nothing, because no tenant is a sandbox.
    pub(crate) fn is_opened_by(&self, subscription: &Subscription) -> bool {
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
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, cached: RwLock::default() }
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
