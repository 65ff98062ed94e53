//! The owner check: a webhook is visible only to its owner, and only through its own routes.

use domain::Resource;
use domain::webhook::Family;
use store::Webhook;
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

    pub(super) async fn delete_owned(
        &self,
        group: RouteGroup,
        request: &ManagementRequest,
    ) -> Result<Webhook, ErrorResponse> {
        let webhook = self.find_owned(group, request).await?;
        let deleted = self.delete_webhook(&webhook, &request.context()).await;
        deleted.map_err(|error| errors::action_error(&error, "webhookId"))
    }
}
