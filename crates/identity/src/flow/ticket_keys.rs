//! The keys that encrypt tickets. They are stored encrypted with the master key; every node reloads them every few
//! seconds. The next key is stored before it encrypts, and a replaced one opens its tickets until they have expired.

use std::sync::Arc;
use std::time::Duration;

use domain::{Clock, Guid, Random, Ticks};
use parking_lot::RwLock;
use store::{MasterKey, Store, StoreError, TicketKey, Vault};

use super::ticket::TICKET_TTL;

/// How long a key encrypts.
const PERIOD: Duration = Duration::from_secs(24 * 3600);
/// How long a key is stored before it encrypts, so that every node knows it by then.
const LEAD: Duration = Duration::from_secs(60);
/// Every ticket begins with the id of its key.
pub(super) const KEY_ID_BYTES: usize = 16;

#[derive(Clone)]
struct RingKey {
    id: Guid,
    vault: Arc<Vault>,
    encrypts_from: Ticks,
}

/// The ticket keys that this node knows, oldest first.
pub(crate) struct TicketKeyRing {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    keys: RwLock<Vec<RingKey>>,
}

impl TicketKeyRing {
    /// Reads the keys. If the store has none, creates the first one, which encrypts at once.
    pub(crate) async fn open(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> store::Result<Self> {
        let ring = Self { store, clock, random, keys: RwLock::default() };
        ring.reload().await?;
        if ring.keys.read().is_empty() {
            ring.add(None, ring.clock.now()).await?;
            ring.reload().await?;
        }
        Ok(ring)
    }

    /// Reads the keys from the store.
    pub(crate) async fn reload(&self) -> store::Result<()> {
        let stored = self.store.ticket_keys().await?;
        let known = self.keys.read().clone();
        let open = |stored: &TicketKey| match known.iter().find(|key| key.id == stored.id) {
            Some(known) => Ok(known.clone()),
            None => Ok(RingKey {
                id: stored.id,
                vault: Arc::new(vault_of(stored)?),
                encrypts_from: stored.encrypts_from,
            }),
        };
        let keys = stored.iter().map(open).collect::<store::Result<Vec<_>>>()?;
        *self.keys.write() = keys;
        Ok(())
    }

    /// Adds the next key if the period is over, and deletes keys whose tickets have all expired.
    pub(crate) async fn rotate_if_due(&self) -> store::Result<()> {
        self.reload().await?;
        let (now, keys) = (self.clock.now(), self.keys.read().clone());
        if let Some(newest) = keys.last()
            && newest.encrypts_from + PERIOD <= now
        {
            self.add(Some(newest.id), now + LEAD).await?;
        }
        for (key, next) in keys.iter().zip(keys.iter().skip(1)) {
            if next.encrypts_from + TICKET_TTL + LEAD < now {
                self.store.delete_ticket_key(key.id).await?;
            }
        }
        self.reload().await
    }

    /// Adds a key after the newest one. Another node may be faster; then its key is the next.
    async fn add(&self, newest: Option<Guid>, encrypts_from: Ticks) -> store::Result<()> {
        let key = TicketKey {
            id: self.random.guid(),
            key: MasterKey::generate(&*self.random),
            created_at: self.clock.now(),
            encrypts_from,
        };
        self.store.add_ticket_key(&key, newest).await.map(|_| ())
    }

    /// The key that encrypts now, with its id.
    pub(super) fn encrypting(&self) -> store::Result<(Guid, Arc<Vault>)> {
        let (now, keys) = (self.clock.now(), self.keys.read());
        let current = keys.iter().rfind(|key| key.encrypts_from <= now).or_else(|| keys.first());
        let current = current.ok_or_else(|| StoreError::Internal("there is no ticket key".into()))?;
        Ok((current.id, current.vault.clone()))
    }

    pub(super) fn find(&self, id: &[u8]) -> Option<Arc<Vault>> {
        self.keys.read().iter().find(|key| key.id.as_bytes() == id).map(|key| key.vault.clone())
    }

    pub(super) fn random(&self) -> &dyn Random {
        &*self.random
    }
}

fn vault_of(key: &TicketKey) -> store::Result<Vault> {
    let key = MasterKey::parse(key.key.reveal()).map_err(|why| StoreError::Internal(why.into()))?;
    Vault::new(&key)
}
