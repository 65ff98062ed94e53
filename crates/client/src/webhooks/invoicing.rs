//! Manages the webhooks of invoicing.

use domain::{Guid, Secret};
use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::history::{History, RotatedSecret};
use crate::Error;
use crate::api::Api;
use crate::api::{Call, none_if_not_found};
use crate::http_client::RetrySafety;

/// The kind of change to subscribe to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum InvoicingAction {
    /// A record was created.
    Created,
    /// A record was updated.
    Updated,
    /// A record was deleted.
    Deleted,
}

/// The settings of a new invoicing webhook.
#[derive(Clone, Debug)]
pub struct InvoicingSubscription {
    /// The URL of the receiver: `https://<host>/api/webhooks/incoming/Invoicing`.
    pub uri: String,
    /// The entity, such as `Customer` or `SaleInvoice`.
    pub entity: String,
    /// The action. `CompanyData` and `CompanySettings` have only `Updated`.
    pub action: InvoicingAction,
    /// The secret to sign deliveries with.
    pub secret: Secret,
    /// Whether to create the subscription paused.
    pub is_paused: bool,
    /// The name of the application.
    pub application_name: String,
    /// A description for people.
    pub description: String,
}

impl InvoicingSubscription {
    /// A subscription for a receiver on this host.
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

/// A webhook of invoicing.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InvoicingWebhook {
    /// The id of the subscription.
    pub id: Guid,
    /// The URL of the receiver.
    pub uri: String,
    /// The entity, such as `SaleInvoice`.
    pub entity: String,
    /// The action it subscribes to.
    pub action: InvoicingAction,
    /// Whether it is paused.
    pub is_paused: bool,
    /// The name of the application.
    pub application_name: String,
    /// The description for people.
    pub description: String,
    /// `Pending` until the receiver has accepted the handshake, then `Effective`; or `Paused`, `Disabled` or `Deleted`.
    pub status: String,
    /// Why the receiver's host may not belong to the subscriber; empty if there is no doubt.
    #[serde(default)]
    pub doubt: String,
}

/// The invoicing webhooks of the client.
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

    /// Creates a webhook. It is idempotent: the same subscription returns the same webhook.
    pub async fn subscribe(&self, subscription: &InvoicingSubscription) -> Result<InvoicingWebhook, Error> {
        let call = Call::new(Method::POST, path(""));
        self.api
            .typed(Call { body: Some(subscription.body()), retry_safety: RetrySafety::Idempotent, ..call })
            .await
    }

    /// All subscriptions that are not deleted.
    pub async fn list(&self) -> Result<Vec<InvoicingWebhook>, Error> {
        self.api.typed(Call::get(path(""))).await
    }

    /// One webhook; `None` if it does not exist, is deleted or belongs to another client.
    pub async fn get(&self, id: Guid) -> Result<Option<InvoicingWebhook>, Error> {
        none_if_not_found(self.api.typed(Call::get(path(&format!("/{id}")))).await)
    }

    /// Deletes a webhook and returns its last state. Deletion is permanent.
    pub async fn delete(&self, id: Guid) -> Result<InvoicingWebhook, Error> {
        self.api.typed(Call::new(Method::DELETE, path(&format!("/{id}")))).await
    }

    /// Pauses deliveries. Changes made while paused are not delivered later.
    pub async fn pause(&self, id: Guid) -> Result<InvoicingWebhook, Error> {
        self.set_paused(id, true).await
    }

    /// Resumes a paused subscription: deliveries continue with the next change.
    pub async fn resume(&self, id: Guid) -> Result<InvoicingWebhook, Error> {
        self.set_paused(id, false).await
    }

    async fn set_paused(&self, id: Guid, is_paused: bool) -> Result<InvoicingWebhook, Error> {
        let call = Call::new(Method::PUT, path(&format!("/{id}")));
        self.api.typed(Call { body: Some(json!({ "isPaused": is_paused })), ..call }).await
    }

    /// Replaces the secret. For `overlap_hours`, `webhook-signature` contains a signature of both secrets.
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

    /// The deliveries, health and replays of a webhook.
    pub fn history(&self, id: Guid) -> History {
        History::new(self.api.clone(), path(&format!("/{id}")), None)
    }
}
