//! Manages the webhooks of a resource of the accounting family.

use std::fmt;
use std::time::Duration;

use domain::event::{EventKind, semantic_name};
use domain::{Guid, Resource, Secret};
use http::Method;
use http::header::HeaderValue;
use serde::Deserialize;
use serde_json::{Value, json};

use super::history::{History, RotatedSecret};
use crate::Error;
use crate::api::Api;
use crate::api::{Call, none_if_not_found};
use crate::http_client::RetrySafety;

const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// The settings of a new webhook.
#[derive(Clone, Debug)]
pub struct Subscription {
    /// The name of the application, shown to people.
    pub application: String,
    /// The URL of the receiver: https, port 443, on a public address.
    pub url: String,
    /// The secret to sign deliveries with: 1 to 256 bytes. After the prefix `whsec_`, it is the Standard Webhooks key in
    /// base64.
    pub secret: Secret,
    /// The semantic names of the events; see [`Webhooks::events`] and [`Subscription::to_all`].
    pub event_types: Vec<String>,
}

impl Subscription {
    /// Subscribes to all kinds of event of a resource.
    pub fn to_all(resource: Resource, application: &str, url: &str, secret: Secret) -> Self {
        Self::to(resource, &resource.event_kinds(), application, url, secret)
    }

    /// Subscribes to some kinds of event of a resource.
    pub fn to(resource: Resource, kinds: &[EventKind], application: &str, url: &str, secret: Secret) -> Self {
        let event_types = kinds.iter().map(|kind| semantic_name(resource, *kind)).collect();
        Self { application: application.to_owned(), url: url.to_owned(), secret, event_types }
    }

    fn body(&self) -> Value {
        json!({
            "thirdPartyApplicationName": self.application, "url": self.url,
            "secret": self.secret.reveal(), "eventTypes": self.event_types,
        })
    }
}

/// A webhook of the accounting family.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Webhook {
    /// The id of the webhook.
    pub id: Guid,
    /// The name of the application.
    pub third_party_application_name: String,
    /// The URL of the receiver.
    pub url: String,
    /// The tenant whose changes it delivers.
    pub tenant_id: String,
    /// The current secret.
    #[serde(deserialize_with = "secret")]
    pub secret: Secret,
    /// Whether it delivers: it is enabled, its receiver accepted the handshake, and the service has not disabled it.
    pub is_active: bool,
    /// Whether it was deleted or unsubscribed.
    pub is_deleted: bool,
    /// When it was deleted: ISO 8601, UTC.
    pub deleted_at: Option<String>,
    /// The events it subscribes to.
    pub events: Vec<EventDescriptor>,
    /// The user who created the subscription.
    pub user_identifier: String,
}

impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Webhook");
        debug
            .field("id", &self.id)
            .field("url", &self.url)
            .field("is_active", &self.is_active)
            .finish_non_exhaustive()
    }
}

fn secret<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Secret, D::Error> {
    String::deserialize(from).map(Secret::new)
}

/// The parts of the name of an event.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct EventDescriptor {
    /// The first part of the semantic name: `Svc`.
    pub app_name: String,
    /// The second part, such as `ACC`.
    pub domain: String,
    /// The third part, such as `Customers`.
    pub resource: String,
    /// The last part, such as `CustomerCreated`.
    pub event_type: String,
    /// The whole name, such as `Svc.ACC.Customers.CustomerCreated`.
    pub semantic_name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WebhookIdResponse {
    webhook_id: Guid,
}

/// The webhooks of one resource.
///
/// ```no_run
/// # use std::time::Duration;
/// # use aldaba_client::{Error, Resource, Secret, api::Api, webhooks::Subscription};
/// # async fn example(api: Api) -> Result<(), Error> {
/// let customers = Resource::customers();
/// let secret = Secret::new("at least 32 random characters");
/// let subscription = Subscription::to_all(customers, "Panel", "https://panel.example/hooks", secret);
/// let id = api.webhooks(customers).subscribe(&subscription).await?;
/// // The service now posts an Acknowledge to the receiver.
/// api.webhooks(customers).wait_until_active(id, Duration::from_secs(30)).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Webhooks {
    api: Api,
    path: String,
}

