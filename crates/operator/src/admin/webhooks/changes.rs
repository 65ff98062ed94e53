//! Enabling, disabling and deleting webhooks. Every change leaves an audit entry.

use store::{AuditContext, AuditEntry, AuditKind, WebhookChange, WebhookChangeOutcome};

use super::{WebhookAdmin, WebhookJson, missing_webhook};
use crate::admin::{AdminError, Result};

impl WebhookAdmin {
    /// Enables a webhook; an active one stays as it is.
    pub async fn enable(&self, id: &str, context: &AuditContext) -> Result<WebhookJson> {
        self.change(id, WebhookChange::Enable, "enabled", context).await
    }

    pub async fn disable(&self, id: &str, context: &AuditContext) -> Result<WebhookJson> {
        self.change(id, WebhookChange::Disable, "disabled", context).await
    }

    /// Deletes a webhook permanently.
    pub async fn delete(&self, id: &str, context: &AuditContext) -> Result<WebhookJson> {
        self.change(id, WebhookChange::Delete, "deleted", context).await
    }

    /// `change_name`: the change in the words of the audit.
    async fn change(
        &self,
        id: &str,
        change: WebhookChange,
        change_name: &str,
        context: &AuditContext,
    ) -> Result<WebhookJson> {
        let webhook = self.find(id).await?;
        let entry = AuditEntry::new(AuditKind::WebhookChanged, self.clock.now(), context)
            .tenant(&webhook.owner.tenant)
            .client(&webhook.owner.client)
            .note(format!("webhook {}: {change_name} by the operator", webhook.id));
        match self.store.change_webhook_audited(webhook.id, None, change, Some(entry)).await? {
            WebhookChangeOutcome::Changed(webhook) => self.json(webhook).await,
            WebhookChangeOutcome::Ended(webhook) => {
                let state = if webhook.deleted_at.is_some() { "deleted" } else { "unsubscribed" };
                let why = format!("webhook {id} is {state} permanently; its owner can subscribe again");
                Err(AdminError::Conflict { code: "over", why })
            }
            WebhookChangeOutcome::Duplicate => {
                let why = format!("webhook {id} would then equal another one of its owner; use that one");
                Err(AdminError::Conflict { code: "alike", why })
            }
            WebhookChangeOutcome::Unknown => Err(missing_webhook(id)),
        }
    }
}
