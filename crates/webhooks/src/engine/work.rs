//! Small things that the core's parts share: maps whose order is the same in every run, names kept
//! once, and chance from a seed.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, DefaultHasher, Hash};

use domain::{ClientId, TenantId};
use store::WebhookOwner;

/// The same seed in the simulation must give the same run, so no map may have an order of its own.
pub(crate) type Map<K, V> = HashMap<K, V, BuildHasherDefault<DefaultHasher>>;
pub(crate) type Set<K> = HashSet<K, BuildHasherDefault<DefaultHasher>>;

/// The names of owners, each kept once however many webhooks they have.
#[derive(Debug, Default)]
pub(crate) struct Owners {
    tenants: Set<TenantId>,
    clients: Set<ClientId>,
}

impl Owners {
    pub(crate) fn share(&mut self, owner: &mut WebhookOwner) {
        once(&mut self.tenants, &mut owner.tenant);
        once(&mut self.clients, &mut owner.client);
    }
}

fn once<T: Clone + Eq + Hash>(kept: &mut Set<T>, name: &mut T) {
    match kept.get(name) {
        Some(same) => *name = same.clone(),
        None => {
            kept.insert(name.clone());
        }
    }
}

/// A row of numbers from a seed: for jitter, not for secrets.
#[derive(Clone, Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
