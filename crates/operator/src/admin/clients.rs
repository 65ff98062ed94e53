//! Clients: the applications that users sign in through.

use std::time::Duration;

use domain::{ClientId, Secret};
use store::{Client, ClientSecret, Consent, Pkce, Status};

use super::{Admin, AdminError, Replacement, Result, found};
use crate::checks::{check_redirect, checked_id, checked_logout_uris, checked_name};

#[derive(Clone, Debug)]
pub struct NewClient {
    pub id: Option<String>,
    pub name: String,
    pub redirect_uris: Vec<String>,
    pub post_logout_uris: Vec<String>,
    pub pkce: Pkce,
    pub consent: Consent,
    pub callback_id_token: bool,
}

/// What is to be changed of a client; what is not given stays.
#[derive(Clone, Debug, Default)]
pub struct ClientChange {
    pub name: Option<String>,
    pub redirect_uris: Option<Vec<String>>,
    pub pkce: Option<Pkce>,
    pub consent: Option<Consent>,
    pub callback_id_token: Option<bool>,
    pub post_logout_uris: Option<Vec<String>>,
    pub status: Option<Status>,
}

impl Admin {
    pub async fn add_client(&self, new: NewClient) -> Result<(Client, Secret)> {
        let id = match &new.id {
            Some(id) => ClientId::new(checked_id("client id", id)?),
            None => ClientId::from(self.random.guid()),
        };
        for uri in &new.redirect_uris {
            check_redirect(uri)?;
        }
        let client = Client {
            id,
            guid: self.random.guid(),
            name: checked_name(&new.name)?,
            redirect_uris: new.redirect_uris,
            post_logout_uris: checked_logout_uris(new.post_logout_uris)?,
            pkce: new.pkce,
            consent: new.consent,
            callback_id_token: new.callback_id_token,
            status: Status::Active,
            created_at: self.now(),
        };
        let secret = self.secret();
        self.store.add_client(&client, &secret).await?;
        Ok((client, secret))
    }

    pub async fn client(&self, id: &str) -> Result<Client> {
        let client = self.store.find_client(&ClientId::new(id)).await?;
        client.ok_or_else(|| AdminError::Missing(format!("client \"{id}\"")))
    }

    pub async fn set_client_status(&self, id: &str, status: Status) -> Result<()> {
        let client = Client { status, ..self.client(id).await? };
        found(self.store.update_client(&client).await?, || format!("client \"{id}\""))
    }

    /// Adds addresses to those that a client may be sent back to; ones it has are left as they are.
    pub async fn add_redirect_uris(&self, id: &str, uris: &[String]) -> Result<Client> {
        let mut client = self.client(id).await?;
        for uri in uris {
            check_redirect(uri)?;
            if !client.redirect_uris.contains(uri) {
                client.redirect_uris.push(uri.clone());
            }
        }
        found(self.store.update_client(&client).await?, || format!("client \"{id}\""))?;
        Ok(client)
    }

    /// Takes addresses from those that a client may be sent back to; one stays.
    pub async fn remove_redirect_uris(&self, id: &str, uris: &[String]) -> Result<Client> {
        let mut client = self.client(id).await?;
        if let Some(uri) = uris.iter().find(|uri| !client.redirect_uris.contains(uri)) {
            return Err(AdminError::Missing(format!("redirect address \"{uri}\" at client \"{id}\"")));
        }
        client.redirect_uris.retain(|uri| !uris.contains(uri));
        if client.redirect_uris.is_empty() {
            let why = "needs one redirect address at least; add another before you remove the last";
            return Err(AdminError::Invalid(format!("client \"{id}\" {why}")));
        }
        found(self.store.update_client(&client).await?, || format!("client \"{id}\""))?;
        Ok(client)
    }

    /// Changes what is given of how a client signs users in.
    pub async fn set_client(&self, id: &str, change: ClientChange) -> Result<Client> {
        let mut client = self.client(id).await?;
        if let Some(name) = change.name {
            client.name = checked_name(&name)?;
        }
        if let Some(uris) = change.redirect_uris {
            uris.iter().try_for_each(|uri| check_redirect(uri))?;
            client.redirect_uris = uris;
        }
        client.status = change.status.unwrap_or(client.status);
        client.pkce = change.pkce.unwrap_or(client.pkce);
        client.consent = change.consent.unwrap_or(client.consent);
        client.callback_id_token = change.callback_id_token.unwrap_or(client.callback_id_token);
        if let Some(uris) = change.post_logout_uris {
            client.post_logout_uris = checked_logout_uris(uris)?;
        }
        found(self.store.update_client(&client).await?, || format!("client \"{id}\""))?;
        Ok(client)
    }

    /// A new secret; the old one stays valid for `overlap`.
    pub async fn rotate_client_secret(&self, id: &str, overlap: Duration) -> Result<Replacement> {
        let (secret, previous_valid_until) = (self.secret(), self.now() + overlap);
        let new = ClientSecret { secret: secret.clone(), previous_valid_until };
        found(self.store.set_client_secret(&ClientId::new(id), &new).await?, || format!("client \"{id}\""))?;
        Ok(Replacement { secret, previous_valid_until })
    }
}
