//! Finding a webhook for who asks: only its owner sees it, and only where it belongs.

use domain::Resource;
use domain::webhook::Family;
use store::{Webhook, WebhookChange, WebhookChanged};
use web::Refusal;

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
    pub(super) async fn owned(&self, side: Side, call: &Call) -> Result<Webhook, Refusal> {
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

    /// The same, where it is neither unsubscribed nor deleted.
    pub(super) async fn live(&self, side: Side, call: &Call) -> Result<Webhook, Refusal> {
        let webhook = self.owned(side, call).await?;
        if webhook.flags().is_over() { Err(refusal::no_webhook()) } else { Ok(webhook) }
    }

    /// Changes a webhook of the caller's. When this returns, nothing starts for it any more that does not know of the
    /// change.
    pub(super) async fn change(
        &self,
        side: Side,
        call: &Call,
        change: WebhookChange,
    ) -> Result<Webhook, Refusal> {
        let webhook = self.owned(side, call).await?;
        self.change_found(call, &webhook, change).await
    }

    pub(super) async fn change_found(
        &self,
        call: &Call,
        webhook: &Webhook,
        change: WebhookChange,
    ) -> Result<Webhook, Refusal> {
        let changed = self.ports.store.change_webhook(webhook.id, Some(&call.owner()), change).await;
        match changed.map_err(|error| refusal::store(&error))? {
            WebhookChanged::Done(webhook) => {
                self.ports.nudge.touched(webhook.id).await;
                Ok(webhook)
            }
            WebhookChanged::Over(webhook) => Err(refusal::over(&webhook)),
            WebhookChanged::Alike => Err(refusal::alike()),
            WebhookChanged::Unknown => Err(refusal::no_webhook()),
        }
    }
}
