//! The products of the calling client: looked up in the store and cached for 2 seconds. A change counts at once on the
//! node where it was made, and within 2 seconds on others.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use domain::subscription::Products;
use domain::{ClientId, Ticks};
use parking_lot::RwLock;
use store::{Result, Store};

/// How long a client's products are served from memory.
const AGE_MAX: Duration = Duration::from_secs(2);
const CLIENTS_MAX: usize = 10_000;

pub(crate) struct ClientProducts {
    store: Arc<dyn Store>,
    cached: RwLock<HashMap<ClientId, CachedProducts>>,
}

#[derive(Clone, Copy)]
struct CachedProducts {
    products: Products,
    loaded_at: Ticks,
    /// The store's access counter before the client was loaded.
    invalidation: u64,
}

impl ClientProducts {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, cached: RwLock::default() }
    }

    /// The products of a client; none for an unknown client.
    pub(crate) async fn of(&self, client: &ClientId, now: Ticks) -> Result<Products> {
        let invalidation = self.store.invalidation().access_version();
        let cached = self.cached.read().get(client).copied();
        if let Some(cached) = cached
            && cached.invalidation == invalidation
            && now >= cached.loaded_at
            && now.since(cached.loaded_at) < AGE_MAX
        {
            return Ok(cached.products);
        }
        let found = self.store.find_client(client).await?;
        let products = found.map(|found| found.products).unwrap_or_default();
        self.insert(client, CachedProducts { products, loaded_at: now, invalidation });
        Ok(products)
    }

    /// Only clients with a valid token come here, so that nobody can evict them with guesses.
    fn insert(&self, client: &ClientId, entry: CachedProducts) {
        let mut cached = self.cached.write();
        if cached.len() >= CLIENTS_MAX {
            cached.retain(|_, other| entry.loaded_at.since(other.loaded_at) < AGE_MAX);
        }
        if cached.len() < CLIENTS_MAX {
            cached.insert(client.clone(), entry);
        }
    }
}
