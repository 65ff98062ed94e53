//! OAuth clients: the applications that users sign in to, and the APIs that check their tokens.

use std::time::Duration;

use domain::subscription::Products;
use domain::{ClientId, ClientKind, Secret, Ticks};
use store::{
    AuditContext, CallbackIdToken, Client, ClientSecret, ClientUpdate, Consent, FIRST_REVISION, ListFilter,
    ListPage, ListQuery, Pkce, Status, UpdateOutcome,
};

use super::client_kinds::{check_has_secret, check_redirects, checked_pkce, checked_update};
use super::{Admin, AdminError, Permission, Result, RotatedSecret, check_found, check_revision, updated};
use crate::checks::{check_backchannel_logout_uri, checked_id, checked_logout_uris, checked_name};

#[derive(Clone, Debug)]
pub struct NewClient {
    pub id: Option<String>,
    pub name: String,
    pub kind: ClientKind,
    /// None for a resource server.
    pub redirect_uris: Vec<String>,
    pub post_logout_uris: Vec<String>,
    pub backchannel_logout_uri: Option<String>,
    /// None: what the kind of client needs.
    pub pkce: Option<Pkce>,
    pub consent: Consent,
    pub callback_id_token: CallbackIdToken,
    pub products: Products,
    /// The id of the team that owns the client.
    pub team: Option<String>,
}

/// More authorizations of a client are not counted.
pub const AUTHORIZATIONS_COUNTED_MAX: usize = 10_000;

/// How often a read-modify-write of a client is tried against concurrent updates.
const UPDATE_TRIES_MAX: u32 = 5;

impl Admin {
    /// Registers a client. A public one has no secret.
    pub async fn add_client(&self, new: NewClient) -> Result<(Client, Option<Secret>)> {
        let context = self.require(Permission::Keys)?;
        let id = match &new.id {
            Some(id) => ClientId::new(checked_id("a client id", id)?),
            None => ClientId::from(self.random.guid()),
        };
        check_redirects(&new.redirect_uris, new.kind)?;
        let client = Client {
            id,
            guid: self.random.guid(),
            name: checked_name(&new.name)?,
            redirect_uris: new.redirect_uris,
            post_logout_uris: checked_logout_uris(new.post_logout_uris, new.kind)?,
            pkce: checked_pkce(new.pkce, new.kind)?,
            consent: new.consent,
            kind: new.kind,
            backchannel_logout_uri: self.checked_backchannel_uri(new.backchannel_logout_uri)?,
            callback_id_token: new.callback_id_token,
            products: checked_products(new.products)?,
            team: self.existing_team(new.team.as_deref()).await?,
            is_sandbox: false,
            status: Status::Active,
            created_at: self.now(),
            revision: FIRST_REVISION,
        };
        let secret = self.secret();
        self.store.add_client(&client, &secret, context).await?;
        let is_public = client.kind.is_public();
        Ok((client, (!is_public).then_some(secret)))
    }

    pub async fn clients(&self, filter: &ListFilter, query: &ListQuery) -> Result<ListPage<Client>> {
        Ok(self.store.list_clients(filter, query).await?)
    }

    pub async fn client(&self, id: &str) -> Result<Client> {
        let client = self.store.find_client(&ClientId::new(id)).await?;
        client.ok_or_else(|| AdminError::NotFound(format!("client \"{id}\"")))
    }

    /// How many authorizations of a client have not ended, at most `AUTHORIZATIONS_COUNTED_MAX`.
    pub async fn count_authorizations(&self, id: &ClientId) -> Result<usize> {
        Ok(self.store.count_client_authorizations(id, AUTHORIZATIONS_COUNTED_MAX).await?)
    }

    /// Until when the previous secret is valid, if it still is.
    pub async fn previous_secret_until(&self, id: &ClientId) -> Result<Option<Ticks>> {
        let (now, until) = (self.now(), self.store.previous_client_secret_until(id).await?);
        Ok(until.filter(|until| *until > now))
    }

    pub async fn set_client_status(&self, id: &str, status: Status) -> Result<Client> {
        let update = ClientUpdate { status: Some(status), ..ClientUpdate::default() };
        self.update_client(id, update, None).await
    }

    /// Registers redirect addresses; those already registered are skipped.
    pub async fn add_redirect_uris(&self, id: &str, uris: &[String]) -> Result<Client> {
        let context = self.require(Permission::Keys)?;
        let kind = self.client(id).await?.kind;
        self.change_redirect_uris(id, context, |registered| {
            for uri in uris {
                if !registered.contains(uri) {
                    registered.push(uri.clone());
                }
            }
            if uris.is_empty() { Ok(()) } else { check_redirects(registered, kind) }
        })
        .await
    }

