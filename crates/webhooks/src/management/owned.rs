//! Finding a webhook for who asks: only its owner sees it, and only where it belongs.

use domain::Resource;
use domain::webhook::Family;
use store::{LoadedWebhook, Webhook, WebhookChange, WebhookChangeOutcome};
use web::ErrorResponse;

use super::call::Call;
use super::{Management, Side, refusal};

impl Side {
    fn has(self, resource: Resource) -> bool {
        match self {
            Self::Of(own) => own == resource,
            Self::Invoicing => Family::of(resource) == Family::Invoicing,
        }
    }
}

impl Management {
    /// The caller's webhook that the address names. A deleted one of the accounting family can still be read, one of
    /// invoicing is gone.
    pub(super) async fn owned(&self, side: Side, call: &Call) -> Result<Webhook, ErrorResponse> {
        let id = call.webhook()?;
        let found = self.ports.store.find_webhook(id).await.map_err(|error| refusal::store(&error))?;
        let owner = call.owner();
        let is_there = |one: &Webhook| {
            one.owner == owner
                && side.has(one.resource)
                && (side != Side::Invoicing || one.deleted_at.is_none())
        };
        found.filter(is_there).ok_or_else(refusal::no_webhook)
    }

    /// The same with what its deliveries are known by; one that is over has none.
    pub(super) async fn owned_hook(&self, side: Side, call: &Call) -> Result<LoadedWebhook, ErrorResponse> {
        let webhook = self.owned(side, call).await?;
        let hook = self.ports.store.load_webhook(webhook.id).await.map_err(|error| refusal::store(&error))?;
        hook.ok_or_else(refusal::no_webhook)
    }

    /// Changes a webhook of the caller's. When this returns, nothing starts for it any more that does not know of the
    /// change.
    pub(super) async fn change(
        &self,
        side: Side,
        call: &Call,
        change: WebhookChange,
    ) -> Result<Webhook, ErrorResponse> {
        let webhook = self.owned(side, call).await?;
        self.change_found(call, &webhook, change).await
    }

    pub(super) async fn change_found(
        &self,
        call: &Call,
        webhook: &Webhook,
        change: WebhookChange,
    ) -> Result<Webhook, ErrorResponse> {
        let changed = self.ports.store.change_webhook(webhook.id, Some(&call.owner()), change).await;
        match changed.map_err(|error| refusal::store(&error))? {
            WebhookChangeOutcome::Changed(webhook) => {
                self.ports.nudge.touched(webhook.id).await;
                Ok(webhook)
            }
            WebhookChangeOutcome::Ended(webhook) => Err(refusal::over(&webhook)),
            WebhookChangeOutcome::Duplicate => Err(refusal::alike()),
            WebhookChangeOutcome::Unknown => Err(refusal::no_webhook()),
        }
    }
}
