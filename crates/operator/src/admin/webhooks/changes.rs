//! Enabling, disabling and deleting webhooks. Every change leaves an audit entry.

use domain::ErrorCode;
use store::{WebhookChange, WebhookChangeOutcome};

use super::{WebhookAdmin, WebhookJson, missing_webhook};
use crate::admin::{AdminError, Authority, Permission, Result};

impl WebhookAdmin {
    /// Enables a webhook; an active one stays as it is.
    pub async fn enable(&self, id: &str, by: &Authority) -> Result<WebhookJson> {
        self.change(id, WebhookChange::Enable, by).await
    }

    pub async fn disable(&self, id: &str, by: &Authority) -> Result<WebhookJson> {
        self.change(id, WebhookChange::Disable, by).await
    }

    /// Deletes a webhook permanently.
    pub async fn delete(&self, id: &str, by: &Authority) -> Result<WebhookJson> {
        self.change(id, WebhookChange::Delete, by).await
    }

    async fn change(&self, id: &str, change: WebhookChange, by: &Authority) -> Result<WebhookJson> {
        let context = by.require(Permission::Webhooks)?;
        let webhook = self.find(id).await?;
        match self.store.change_webhook(webhook.id, None, change, context).await? {
            WebhookChangeOutcome::Changed(webhook) => self.json(webhook).await,
            WebhookChangeOutcome::Ended(webhook) => {
                let state = if webhook.deleted_at.is_some() { "deleted" } else { "unsubscribed" };
                let why = format!("webhook {id} is {state} permanently; its owner can subscribe again");
                Err(AdminError::Conflict { code: ErrorCode::Over, why })
            }
            WebhookChangeOutcome::Duplicate => {
                let why = format!("webhook {id} would then equal another one of its owner; use that one");
                Err(AdminError::Conflict { code: ErrorCode::Alike, why })
            }
            WebhookChangeOutcome::Unknown => Err(missing_webhook(id)),
        }
    }
}
