//! Invoicing's own operations: subscribe to an entity, pause and resume, delete.

use axum::body::Body;
use domain::event::EventKind;
use domain::receiver_url::ReceiverUrl;
use domain::suggest::did_you_mean;
use domain::webhook::EventKinds;
use domain::{Area, Resource, Secret};
use store::{AuditEntry, AuditKind, NewWebhook, SubscribeOutcome, Webhook, WebhookChange};
use web::ErrorResponse;

use super::accounting::NAME_CHARS_MAX;
use super::answer;
use super::body::Members;
use super::call::Call;
use super::record::record;
use super::{Answer, Management, Side, refusal};

const DESCRIPTION_CHARS_MAX: usize = 1000;
pub(super) const ACTIONS: [EventKind; 3] = [EventKind::Created, EventKind::Updated, EventKind::Deleted];

impl Management {
    pub(super) async fn subscribe_entity(&self, call: &Call, body: Body) -> Answer {
        let members = Members::read(body).await?;
        let (mut new, uri) = self.entity_wish(call, members)?;
        self.check_receiver(&uri, "uri").await?;
        new.host_mismatch = self.host_mismatch(&uri, call.address, "uri").await?;
        let webhook = self.make(call, new).await?;
        self.ports.nudge.touched(webhook.id).await;
        Ok(answer::json(&record(&webhook)))
    }

    async fn make(&self, call: &Call, new: NewWebhook) -> Result<Webhook, ErrorResponse> {
        let webhooks = &self.ports.store;
        if !new.enabled {
            // To subscribe again enables; who asks for a pause must not be woken.
            let found =
                webhooks.find_identical_webhook(&new).await.map_err(|error| refusal::store(&error))?;
            if let Some(webhook) = found {
                return self.change_found(call, &webhook, WebhookChange::Disable).await;
            }
        }
        let entry = doubted(call, &new);
        let made = webhooks.subscribe_audited(new, self.settings.webhooks_max, entry).await;
        match made.map_err(|error| refusal::store(&error))? {
            SubscribeOutcome::Created(webhook) | SubscribeOutcome::Existing(webhook) => Ok(webhook),
            SubscribeOutcome::LimitReached => Err(refusal::too_many(self.settings.webhooks_max)),
        }
    }

    pub(super) async fn pause(&self, call: &Call, body: Body) -> Answer {
        let mut members = Members::read(body).await?;
        let is_paused = members.flag("isPaused");
        let is_paused = members.finish(is_paused)?;
        let change = if is_paused { WebhookChange::Disable } else { WebhookChange::Enable };
        let webhook = self.change(Side::Invoicing, call, change).await?;
        Ok(answer::json(&record(&webhook)))
    }

    pub(super) async fn delete_entity(&self, call: &Call) -> Answer {
        let webhook = self.change(Side::Invoicing, call, WebhookChange::Delete).await?;
        Ok(answer::json(&record(&webhook)))
    }

    fn entity_wish(
        &self,
        call: &Call,
        mut members: Members,
    ) -> Result<(NewWebhook, ReceiverUrl), ErrorResponse> {
        let uri = self.url_of(&mut members, "uri");
        if uri.as_ref().is_some_and(|uri| !uri.is_invoicing()) {
            let message = "uri must be https://<host>/api/webhooks/incoming/Invoicing, without a query.";
            members.wrong("uri", "invalid_url", message);
        }
        let entity = entity_of(&mut members);
        let action = action_of(&mut members, entity);
        let secret = members.secret();
        let is_paused = members.flag_or_none("isPaused").unwrap_or_default();
        let name = members.text_or_none("applicationName", NAME_CHARS_MAX).unwrap_or_default();
        let description = members.text_or_none("description", DESCRIPTION_CHARS_MAX).unwrap_or_default();
        let read = uri.zip(entity).zip(action.zip(secret));
        let ((uri, resource), (action, secret)) = members.finish(read)?;
        let new = NewWebhook {
            id: self.ports.random.guid(),
            owner: call.owner(),
            user: call.caller.user.clone(),
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

fn entity_of(members: &mut Members) -> Option<Resource> {
    let name = members.text("entity", NAME_CHARS_MAX)?;
    let entity = Resource::find(Area::Invoicing, &name);
    if entity.is_none() {
        let hint = did_you_mean(&name, Resource::invoicing().map(Resource::as_str));
        let known: Vec<&str> = Resource::invoicing().map(Resource::as_str).collect();
        let message = format!("entity {name:?} is not known{hint}; there are {}.", known.join(", "));
        members.wrong("entity", "unknown_entity", message);
    }
    entity
}

/// What the audit is told of a receiver that may not be its subscriber's.
fn doubted(call: &Call, new: &NewWebhook) -> Option<AuditEntry> {
    (!new.host_mismatch.is_empty()).then(|| {
        AuditEntry::new(AuditKind::WebhookHostMismatch, call.now, &call.context())
            .user(&new.user)
            .tenant(&new.owner.tenant)
            .client(&new.owner.client)
            .note(format!("webhook {}: {}", new.id, new.host_mismatch))
    })
}

fn action_of(members: &mut Members, entity: Option<Resource>) -> Option<EventKind> {
    let name = members.text("action", NAME_CHARS_MAX)?;
    let Some(action) = ACTIONS.into_iter().find(|action| action.as_str() == name) else {
        let hint = did_you_mean(&name, ACTIONS.map(EventKind::as_str));
        let message = format!("action {name:?} is not known{hint}; there are Created, Updated and Deleted.");
        members.wrong("action", "unknown_action", message);
        return None;
    };
    if let Some(entity) = entity
        && !entity.event_kinds().contains(&action)
    {
        let offered: Vec<&str> = entity.event_kinds().into_iter().map(EventKind::as_str).collect();
        let message = format!("action {name} is not offered by {}: {}.", entity.as_str(), offered.join(", "));
        members.wrong("action", "unknown_action", message);
        return None;
    }
    Some(action)
}
