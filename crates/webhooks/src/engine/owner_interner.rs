//! Stores each tenant id and client id once, however many webhooks they own.

use std::hash::Hash;

use domain::{ClientId, TenantId};
use store::WebhookOwner;

use super::deterministic::StableSet;

#[derive(Debug, Default)]
pub(crate) struct OwnerInterner {
    tenants: StableSet<TenantId>,
    clients: StableSet<ClientId>,
}

impl OwnerInterner {
    /// Replaces the owner's ids by shared copies.
    pub(crate) fn intern(&mut self, owner: &mut WebhookOwner) {
        share(&mut self.tenants, &mut owner.tenant);
        share(&mut self.clients, &mut owner.client);
    }
}

fn share<T: Clone + Eq + Hash>(interned: &mut StableSet<T>, id: &mut T) {
    match interned.get(id) {
        Some(shared) => *id = shared.clone(),
        None => {
            interned.insert(id.clone());
        }
    }
}
