//! Webhooks of a resource of the accounting family.

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

/// What to be told, and where.
#[derive(Clone, Debug)]
pub struct Subscription {
    /// The application's name, as people will see it.
    pub application: String,
    /// HTTPS, port 443, on a public address.
    pub url: String,
    /// With which deliveries will be signed: 1 to 256 bytes. One that begins with `whsec_` is base64 of the key for
    /// Standard Webhooks.
    pub secret: Secret,
    /// Semantic names; see [`Webhooks::events`] and [`Subscription::to_all`].
    pub event_types: Vec<String>,
}

impl Subscription {
    /// To everything that can happen to records of this resource.
    pub fn to_all(resource: Resource, application: &str, url: &str, secret: Secret) -> Self {
        Self::to(resource, &resource.event_kinds(), application, url, secret)
    }

    /// To some kinds of event.
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

/// A webhook as the service keeps it.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Webhook {
    pub id: Guid,
    pub third_party_application_name: String,
    pub url: String,
    pub tenant_id: String,
    #[serde(deserialize_with = "secret")]
    pub secret: Secret,
    /// Wanted by its owner, accepted by its receiver, and not given up.
    pub is_active: bool,
    pub is_deleted: bool,
    pub deleted_at: Option<String>,
    pub events: Vec<EventDescriptor>,
    /// Who subscribed.
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

/// A kind of event, by the parts of its name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct EventDescriptor {
    pub app_name: String,
    pub domain: String,
    pub resource: String,
    pub event_type: String,
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
/// let secret = Secret::new("at least 32 random letters");
/// let wanted = Subscription::to_all(customers, "Panel", "https://panel.example/hooks", secret);
/// let id = api.webhooks(customers).subscribe(&wanted).await?;
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

    /// The kinds of event that there are, by their semantic names.
    pub async fn events(&self) -> Result<Vec<String>, Error> {
        self.api.typed(self.call(Method::GET, "/events")).await
    }

    /// Subscribes. The same again is the same webhook, so this may be done at every start; a disabled one it enables.
    pub async fn subscribe(&self, subscription: &Subscription) -> Result<Guid, Error> {
        self.call_returning_id(Method::POST, "/subscribe", Some(subscription.body())).await
    }

    /// Ends the webhook that was made with the very same.
    pub async fn unsubscribe(&self, subscription: &Subscription) -> Result<Guid, Error> {
        self.call_returning_id(Method::POST, "/unsubscribe", Some(subscription.body())).await
    }

    /// Those that are neither deleted nor unsubscribed.
    pub async fn list(&self) -> Result<Vec<Webhook>, Error> {
        self.api.typed(self.call(Method::GET, "")).await
    }

    /// One, deleted ones too; None for what is not there, or another's.
    pub async fn get(&self, id: Guid) -> Result<Option<Webhook>, Error> {
        none_if_not_found(self.api.typed(self.call(Method::GET, &format!("/{id}"))).await)
    }

    /// Lets deliveries go on: after a pause by its owner from the next event, after one by the service from the first
    /// that was not delivered.
    pub async fn enable(&self, id: Guid) -> Result<(), Error> {
        self.status(id, true).await
    }

    /// Stops deliveries.
    pub async fn disable(&self, id: Guid) -> Result<(), Error> {
        self.status(id, false).await
    }

    async fn status(&self, id: Guid, enable: bool) -> Result<(), Error> {
        let body = json!({ "webhookId": id, "enable": enable });
        self.call_returning_id(Method::PUT, &format!("/status/{id}"), Some(body)).await.map(drop)
    }

    /// Sends deliveries elsewhere, once the new address has accepted. Events wait for it; none is lost.
    pub async fn change_url(&self, id: Guid, url: &str) -> Result<(), Error> {
        let body = json!({ "webhookId": id, "url": url });
        self.call_returning_id(Method::PUT, &format!("/change/{id}"), Some(body)).await.map(drop)
    }

    /// Deletes it, finally.
    pub async fn delete(&self, id: Guid) -> Result<(), Error> {
        self.call_returning_id(Method::DELETE, &format!("/delete/{id}"), None).await.map(drop)
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
            self.call(Method::PUT, &format!("/secret/{id}")),
            new,
            overlap_hours,
        )
        .await
    }

    /// Its deliveries, its health, and replays.
    pub fn history(&self, id: Guid) -> History {
        let context = Some(HeaderValue::from_static("none"));
        History::new(self.api.clone(), format!("{}/{id}", self.path), context)
    }

    /// Waits until the receiver has accepted.
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
        // Each of these ends in the same, however often it is done.
        let call = Call { body, retry_safety: RetrySafety::Idempotent, ..self.call(method, suffix) };
        let call_returning_id: WebhookIdResponse = self.api.typed(call).await?;
        Ok(call_returning_id.webhook_id)
    }
}
