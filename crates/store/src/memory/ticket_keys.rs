//! Ticket keys in memory.

use async_trait::async_trait;
use domain::{Guid, Secret};

use super::MemoryStore;
use crate::keys::created_after;
use crate::ticket_keys::sealing_purpose;
use crate::{Result, TicketKey, TicketKeys};

#[async_trait]
impl TicketKeys for MemoryStore {
    async fn add_ticket_key(&self, key: &TicketKey, newest: Option<Guid>) -> Result<bool> {
        let ports = &self.ports;
        let sealed = ports.vault.seal(&*ports.random, &sealing_purpose(key.id), key.key.reveal())?;
        let mut state = self.state_mut()?;
        let stored = state.ticket_keys.values().map(|(key, _)| (key.created_at, key.id));
        let last = stored.max_by_key(|(at, id)| (*at, *id.as_bytes()));
        let last = last.as_ref().map(|(at, id)| (id, *at));
        let Some(created_at) = created_after(key.created_at, newest.as_ref(), last) else {
            return Ok(false);
        };
        let stored = TicketKey { key: Secret::new(""), created_at, ..key.clone() };
        state.ticket_keys.insert(*key.id.as_bytes(), (stored, sealed));
        Ok(true)
    }

    async fn ticket_keys(&self) -> Result<Vec<TicketKey>> {
        let state = self.state();
        let open_sealed = state.ticket_keys.values().map(|(stored, sealed)| {
            let key = self.ports.vault.open(&sealing_purpose(stored.id), sealed)?;
            Ok(TicketKey { key, ..stored.clone() })
        });
        let mut keys = open_sealed.collect::<Result<Vec<_>>>()?;
        keys.sort_by_key(|key| (key.created_at, *key.id.as_bytes()));
        Ok(keys)
    }

    async fn delete_ticket_key(&self, id: Guid) -> Result<bool> {
        Ok(self.state_mut()?.ticket_keys.remove(id.as_bytes()).is_some())
    }
}
