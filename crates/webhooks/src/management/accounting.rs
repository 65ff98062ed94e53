//! The operations of the accounting family: events, subscribe, unsubscribe, status, change, delete.

use axum::body::Body;
use axum::response::Response;
use domain::event::{parse_semantic_name, semantic_name};
use domain::suggest::did_you_mean;
use domain::webhook::EventKinds;
use domain::{ErrorCode, Guid, Resource, Secret};
use store::{NewWebhook, WebhookChange};

use super::body::JsonBody;
use super::request::ManagementRequest;
use super::response::{self, OperationState};
use super::{HandlerResult, Management, RouteGroup, errors};

pub(super) const NAME_CHARS_MAX: usize = 200;

/// The semantic names that can be subscribed to.
pub(super) fn list_events(resource: Resource) -> Response {
    response::json(&event_names(resource))
}

fn event_names(resource: Resource) -> Vec<String> {
    resource.event_kinds().into_iter().map(|kind| semantic_name(resource, kind)).collect()
}

impl Management {
    pub(super) async fn subscribe(
        &self,
        resource: Resource,
        request: &ManagementRequest,
        body: Body,
    ) -> HandlerResult {
        let members = JsonBody::read(body).await?;
        let (new, url) = self.parse_subscription(resource, request, members)?;
        let subscribed = self.subscribe_at(&url, new, &request.context()).await;
        let webhook = subscribed.map_err(|error| errors::action_error(&error, "url"))?;
        Ok(response::operation_result(OperationState::Subscribed, webhook.id))
    }

    pub(super) async fn unsubscribe(
        &self,
        resource: Resource,
        request: &ManagementRequest,
        body: Body,
    ) -> HandlerResult {
        let members = JsonBody::read(body).await?;
        let (body, _) = self.parse_subscription(resource, request, members)?;
        let found = self.ports.store.find_subscribed_webhook(&body).await;
        let webhook =
            found.map_err(|error| errors::store_error(&error))?.ok_or_else(errors::subscription_not_found)?;
        let changed = self.apply(&webhook, WebhookChange::Unsubscribe, &request.context()).await;
        let webhook = changed.map_err(|error| errors::action_error(&error, "webhookId"))?;
        Ok(response::operation_result(OperationState::Unsubscribed, webhook.id))
    }

    pub(super) async fn set_status(
        &self,
        group: RouteGroup,
        request: &ManagementRequest,
        body: Body,
    ) -> HandlerResult {
        let mut members = JsonBody::read(body).await?;
        check_webhook_id(&mut members, request);
        let enable = members.flag("enable");
        let enable = members.finish(enable)?;
        let webhook = self.find_owned(group, request).await?;
        let changed = self.set_enabled(&webhook, enable, &request.context()).await;
        let webhook = changed.map_err(|error| errors::action_error(&error, "webhookId"))?;
        Ok(response::operation_result(OperationState::StatusSet, webhook.id))
    }

    pub(super) async fn handle_change(
        &self,
        group: RouteGroup,
        request: &ManagementRequest,
        body: Body,
    ) -> HandlerResult {
        let mut members = JsonBody::read(body).await?;
        check_webhook_id(&mut members, request);
        let url = self.parse_url(&mut members, "url");
        let url = members.finish(url)?;
        let webhook = self.find_owned(group, request).await?;
        let changed = self.change_parsed_url(&webhook, &url, &request.context()).await;
        let webhook = changed.map_err(|error| errors::action_error(&error, "url"))?;
        Ok(response::operation_result(OperationState::Changed, webhook.id))
    }

    pub(super) async fn delete(&self, group: RouteGroup, request: &ManagementRequest) -> HandlerResult {
        let webhook = self.delete_owned(group, request).await?;
        Ok(response::operation_result(OperationState::Deleted, webhook.id))
    }

    /// Parses the body of subscribe and unsubscribe.
    fn parse_subscription(
        &self,
        resource: Resource,
        request: &ManagementRequest,
        mut members: JsonBody,
    ) -> Result<(NewWebhook, domain::receiver_url::ReceiverUrl), web::ErrorResponse> {
        let name = members.text("thirdPartyApplicationName", NAME_CHARS_MAX);
        let url = self.parse_url(&mut members, "url");
        let secret = members.secret();
        let kinds = parse_event_types(resource, &mut members);
        let read = name.zip(url).zip(secret.zip(kinds));
        let ((name, url), (secret, kinds)) = members.finish(read)?;
        let new = NewWebhook {
            id: self.ports.random.guid(),
            owner: request.owner(),
            user: request.caller.user.clone(),
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

/// The set of `eventTypes`.
pub(super) fn parse_event_types(resource: Resource, members: &mut JsonBody) -> Option<EventKinds> {
    let requested = members.texts("eventTypes")?;
    let unknown = requested.iter().find(|name| parse_semantic_name(resource, name).is_none());
    if let Some(unknown) = unknown {
        let names = event_names(resource);
        let hint = did_you_mean(unknown, names.iter().map(String::as_str));
        let excerpt: String = unknown.chars().take(NAME_CHARS_MAX).collect();
        let message = format!(
            "eventTypes has {excerpt:?}, which is not offered here{hint}; there are {}.",
            names.join(", ")
        );
        members.add_fault("eventTypes", ErrorCode::UnknownEventType, message);
        return None;
    }
    Some(requested.iter().filter_map(|name| parse_semantic_name(resource, name)).collect())
}

/// A `webhookId` in the body must equal the path's.
fn check_webhook_id(members: &mut JsonBody, request: &ManagementRequest) {
    const NAME: &str = "webhookId";
    let Some(text) = members.text_or_none(NAME, NAME_CHARS_MAX) else { return };
    if let Ok(webhook) = request.webhook()
        && Guid::parse(text.trim()) != Some(webhook)
    {
        members.add_invalid(NAME, "webhookId must be the one in the path.");
    }
}
