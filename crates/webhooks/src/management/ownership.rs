//! The owner check: a webhook is visible only to its owner, and only through its own routes.

use domain::Resource;
use domain::webhook::Family;
use store::{Webhook, WebhookChange, WebhookChangeOutcome};
use web::ErrorResponse;

use super::request::ManagementRequest;
use super::{Management, RouteGroup, errors};

impl RouteGroup {
    fn contains(self, resource: Resource) -> bool {
        match self {
            Self::Resource(own) => own == resource,
            Self::Invoicing => Family::of(resource) == Family::Invoicing,
        }
    }
}

impl Management {
    /// The caller's webhook that the path names. A deleted one of the accounting family can still be read, one of
    /// invoicing cannot.
    pub(super) async fn find_owned(
        &self,
        group: RouteGroup,
        request: &ManagementRequest,
    ) -> Result<Webhook, ErrorResponse> {
        let id = request.webhook()?;
        let found = self.ports.store.find_webhook(id).await.map_err(|error| errors::store_error(&error))?;
        let owner = request.owner();
        let is_visible = |webhook: &Webhook| {
            webhook.owner == owner
                && group.contains(webhook.resource)
                && (group != RouteGroup::Invoicing || webhook.deleted_at.is_none())
        };
        found.filter(is_visible).ok_or_else(errors::webhook_not_found)
    }

    /// The same, unless it is unsubscribed or deleted.
    pub(super) async fn find_live(
        &self,
        group: RouteGroup,
        request: &ManagementRequest,
    ) -> Result<Webhook, ErrorResponse> {
        let webhook = self.find_owned(group, request).await?;
        if webhook.flags().is_final() { Err(errors::webhook_not_found()) } else { Ok(webhook) }
    }

    /// Changes a webhook of the caller's. Once this returns, the engine starts nothing that does not know of the change.
    pub(super) async fn change(
        &self,
        group: RouteGroup,
        request: &ManagementRequest,
        change: WebhookChange,
    ) -> Result<Webhook, ErrorResponse> {
        let webhook = self.find_owned(group, request).await?;
        self.change_webhook(request, &webhook, change).await
    }

    pub(super) async fn change_webhook(
        &self,
        request: &ManagementRequest,
        webhook: &Webhook,
        change: WebhookChange,
    ) -> Result<Webhook, ErrorResponse> {
        let (owner, context) = (request.owner(), request.context());
        let changed = self.ports.store.change_webhook(webhook.id, Some(&owner), change, &context).await;
        match changed.map_err(|error| errors::store_error(&error))? {
            WebhookChangeOutcome::Changed(webhook) => {
                self.ports.notifier.webhook_changed(webhook.id).await;
                Ok(webhook)
            }
            WebhookChangeOutcome::Ended(webhook) => Err(errors::webhook_ended(&webhook)),
            WebhookChangeOutcome::Duplicate => Err(errors::duplicate_webhook()),
            WebhookChangeOutcome::Unknown => Err(errors::webhook_not_found()),
        }
    }
}