impl Webhooks {
    pub(crate) fn new(api: Api, resource: Resource) -> Self {
        Self { api, path: format!("{}/webhooks", resource.path()) }
    }

    fn call(&self, method: Method, suffix: &str) -> Call {
        let call = Call::new(method, format!("{}{suffix}", self.path));
        Call { context: Some(HeaderValue::from_static("none")), ..call }
    }

    /// The semantic names of all events of the resource.
    pub async fn events(&self) -> Result<Vec<String>, Error> {
        self.api.typed(self.call(Method::GET, "/events")).await
    }

    /// Creates a webhook. It is idempotent: the same subscription returns the same webhook and enables it, so
    /// applications can call this at every start.
    pub async fn subscribe(&self, subscription: &Subscription) -> Result<Guid, Error> {
        self.call_returning_id(Method::POST, "/subscribe", Some(subscription.body())).await
    }

    /// Ends the webhook with exactly this subscription.
    pub async fn unsubscribe(&self, subscription: &Subscription) -> Result<Guid, Error> {
        self.call_returning_id(Method::POST, "/unsubscribe", Some(subscription.body())).await
    }

    /// All webhooks that are neither deleted nor unsubscribed.
    pub async fn list(&self) -> Result<Vec<Webhook>, Error> {
        self.api.typed(self.call(Method::GET, "")).await
    }

    /// One webhook, even if it is deleted; `None` if it does not exist or belongs to another client.
    pub async fn get(&self, id: Guid) -> Result<Option<Webhook>, Error> {
        none_if_not_found(self.api.typed(self.call(Method::GET, &format!("/{id}"))).await)
    }

    /// Enables deliveries. If the owner had disabled the webhook, they continue with the next event; if the service had,
    /// with the first undelivered event.
    pub async fn enable(&self, id: Guid) -> Result<(), Error> {
        self.status(id, true).await
    }

    /// Disables deliveries.
    pub async fn disable(&self, id: Guid) -> Result<(), Error> {
        self.status(id, false).await
    }

    async fn status(&self, id: Guid, enable: bool) -> Result<(), Error> {
        let body = json!({ "webhookId": id, "enable": enable });
        self.call_returning_id(Method::PUT, &format!("/status/{id}"), Some(body)).await.map(drop)
    }

    /// Changes the URL. Deliveries continue once the new URL has accepted the handshake; no event is lost.
    pub async fn change_url(&self, id: Guid, url: &str) -> Result<(), Error> {
        let body = json!({ "webhookId": id, "url": url });
        self.call_returning_id(Method::PUT, &format!("/change/{id}"), Some(body)).await.map(drop)
    }

    /// Deletes the webhook. Deletion is permanent.
    pub async fn delete(&self, id: Guid) -> Result<(), Error> {
        self.call_returning_id(Method::DELETE, &format!("/delete/{id}"), None).await.map(drop)
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
            self.call(Method::PUT, &format!("/secret/{id}")),
            new,
            overlap_hours,
        )
        .await
    }

    /// The deliveries, health and replays of a webhook.
    pub fn history(&self, id: Guid) -> History {
        let context = Some(HeaderValue::from_static("none"));
        History::new(self.api.clone(), format!("{}/{id}", self.path), context)
    }

    /// Waits until the receiver has accepted the handshake.
    pub async fn wait_until_active(&self, id: Guid, retry_policy: Duration) -> Result<(), Error> {
        let polling = async {
            loop {
                if self.get(id).await?.is_some_and(|webhook| webhook.is_active) {
                    return Ok(());
                }
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        };
        let late = Error::TimedOut { call: format!("the Acknowledge of webhook {id}"), after: retry_policy };
        tokio::time::timeout(retry_policy, polling).await.unwrap_or(Err(late))
    }

    async fn call_returning_id(
        &self,
        method: Method,
        suffix: &str,
        body: Option<Value>,
    ) -> Result<Guid, Error> {
        // All of these calls are idempotent, even the POSTs.
        let call = Call { body, retry_safety: RetrySafety::Idempotent, ..self.call(method, suffix) };
        let call_returning_id: WebhookIdResponse = self.api.typed(call).await?;
        Ok(call_returning_id.webhook_id)
    }
}
