//! Stores each tenant id and client id once, however many webhooks they own, and numbers the owners.

use std::hash::Hash;

use domain::{ClientId, TenantId};
use store::WebhookOwner;

use super::deterministic::{StableMap, StableSet};
use super::owner_queues::OwnerNumber;

#[derive(Debug, Default)]
pub(crate) struct OwnerInterner {
    tenants: StableSet<TenantId>,
    clients: StableSet<ClientId>,
    numbers: StableMap<(TenantId, ClientId), OwnerNumber>,
}

impl OwnerInterner {
    /// Replaces the owner's ids by shared copies; returns the owner's number.
    pub(crate) fn intern(&mut self, owner: &mut WebhookOwner) -> OwnerNumber {
        share(&mut self.tenants, &mut owner.tenant);
        share(&mut self.clients, &mut owner.client);
        let next = OwnerNumber(self.numbers.len());
        *self.numbers.entry((owner.tenant.clone(), owner.client.clone())).or_insert(next)
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
