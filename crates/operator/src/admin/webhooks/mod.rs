//! Webhooks as the operator sees them: everybody's, with how they stand and how they do, but never their secrets. The
//! API and the command line show the same.

mod acts;
mod deliveries;
mod delivery;
mod health;
mod list;
mod record;
mod replays;
#[cfg(test)]
mod tests;

use domain::Guid;
use store::{AuditContext, AuditEntry, AuditKind, Webhook};

use super::{Admin, AdminError, Result};

pub(crate) use deliveries::PAGE_SIZE_MAX as DELIVERIES_MAX;
pub use deliveries::{DeliveryAsk, DeliveryMark, DeliveryPage};
pub use delivery::{AttemptShown, DeliveryShown, DeliveryStatus};
pub use health::Health;
pub use list::{WebhookAsk, WebhookMark, WebhookPage};
pub(crate) use record::resources;
pub use record::{FamilyWord, WebhookShown, WebhookStatus, subscribable};
pub use replays::{ReplayPage, ReplayShown};

impl Admin {
    /// Everything about a webhook but its secret.
    pub async fn webhook(&self, id: &str) -> Result<WebhookShown> {
        let webhook = self.kept_webhook(id).await?;
        let health = self.health(&webhook).await?;
        let mut shown = self.shown_webhook(webhook).await?;
        shown.health = Some(health);
        Ok(shown)
    }

    async fn kept_webhook(&self, id: &str) -> Result<Webhook> {
        let found = match Guid::parse(id) {
            Some(guid) => self.store.find_webhook(guid).await?,
            None => None,
        };
        found.ok_or_else(|| AdminError::NotFound(format!("webhook \"{id}\"")))
    }

    async fn shown_webhook(&self, webhook: Webhook) -> Result<WebhookShown> {
        let disabled_owners = self.store.disabled_owners().await?;
        Ok(WebhookShown::of(webhook, &disabled_owners))
    }

    /// What the audit is told of what is done to a webhook.
    fn entry(&self, kind: AuditKind, webhook: &Webhook, context: &AuditContext, what: &str) -> AuditEntry {
        AuditEntry::new(kind, self.now(), context)
            .tenant(&webhook.owner.tenant)
            .client(&webhook.owner.client)
            .note(format!("webhook {}: {what} by the operator", webhook.id))
    }
}
