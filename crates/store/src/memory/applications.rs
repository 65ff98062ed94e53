//! OAuth clients and subscriptions in memory.

use async_trait::async_trait;
use domain::ids::SubscriptionId;
use domain::{ClientId, Secret, Ticks};

use super::{KeptClient, KeptKey, MemoryStore};
use crate::applications::{CLIENT_SECRET, SUBSCRIPTION_KEY};
use crate::{Applications, Client, ClientSecret, KeySlot, Result, Standing, StoreError, Subscription};

fn key_in_use(subscription: &SubscriptionId, slot: KeySlot) -> KeptKey {
    KeptKey { subscription: subscription.as_str().into(), slot: slot.code(), valid_until: None }
}

fn key_exists() -> StoreError {
    StoreError::Exists("such a key".into())
}

#[async_trait]
impl Applications for MemoryStore {
    async fn add_client(&self, client: &Client, secret: &Secret) -> Result<()> {
        let secret = self.ports.vault.fingerprint(CLIENT_SECRET, secret);
        let mut state = self.writing()?;
        if state.clients.contains_key(client.id.as_str()) {
            return Err(StoreError::Exists(format!("a client \"{}\"", client.id)));
        }
        let kept = KeptClient { client: client.clone(), secret, old: None };
        state.clients.insert(client.id.as_str().into(), kept);
        Ok(())
    }

    async fn find_client(&self, id: &ClientId) -> Result<Option<Client>> {
        Ok(self.state().clients.get(id.as_str()).map(|kept| kept.client.clone()))
    }

    async fn clients(&self) -> Result<Vec<Client>> {
        let mut clients: Vec<_> = self.state().clients.values().map(|kept| kept.client.clone()).collect();
        clients.sort_by_key(|client| (client.created_at, client.id.clone()));
        Ok(clients)
    }

    async fn update_client(&self, client: &Client) -> Result<bool> {
        let mut state = self.writing()?;
        let Some(kept) = state.clients.get_mut(client.id.as_str()) else {
            return Ok(false);
        };
        let (guid, created_at) = (kept.client.guid, kept.client.created_at);
        kept.client = Client { guid, created_at, ..client.clone() };
        Ok(true)
    }

    async fn set_client_secret(&self, id: &ClientId, secret: &ClientSecret) -> Result<bool> {
        let hash = self.ports.vault.fingerprint(CLIENT_SECRET, &secret.secret);
        let mut state = self.writing()?;
        let Some(kept) = state.clients.get_mut(id.as_str()) else {
            return Ok(false);
        };
        kept.old = Some((kept.secret, secret.old_until));
        kept.secret = hash;
        Ok(true)
    }

    async fn client_secret_matches(&self, id: &ClientId, secret: &Secret, now: Ticks) -> Result<bool> {
        let hash = self.ports.vault.fingerprint(CLIENT_SECRET, secret);
        let state = self.state();
        Ok(state.clients.get(id.as_str()).is_some_and(|kept| {
            kept.secret == hash || kept.old.is_some_and(|(old, until)| old == hash && until > now)
        }))
    }

    async fn add_subscription(&self, one: &Subscription, primary: &Secret, secondary: &Secret) -> Result<()> {
        let mut state = self.writing()?;
        if state.subscriptions.contains_key(one.id.as_str()) {
            return Err(StoreError::Exists(format!("a subscription \"{}\"", one.id)));
        }
        let [primary, secondary] =
            [primary, secondary].map(|key| self.ports.vault.fingerprint(SUBSCRIPTION_KEY, key));
        if primary == secondary || state.keys.contains_key(&primary) || state.keys.contains_key(&secondary) {
            return Err(key_exists());
        }
        state.keys.insert(primary, key_in_use(&one.id, KeySlot::Primary));
        state.keys.insert(secondary, key_in_use(&one.id, KeySlot::Secondary));
        state.subscriptions.insert(one.id.as_str().into(), one.clone());
        Ok(())
    }

    async fn subscriptions(&self) -> Result<Vec<Subscription>> {
        let mut all: Vec<_> = self.state().subscriptions.values().cloned().collect();
        all.sort_by_key(|one| (one.created_at, one.id.clone()));
        Ok(all)
    }

    async fn set_subscription_standing(&self, id: &SubscriptionId, standing: Standing) -> Result<bool> {
        let mut state = self.writing()?;
        let found = state.subscriptions.get_mut(id.as_str());
        Ok(found.map(|one| one.standing = standing).is_some())
    }

    async fn rotate_key(
        &self,
        id: &SubscriptionId,
        slot: KeySlot,
        key: &Secret,
        old_until: Ticks,
    ) -> Result<bool> {
        let hash = self.ports.vault.fingerprint(SUBSCRIPTION_KEY, key);
        let mut state = self.writing()?;
        let is_new = !state.keys.contains_key(&hash);
        let current = state.keys.values_mut().find(|kept| {
            &*kept.subscription == id.as_str() && kept.slot == slot.code() && kept.valid_until.is_none()
        });
        let Some(current) = current else { return Ok(false) };
        if !is_new {
            return Err(key_exists());
        }
        current.valid_until = Some(old_until);
        state.keys.insert(hash, key_in_use(id, slot));
        Ok(true)
    }

    async fn find_subscription_by_key(&self, key: &Secret, now: Ticks) -> Result<Option<Subscription>> {
        let hash = self.ports.vault.fingerprint(SUBSCRIPTION_KEY, key);
        let state = self.state();
        let valid = state.keys.get(&hash).filter(|kept| kept.valid_until.is_none_or(|until| until > now));
        Ok(valid.and_then(|kept| state.subscriptions.get(&kept.subscription)).cloned())
    }

    async fn dev_credentials(&self) -> Result<Option<String>> {
        Ok(self.state().dev.clone())
    }

    async fn keep_dev_credentials(&self, json: &str) -> Result<()> {
        self.writing()?.dev = Some(json.to_owned());
        Ok(())
    }
}
