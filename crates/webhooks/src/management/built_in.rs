//! Webhooks of a sandbox to its built-in receiver, made by the developer portal. They are subscribed by the function of the
//! API, with its limits; whoever calls has checked that client and sandbox are the caller's, and that access stands.

use domain::event::EventKind;
use domain::receiver_url::ReceiverUrl;
use domain::webhook::{EventKinds, Family};
use domain::{AccountId, Guid, Resource, Secret};
use store::{AuditContext, NewWebhook, WebhookOwner};

use super::Management;
use super::actions::{ActionError, ActionResult};

/// A webhook to make.
#[derive(Clone, Debug)]
pub struct BuiltInSubscription {
    /// The tenant of the sandbox, and a client that may enter it.
    pub owner: WebhookOwner,
    /// The sandbox's user.
    pub user: AccountId,
    /// Of the sandbox.
    pub receiver: Guid,
    pub resource: Resource,
    pub kinds: Vec<EventKind>,
    pub name: String,
    pub secret: Secret,
}

impl BuiltInSubscription {
    /// The kinds of events of each webhook that all events of a resource need: in the invoicing family, one webhook for each.
    pub fn kinds_by_webhook(resource: Resource) -> Vec<Vec<EventKind>> {
        let kinds = resource.event_kinds();
        match Family::of(resource) {
            Family::Accounting => vec![kinds],
            Family::Invoicing => kinds.into_iter().map(|kind| vec![kind]).collect(),
        }
    }
}

impl Management {
    /// The address of a built-in receiver.
    pub fn built_in_receiver_url(&self, receiver: Guid) -> String {
        self.built_in_receivers.url(receiver)
    }

    /// Subscribes a webhook of a sandbox to its built-in receiver.
    pub async fn subscribe_to_built_in(
        &self,
        new: BuiltInSubscription,
        context: &AuditContext,
    ) -> ActionResult {
        let text = self.built_in_receivers.url(new.receiver);
        let url = ReceiverUrl::parse(&text, true).map_err(ActionError::InvalidUrl)?;
        let webhook = NewWebhook {
            id: self.ports.random.guid(),
            owner: new.owner,
            user: new.user,
            resource: new.resource,
            kinds: EventKinds::from_iter(new.kinds),
            name: new.name,
            description: String::new(),
            url: url.as_str().to_owned(),
            secret: new.secret,
            host_mismatch: String::new(),
            enabled: true,
        };
        self.subscribe_at(&url, webhook, context).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_events_of_a_resource_are_subscribed() {
        for resource in Resource::all() {
            let kinds = BuiltInSubscription::kinds_by_webhook(resource);
            assert_eq!(kinds.concat(), resource.event_kinds());
            let is_invoicing = Family::of(resource) == Family::Invoicing;
            let expected = if is_invoicing { resource.event_kinds().len() } else { 1 };
            assert_eq!(kinds.len(), expected, "{}", resource.as_str());
        }
    }
}
