//! OAuth clients in memory.

use async_trait::async_trait;
use domain::{ClientId, Random, Secret, Ticks};

use super::{MemoryStore, State, StoredClient};
use crate::audit::Act;
use crate::clients::{CLIENT_SECRET, secret_hash};
use crate::{
    AuditContext, Client, ClientSecret, ClientUpdate, Clients, ListFilter, ListPage, ListQuery, Result,
    Status, StoreError, UpdateOutcome,
};

impl State {
    /// Inserts a client and audits it.
    pub(super) fn insert_client(
        &mut self,
        random: &dyn Random,
        client: &Client,
        secret: [u8; 32],
        act: &Act,
    ) -> Result<()> {
        if self.clients.contains_key(client.id.as_str()) {
            return Err(StoreError::Exists(format!("a client \"{}\"", client.id)));
        }
        let secret = secret_hash(client, secret);
        let stored = StoredClient { client: client.clone(), secret, old: None };
        self.clients.insert(client.id.as_str().into(), stored);
        self.append_audit(random, act.client_added(client));
        Ok(())
    }

    /// Changes a client, if it has the expected revision, and audits it.
    pub(super) fn change_client(
        &mut self,
        random: &dyn Random,
        id: &ClientId,
        update: &ClientUpdate,
        expected_revision: Option<u64>,
        act: &Act,
    ) -> UpdateOutcome<Client> {
        let Some(client) = self.clients.get_mut(id.as_str()).map(|stored| &mut stored.client) else {
            return UpdateOutcome::NotFound;
        };
        if expected_revision.is_some_and(|expected| expected != client.revision) {
            return UpdateOutcome::RevisionConflict;
        }
        let ClientUpdate { name, redirect_uris, post_logout_uris, pkce, consent, .. } = update.clone();
        let before = client.clone();
        *client = Client {
            name: name.unwrap_or_else(|| client.name.clone()),
            redirect_uris: redirect_uris.unwrap_or_else(|| client.redirect_uris.clone()),
            post_logout_uris: post_logout_uris.unwrap_or_else(|| client.post_logout_uris.clone()),
            backchannel_logout_uri: update
                .backchannel_logout_uri
                .clone()
                .unwrap_or_else(|| client.backchannel_logout_uri.clone()),
            pkce: pkce.unwrap_or(client.pkce),
            consent: consent.unwrap_or(client.consent),
            callback_id_token: update.callback_id_token.unwrap_or(client.callback_id_token),
            products: update.products.unwrap_or(client.products),
            team: update.team.clone().unwrap_or_else(|| client.team.clone()),
            is_sandbox: update.is_sandbox.unwrap_or(client.is_sandbox),
            status: update.status.unwrap_or(client.status),
            revision: client.revision + 1,
            ..client.clone()
        };
        let after = client.clone();
        self.append_audit(random, act.client_changed(&before, &after));
        UpdateOutcome::Updated(after)
    }
}

#[async_trait]
impl Clients for MemoryStore {
    async fn add_client(&self, client: &Client, secret: &Secret, context: &AuditContext) -> Result<()> {
        let secret = self.ports.vault.fingerprint(CLIENT_SECRET, secret);
        let act = self.act(context);
        self.state_mut()?.insert_client(&*self.ports.random, client, secret, &act)
    }

    async fn find_client(&self, id: &ClientId) -> Result<Option<Client>> {
        Ok(self.state().clients.get(id.as_str()).map(|stored| stored.client.clone()))
    }

    async fn list_clients(&self, filter: &ListFilter, query: &ListQuery) -> Result<ListPage<Client>> {
        Ok(filter.page_of_all(query, self.state().clients.values().map(|stored| &stored.client)))
    }

    async fn update_client(
        &self,
        id: &ClientId,
        update: &ClientUpdate,
        expected_revision: Option<u64>,
        context: &AuditContext,
    ) -> Result<UpdateOutcome<Client>> {
        let mut state = self.state_mut()?;
        self.invalidation.access_changed();
        Ok(state.change_client(&*self.ports.random, id, update, expected_revision, &self.act(context)))
    }

    async fn set_client_secret(
        &self,
        id: &ClientId,
        secret: &ClientSecret,
        context: &AuditContext,
    ) -> Result<bool> {
        let hash = self.ports.vault.fingerprint(CLIENT_SECRET, &secret.secret);
        let mut state = self.state_mut()?;
        let Some(stored) = state.clients.get_mut(id.as_str()).filter(|stored| !stored.secret.is_empty())
        else {
            return Ok(false);
        };
        let old = std::mem::replace(&mut stored.secret, hash.to_vec());
        stored.old = Some((old, secret.previous_valid_until));
        stored.client.revision += 1;
        let entry = self.act(context).client_secret_rotated(id, secret.previous_valid_until);
        state.append_audit(&*self.ports.random, entry);
        Ok(true)
    }

    async fn is_client_origin(&self, origin: &str) -> Result<bool> {
        let state = self.state();
        let mut active = state.clients.values().map(|stored| &stored.client);
        Ok(active.any(|client| client.status == Status::Active && client.origins().contains(origin)))
    }

    async fn client_secret_matches(&self, id: &ClientId, secret: &Secret, now: Ticks) -> Result<bool> {
        let hash = self.ports.vault.fingerprint(CLIENT_SECRET, secret);
        let state = self.state();
        Ok(state.clients.get(id.as_str()).is_some_and(|stored| {
            let is_old = |(old, until): &(Vec<u8>, Ticks)| *old == hash && *until > now;
            stored.secret == hash || stored.old.as_ref().is_some_and(is_old)
        }))
    }

    async fn previous_client_secret_until(&self, id: &ClientId) -> Result<Option<Ticks>> {
        let state = self.state();
        Ok(state.clients.get(id.as_str()).and_then(|stored| stored.old.as_ref()).map(|(_, until)| *until))
    }

    async fn dev_credentials(&self) -> Result<Option<String>> {
        Ok(self.state().dev.clone())
    }

    async fn save_dev_credentials(&self, json: &str) -> Result<()> {
        self.state_mut()?.dev = Some(json.to_owned());
        Ok(())
    }
}
