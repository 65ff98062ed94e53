//! The accounting family's own operations: events, subscribe, unsubscribe, status, change, delete.

use axum::body::Body;
use axum::response::Response;
use domain::event::{parse_semantic_name, semantic_name};
use domain::suggest::did_you_mean;
use domain::webhook::EventKinds;
use domain::{Guid, Resource, Secret};
use store::{NewWebhook, SubscribeOutcome, WebhookChange};

use super::answer::{self, Done};
use super::body::Members;
use super::call::Call;
use super::{Answer, Management, Side, refusal};

pub(super) const NAME_CHARS_MAX: usize = 200;

/// The names that can be subscribed to.
pub(super) fn events(resource: Resource) -> Response {
    answer::json(&names(resource))
}

fn names(resource: Resource) -> Vec<String> {
    resource.event_kinds().into_iter().map(|kind| semantic_name(resource, kind)).collect()
}

impl Management {
    pub(super) async fn subscribe(&self, resource: Resource, call: &Call, body: Body) -> Answer {
        let members = Members::read(body).await?;
        let (new, url) = self.wish(resource, call, members)?;
        self.check_receiver(&url, "url").await?;
        let made = self.ports.store.subscribe(new, self.settings.webhooks_max).await;
        match made.map_err(|error| refusal::store(&error))? {
            SubscribeOutcome::Created(webhook) | SubscribeOutcome::Existing(webhook) => {
                self.ports.nudge.touched(webhook.id).await;
                Ok(answer::done(Done::Subscribed, webhook.id))
            }
            SubscribeOutcome::LimitReached => Err(refusal::too_many(self.settings.webhooks_max)),
        }
    }

    pub(super) async fn unsubscribe(&self, resource: Resource, call: &Call, body: Body) -> Answer {
        let members = Members::read(body).await?;
        let (body, _) = self.wish(resource, call, members)?;
        let found = self.ports.store.find_identical_webhook(&body).await;
        let webhook = found.map_err(|error| refusal::store(&error))?.ok_or_else(refusal::no_match)?;
        let webhook = self.change_found(call, &webhook, WebhookChange::Unsubscribe).await?;
        Ok(answer::done(Done::Unsubscribed, webhook.id))
    }

    pub(super) async fn set_status(&self, side: Side, call: &Call, body: Body) -> Answer {
        let mut members = Members::read(body).await?;
        same_webhook(&mut members, call);
        let enable = members.flag("enable");
        let enable = members.finish(enable)?;
        let change = if enable { WebhookChange::Enable } else { WebhookChange::Disable };
        let webhook = self.change(side, call, change).await?;
        Ok(answer::done(Done::StatusSet, webhook.id))
    }

    pub(super) async fn change_url(&self, side: Side, call: &Call, body: Body) -> Answer {
        let mut members = Members::read(body).await?;
        same_webhook(&mut members, call);
        let url = self.url_of(&mut members, "url");
        let url = members.finish(url)?;
        let webhook = self.owned(side, call).await?;
        if webhook.flags().is_final() {
            return Err(refusal::over(&webhook));
        }
        self.check_receiver(&url, "url").await?;
        let change = WebhookChange::ChangeUrl(url.as_str().to_owned());
        let webhook = self.change_found(call, &webhook, change).await?;
        Ok(answer::done(Done::Changed, webhook.id))
    }

    pub(super) async fn delete(&self, side: Side, call: &Call) -> Answer {
        let webhook = self.change(side, call, WebhookChange::Delete).await?;
        Ok(answer::done(Done::Deleted, webhook.id))
    }

    /// The body of subscribe and unsubscribe.
    fn wish(
        &self,
        resource: Resource,
        call: &Call,
        mut members: Members,
    ) -> Result<(NewWebhook, domain::receiver_url::ReceiverUrl), web::ErrorResponse> {
        let name = members.text("thirdPartyApplicationName", NAME_CHARS_MAX);
        let url = self.url_of(&mut members, "url");
        let secret = members.secret();
        let kinds = kinds_of(resource, &mut members);
        let read = name.zip(url).zip(secret.zip(kinds));
        let ((name, url), (secret, kinds)) = members.finish(read)?;
        let new = NewWebhook {
            id: self.ports.random.guid(),
            owner: call.owner(),
            user: call.caller.user.clone(),
            resource,
            kinds,
            name,
            description: String::new(),
            url: url.as_str().to_owned(),
            secret: Secret::new(secret),
            host_mismatch: String::new(),
            enabled: true,
        };
        Ok((new, url))
    }
}

/// The event types that are asked for, each at least once.
fn kinds_of(resource: Resource, members: &mut Members) -> Option<EventKinds> {
    let asked = members.texts("eventTypes")?;
    let unknown = asked.iter().find(|name| parse_semantic_name(resource, name).is_none());
    if let Some(unknown) = unknown {
        let names = names(resource);
        let hint = did_you_mean(unknown, names.iter().map(String::as_str));
        let shown: String = unknown.chars().take(NAME_CHARS_MAX).collect();
        let message = format!(
            "eventTypes has {shown:?}, which is not offered here{hint}; there are {}.",
            names.join(", ")
        );
        members.wrong("eventTypes", "unknown_event_type", message);
        return None;
    }
    Some(asked.iter().filter_map(|name| parse_semantic_name(resource, name)).collect())
}

/// A `webhookId` in the body is the address's again.
fn same_webhook(members: &mut Members, call: &Call) {
    const NAME: &str = "webhookId";
    let Some(text) = members.text_or_none(NAME, NAME_CHARS_MAX) else { return };
    if let Ok(webhook) = call.webhook()
        && Guid::parse(text.trim()) != Some(webhook)
    {
        members.invalid(NAME, "webhookId must be the one of the address.");
    }
}
