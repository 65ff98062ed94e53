//! Webhooks of invoicing.

use domain::{Guid, Secret};
use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::history::{History, RotatedSecret};
use crate::Error;
use crate::api::Api;
use crate::api::{Call, none_if_not_found};
use crate::http_client::RetrySafety;

/// What happens to an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum InvoicingAction {
    Created,
    Updated,
    Deleted,
}

/// What to be told, and where.
#[derive(Clone, Debug)]
pub struct InvoicingSubscription {
    /// `https://<host>/api/webhooks/incoming/Invoicing`
    pub uri: String,
    /// `Customer`, `SaleInvoice` and so on.
    pub entity: String,
    /// CompanyData and CompanySettings are only ever updated.
    pub action: InvoicingAction,
    pub secret: Secret,
    pub is_paused: bool,
    pub application_name: String,
    pub description: String,
}

impl InvoicingSubscription {
    /// For a receiver on this host.
    pub fn new(host: &str, entity: &str, action: InvoicingAction, secret: Secret) -> Self {
        Self {
            uri: format!("https://{host}/api/webhooks/incoming/Invoicing"),
            entity: entity.to_owned(),
            action,
            secret,
            is_paused: false,
            application_name: String::new(),
            description: String::new(),
        }
    }

    fn body(&self) -> Value {
        json!({
            "uri": self.uri, "entity": self.entity, "action": self.action, "secret": self.secret.reveal(),
            "isPaused": self.is_paused, "applicationName": self.application_name, "description": self.description,
        })
    }
}

/// A subscription as the service keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InvoicingWebhook {
    pub id: Guid,
    pub uri: String,
    pub entity: String,
    pub action: InvoicingAction,
    pub is_paused: bool,
    pub application_name: String,
    pub description: String,
    /// `PendingSignIn` until the receiver has echoed, then `Effective`; `Paused`, `Disabled`.
    pub status: String,
    /// Why the host may not be the subscriber's.
    #[serde(default)]
    pub doubt: String,
}

/// The application's invoicing webhooks.
#[derive(Clone, Debug)]
pub struct InvoicingWebhooks {
    api: Api,
}

fn path(suffix: &str) -> String {
    format!("{}/webhooks{suffix}", domain::Area::Invoicing.prefix())
}

impl InvoicingWebhooks {
    pub(crate) fn new(api: Api) -> Self {
        Self { api }
    }

    /// Subscribes. The very same again is the same one.
    pub async fn subscribe(&self, subscription: &InvoicingSubscription) -> Result<InvoicingWebhook, Error> {
        let call = Call::new(Method::POST, path(""));
        self.api
            .typed(Call { body: Some(subscription.body()), retry_safety: RetrySafety::Idempotent, ..call })
            .await
    }

    pub async fn list(&self) -> Result<Vec<InvoicingWebhook>, Error> {
        self.api.typed(Call::get(path(""))).await
    }

    /// None for what is not there, deleted, or another's.
    pub async fn get(&self, id: Guid) -> Result<Option<InvoicingWebhook>, Error> {
        none_if_not_found(self.api.typed(Call::get(path(&format!("/{id}")))).await)
    }

    /// Deletes it, finally, and tells what it was.
    pub async fn delete(&self, id: Guid) -> Result<InvoicingWebhook, Error> {
        self.api.typed(Call::new(Method::DELETE, path(&format!("/{id}")))).await
    }

    /// Nothing is told until it is resumed, and then what happens from there on.
    pub async fn pause(&self, id: Guid) -> Result<InvoicingWebhook, Error> {
        self.set_paused(id, true).await
    }

    pub async fn resume(&self, id: Guid) -> Result<InvoicingWebhook, Error> {
        self.set_paused(id, false).await
    }

    async fn set_paused(&self, id: Guid, is_paused: bool) -> Result<InvoicingWebhook, Error> {
        let call = Call::new(Method::PUT, path(&format!("/{id}")));
        self.api.typed(Call { body: Some(json!({ "isPaused": is_paused })), ..call }).await
    }

    /// Signs with another secret from now on. For so many hours `webhook-signature` carries both.
    pub async fn rotate_secret(
        &self,
        id: Guid,
        new: &Secret,
        overlap_hours: u32,
    ) -> Result<RotatedSecret, Error> {
        RotatedSecret::request(
            &self.api,
            Call::new(Method::PUT, path(&format!("/{id}/secret"))),
            new,
            overlap_hours,
        )
        .await
    }

    /// Its deliveries, its health, and replays.
    pub fn history(&self, id: Guid) -> History {
        History::new(self.api.clone(), path(&format!("/{id}")), None)
    }
}
