//! Webhooks as the operator sees them: those of every owner, with status and health, never with their secrets. The API and
//! the command line show the same.

mod bulk;
mod changes;
mod history;
mod history_json;
mod list;
mod search;
#[cfg(test)]
mod tests;
mod webhook_json;

use std::sync::Arc;

use domain::{Clock, Guid};
use store::{Store, Webhook};

use super::{AdminError, Result};
use crate::ports::WebhookHistory;

pub use bulk::{
    BULK_WEBHOOKS_MAX, BulkAction, BulkResultJson, BulkResultsJson, BulkSelection, BulkSelectionJson,
};
pub(super) use history::admin_error;
pub use history_json::{AttemptJson, DeliveryJson, DeliveryPageJson, HealthJson, ReplayJson, ReplayPageJson};
pub use list::{WebhookCursor, WebhookListQuery, WebhookPageJson};
pub use search::{FoundWebhook, FoundWebhooks, WebhookFilter, WebhookState};
pub(crate) use webhook_json::{Suspensions, WebhookStatusSchema, names_schema, resource_schema};
pub use webhook_json::{WebhookFamily, WebhookJson, subscribable_resources};

/// The administration of webhooks.
#[derive(Clone)]
pub struct WebhookAdmin {
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    pub history: Arc<dyn WebhookHistory>,
}

impl std::fmt::Debug for WebhookAdmin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WebhookAdmin")
    }
}

impl WebhookAdmin {
    /// A webhook with its health.
    pub async fn show(&self, id: &str) -> Result<WebhookJson> {
        let webhook = self.find(id).await?;
        let health = self.history.health(webhook.id).await.map_err(|error| admin_error(error, id))?;
        Ok(WebhookJson { health: Some(health.into()), ..self.json(webhook).await? })
    }

    async fn find(&self, id: &str) -> Result<Webhook> {
        let found = match Guid::parse(id) {
            Some(guid) => self.store.find_webhook(guid).await?,
            None => None,
        };
        found.ok_or_else(|| missing_webhook(id))
    }

    async fn json(&self, webhook: Webhook) -> Result<WebhookJson> {
        let suspension = Suspensions::of(&*self.store, std::slice::from_ref(&webhook)).await?.get(&webhook);
        Ok(WebhookJson::new(webhook, suspension))
    }
}

fn missing_webhook(id: &str) -> AdminError {
    AdminError::NotFound(format!("webhook \"{id}\""))
}
