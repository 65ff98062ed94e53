//! The operations of invoicing: subscribe to an entity, pause and resume, delete.

use axum::body::Body;
use domain::event::EventKind;
use domain::receiver_url::ReceiverUrl;
use domain::suggest::did_you_mean;
use domain::webhook::EventKinds;
use domain::{Area, ErrorCode, Resource, Secret};
use store::NewWebhook;
use web::ErrorResponse;

use super::accounting::NAME_CHARS_MAX;
use super::body::JsonBody;
use super::record::record;
use super::request::ManagementRequest;
use super::response;
use super::{HandlerResult, Management, RouteGroup, errors};
use crate::AddressedReceiver;

pub(super) const DESCRIPTION_CHARS_MAX: usize = 1000;
pub(super) const ACTIONS: [EventKind; 3] = [EventKind::Created, EventKind::Updated, EventKind::Deleted];

impl Management {
    pub(super) async fn subscribe_invoicing(&self, request: &ManagementRequest, body: Body) -> HandlerResult {
        let members = JsonBody::read(body).await?;
        let (mut new, uri) = self.parse_invoicing_subscription(request, members)?;
        self.check_receiver(&uri, &request.caller.tenant, "uri").await?;
        new.host_mismatch = self.host_mismatch(&uri, request.address, "uri").await?;
        let created = self.create(new, &request.context()).await;
        let webhook = created.map_err(|error| errors::action_error(&error, "uri"))?;
        Ok(response::json(&record(&webhook)))
    }

    pub(super) async fn pause(&self, request: &ManagementRequest, body: Body) -> HandlerResult {
        let mut members = JsonBody::read(body).await?;
        let is_paused = members.flag("isPaused");
        let is_paused = members.finish(is_paused)?;
        let webhook = self.find_owned(RouteGroup::Invoicing, request).await?;
        let changed = self.set_enabled(&webhook, !is_paused, &request.context()).await;
        let webhook = changed.map_err(|error| errors::action_error(&error, "webhookId"))?;
        Ok(response::json(&record(&webhook)))
    }

    pub(super) async fn delete_invoicing(&self, request: &ManagementRequest) -> HandlerResult {
        let webhook = self.delete_owned(RouteGroup::Invoicing, request).await?;
        Ok(response::json(&record(&webhook)))
    }

    fn parse_invoicing_subscription(
        &self,
        request: &ManagementRequest,
        mut members: JsonBody,
    ) -> Result<(NewWebhook, ReceiverUrl), ErrorResponse> {
        let uri = self.parse_url(&mut members, "uri");
        let is_built_in =
            |uri: &ReceiverUrl| self.built_in_receivers.receiver_of(uri) != AddressedReceiver::Outside;
        if uri.as_ref().is_some_and(|uri| !uri.is_invoicing() && !is_built_in(uri)) {
            let message = "uri must be https://<host>/api/webhooks/incoming/Invoicing, without a query.";
            members.add_fault("uri", ErrorCode::InvalidUrl, message);
        }
        let entity = parse_entity(&mut members);
        let action = parse_action(&mut members, entity);
        let secret = members.secret();
        let is_paused = members.flag_or_none("isPaused").unwrap_or_default();
        let name = members.text_or_none("applicationName", NAME_CHARS_MAX).unwrap_or_default();
        // The contract's sample spells this member differently from its table.
        members.rename_similar("description", "desc");
        let description = members.text_or_none("description", DESCRIPTION_CHARS_MAX).unwrap_or_default();
        let read = uri.zip(entity).zip(action.zip(secret));
        let ((uri, resource), (action, secret)) = members.finish(read)?;
        let new = NewWebhook {
            id: self.ports.random.guid(),
            owner: request.owner(),
            user: request.caller.user.clone(),
            resource,
            kinds: EventKinds::from_iter([action]),
            name,
            description,
            url: uri.as_str().to_owned(),
            secret: Secret::new(secret),
            host_mismatch: String::new(),
            enabled: !is_paused,
        };
        Ok((new, uri))
    }
}

pub(super) fn parse_entity(members: &mut JsonBody) -> Option<Resource> {
    let name = members.text("entity", NAME_CHARS_MAX)?;
    let entity = Resource::find(Area::Invoicing, &name);
    if entity.is_none() {
        let hint = did_you_mean(&name, Resource::invoicing().map(Resource::as_str));
        let known: Vec<&str> = Resource::invoicing().map(Resource::as_str).collect();
        let message = format!("entity {name:?} is not known{hint}; there are {}.", known.join(", "));
        members.add_fault("entity", ErrorCode::UnknownEntity, message);
    }
    entity
}

pub(super) fn parse_action(members: &mut JsonBody, entity: Option<Resource>) -> Option<EventKind> {
    let name = members.text("action", NAME_CHARS_MAX)?;
    let Some(action) = ACTIONS.into_iter().find(|action| action.as_str() == name) else {
        let hint = did_you_mean(&name, ACTIONS.map(EventKind::as_str));
        let message = format!("action {name:?} is not known{hint}; there are Created, Updated and Deleted.");
        members.add_fault("action", ErrorCode::UnknownAction, message);
        return None;
    };
    if let Some(entity) = entity
        && !entity.event_kinds().contains(&action)
    {
        let offered: Vec<&str> = entity.event_kinds().into_iter().map(EventKind::as_str).collect();
        let message = format!("action {name} is not offered by {}: {}.", entity.as_str(), offered.join(", "));
        members.add_fault("action", ErrorCode::UnknownAction, message);
        return None;
    }
    Some(action)
}