    /// Removes redirect addresses; at least one must remain.
    pub async fn remove_redirect_uris(&self, id: &str, uris: &[String]) -> Result<Client> {
        let context = self.require(Permission::Keys)?;
        self.remove_redirect_uris_as(id, uris, context).await
    }

    pub(super) async fn remove_redirect_uris_as(
        &self,
        id: &str,
        uris: &[String],
        context: &AuditContext,
    ) -> Result<Client> {
        self.change_redirect_uris(id, context, |registered| {
            if let Some(uri) = uris.iter().find(|uri| !registered.contains(uri)) {
                return Err(AdminError::NotFound(format!("redirect address \"{uri}\" at client \"{id}\"")));
            }
            registered.retain(|uri| !uris.contains(uri));
            if registered.is_empty() {
                let why = "needs one redirect address at least; add another before you remove the last";
                return Err(AdminError::Invalid(format!("client \"{id}\" {why}")));
            }
            Ok(())
        })
        .await
    }

    /// Reads the redirect addresses, changes them and writes them; again where another update came in between.
    async fn change_redirect_uris(
        &self,
        id: &str,
        context: &AuditContext,
        change: impl Fn(&mut Vec<String>) -> Result<()>,
    ) -> Result<Client> {
        let mut outcome = UpdateOutcome::RevisionConflict;
        for _ in 0..UPDATE_TRIES_MAX {
            let client = self.client(id).await?;
            let mut redirect_uris = client.redirect_uris.clone();
            change(&mut redirect_uris)?;
            if redirect_uris == client.redirect_uris {
                return Ok(client);
            }
            let update = ClientUpdate { redirect_uris: Some(redirect_uris), ..ClientUpdate::default() };
            let expected = Some(client.revision);
            outcome = self.store.update_client(&client.id, &update, expected, context).await?;
            if outcome != UpdateOutcome::RevisionConflict {
                break;
            }
        }
        updated(outcome, || format!("client \"{id}\""))
    }

    /// Changes a client, if it has the expected revision (any by default).
    pub async fn update_client(
        &self,
        id: &str,
        update: ClientUpdate,
        expected_revision: Option<u64>,
    ) -> Result<Client> {
        let context = self.require(Permission::Keys)?;
        self.update_client_as(id, update, expected_revision, context).await
    }

    pub(super) async fn update_client_as(
        &self,
        id: &str,
        mut update: ClientUpdate,
        expected_revision: Option<u64>,
        context: &AuditContext,
    ) -> Result<Client> {
        let what = || format!("client \"{id}\"");
        if update == ClientUpdate::default() {
            let client = self.client(id).await?;
            check_revision(client.revision, expected_revision, what)?;
            return Ok(client);
        }
        update.name = update.name.as_deref().map(checked_name).transpose()?;
        update = checked_update(update, self.client(id).await?.kind)?;
        update.backchannel_logout_uri =
            update.backchannel_logout_uri.map(|uri| self.checked_backchannel_uri(uri)).transpose()?;
        update.products = update.products.map(checked_products).transpose()?;
        if let Some(Some(team)) = &update.team {
            self.team(team.as_str()).await?;
        }
        let id = ClientId::new(id);
        updated(self.store.update_client(&id, &update, expected_revision, context).await?, what)
    }

    /// The service dials the address, so that it follows the rules of receivers.
    fn checked_backchannel_uri(&self, uri: Option<String>) -> Result<Option<String>> {
        if let Some(uri) = &uri {
            check_backchannel_logout_uri(uri, self.is_local)?;
        }
        Ok(uri)
    }

    /// Replaces the secret; the old one stays valid for `overlap`.
    pub async fn rotate_client_secret(&self, id: &str, overlap: Duration) -> Result<RotatedSecret> {
        let context = self.require(Permission::Keys)?;
        self.rotate_client_secret_as(id, overlap, context).await
    }

    pub(super) async fn rotate_client_secret_as(
        &self,
        id: &str,
        overlap: Duration,
        context: &AuditContext,
    ) -> Result<RotatedSecret> {
        check_has_secret(&self.client(id).await?)?;
        let (secret, previous_valid_until) = (self.secret(), self.now() + overlap);
        let new = ClientSecret { secret: secret.clone(), previous_valid_until };
        let replaced = self.store.set_client_secret(&ClientId::new(id), &new, context).await?;
        check_found(replaced, || format!("client \"{id}\""))?;
        Ok(RotatedSecret { secret, previous_valid_until })
    }
}

pub(super) fn checked_products(products: Products) -> Result<Products> {
    if products == Products::default() {
        return Err(AdminError::Invalid("a client needs one product at least".into()));
    }
    Ok(products)
}
