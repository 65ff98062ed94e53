//! OAuth clients in memory.

use async_trait::async_trait;
use domain::{ClientId, Secret, Ticks};

use super::{MemoryStore, StoredClient};
use crate::clients::CLIENT_SECRET;
use crate::{Client, ClientSecret, Clients, Result, StoreError};

#[async_trait]
impl Clients for MemoryStore {
    async fn add_client(&self, client: &Client, secret: &Secret) -> Result<()> {
        let secret = self.ports.vault.fingerprint(CLIENT_SECRET, secret);
        let mut state = self.state_mut()?;
        if state.clients.contains_key(client.id.as_str()) {
            return Err(StoreError::Exists(format!("a client \"{}\"", client.id)));
        }
        let stored = StoredClient { client: client.clone(), secret, old: None };
        state.clients.insert(client.id.as_str().into(), stored);
        Ok(())
    }

    async fn find_client(&self, id: &ClientId) -> Result<Option<Client>> {
        Ok(self.state().clients.get(id.as_str()).map(|stored| stored.client.clone()))
    }

    async fn clients(&self) -> Result<Vec<Client>> {
        let mut clients: Vec<_> = self.state().clients.values().map(|stored| stored.client.clone()).collect();
        clients.sort_by_key(|client| (client.created_at, client.id.clone()));
        Ok(clients)
    }

    async fn update_client(&self, client: &Client) -> Result<bool> {
        let mut state = self.state_mut()?;
        let Some(stored) = state.clients.get_mut(client.id.as_str()) else {
            return Ok(false);
        };
        let (guid, created_at) = (stored.client.guid, stored.client.created_at);
        stored.client = Client { guid, created_at, ..client.clone() };
        self.invalidation.access_changed();
        Ok(true)
    }

    async fn set_client_secret(&self, id: &ClientId, secret: &ClientSecret) -> Result<bool> {
        let hash = self.ports.vault.fingerprint(CLIENT_SECRET, &secret.secret);
        let mut state = self.state_mut()?;
        let Some(stored) = state.clients.get_mut(id.as_str()) else {
            return Ok(false);
        };
        stored.old = Some((stored.secret, secret.previous_valid_until));
        stored.secret = hash;
        Ok(true)
    }

    async fn client_secret_matches(&self, id: &ClientId, secret: &Secret, now: Ticks) -> Result<bool> {
        let hash = self.ports.vault.fingerprint(CLIENT_SECRET, secret);
        let state = self.state();
        Ok(state.clients.get(id.as_str()).is_some_and(|stored| {
            stored.secret == hash || stored.old.is_some_and(|(old, until)| old == hash && until > now)
        }))
    }

    async fn dev_credentials(&self) -> Result<Option<String>> {
        Ok(self.state().dev.clone())
    }

    async fn save_dev_credentials(&self, json: &str) -> Result<()> {
        self.state_mut()?.dev = Some(json.to_owned());
        Ok(())
    }
}
