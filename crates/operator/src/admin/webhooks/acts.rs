//! What the operator does to a webhook. Each act that changes something is in the audit.

use store::{AuditContext, AuditKind, WebhookChange, WebhookChangeOutcome};

use super::WebhookShown;
use crate::admin::{Admin, AdminError, Result};

impl Admin {
    /// Enables a webhook; one that is active stays as it is.
    pub async fn enable_webhook(&self, id: &str, context: &AuditContext) -> Result<WebhookShown> {
        self.change_webhook(id, WebhookChange::Enable, "enabled", context).await
    }

    pub async fn disable_webhook(&self, id: &str, context: &AuditContext) -> Result<WebhookShown> {
        self.change_webhook(id, WebhookChange::Disable, "disabled", context).await
    }

    /// Deletes a webhook, for good.
    pub async fn delete_webhook(&self, id: &str, context: &AuditContext) -> Result<WebhookShown> {
        self.change_webhook(id, WebhookChange::Delete, "deleted", context).await
    }

    async fn change_webhook(
        &self,
        id: &str,
        change: WebhookChange,
        what: &str,
        context: &AuditContext,
    ) -> Result<WebhookShown> {
        let before = self.kept_webhook(id).await?;
        let entry = self.entry(AuditKind::WebhookChanged, &before, context, what);
        match self.store.change_webhook_audited(before.id, None, change, Some(entry)).await? {
            WebhookChangeOutcome::Changed(webhook) => self.shown_webhook(webhook).await,
            WebhookChangeOutcome::Ended(webhook) => {
                let word = if webhook.deleted_at.is_some() { "deleted" } else { "unsubscribed" };
                let why = format!("webhook {id} is {word}, which is final; its owner can subscribe again");
                Err(AdminError::Refused { code: "over", why })
            }
            WebhookChangeOutcome::Duplicate => {
                let why = format!("another webhook of the same owner is like {id}; use that one");
                Err(AdminError::Refused { code: "alike", why })
            }
            WebhookChangeOutcome::Unknown => Err(AdminError::Missing(format!("webhook \"{id}\""))),
        }
    }
}
