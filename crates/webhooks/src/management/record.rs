//! Webhooks as JSON for their owners.

use domain::event::{APP_NAME, EventKind, event_type, semantic_name};
use domain::webhook::Family;
use domain::{Guid, Resource};
use serde::Serialize;
use store::{Webhook, WebhookQuery};
use utoipa::ToSchema;

use super::request::ManagementRequest;
use super::{HandlerResult, Management, RouteGroup, WEBHOOKS_MAX, errors, response};

/// The configuration record of the accounting family, in the contract's form.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Webhook)]
pub(super) struct AccountingRecord<'a> {
    #[schema(value_type = String, format = "uuid")]
    id: Guid,
    third_party_application_name: &'a str,
    url: &'a str,
    tenant_id: &'a str,
    /// The secret of the subscription.
    secret: &'a str,
    /// Whether events are delivered: enabled by the owner, accepted by the receiver, not disabled by the service.
    is_active: bool,
    is_deleted: bool,
    /// Only for a deleted webhook.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, format = DateTime, required = false)]
    deleted_at: Option<String>,
    events: Vec<EventDescriptor>,
    /// The user who subscribed.
    user_identifier: &'a str,
}

/// A kind of event, by the parts of its name.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct EventDescriptor {
    #[schema(value_type = String)]
    app_name: &'static str,
    #[schema(value_type = String)]
    domain: &'static str,
    #[schema(value_type = String)]
    resource: &'static str,
    event_type: String,
    /// All four, joined by dots.
    semantic_name: String,
}

impl EventDescriptor {
    fn of(resource: Resource, kind: EventKind) -> Self {
        Self {
            app_name: APP_NAME,
            domain: resource.area().domain().unwrap_or_default(),
            resource: resource.plural(),
            event_type: event_type(resource, kind),
            semantic_name: semantic_name(resource, kind),
        }
    }
}

/// An invoicing subscription with its status and without its secret.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = InvoicingWebhook)]
pub(super) struct InvoicingRecord<'a> {
    #[schema(value_type = String, format = "uuid")]
    id: Guid,
    uri: &'a str,
    #[schema(value_type = String)]
    entity: &'static str,
    /// `Created`, `Updated` or `Deleted`.
    #[schema(value_type = String)]
    action: &'static str,
    is_paused: bool,
    application_name: &'a str,
    description: &'a str,
    /// `Pending` until the echo, then `Effective`; `Paused`, `Disabled`; `Deleted` in the response to DELETE.
    #[schema(value_type = String)]
    status: &'static str,
    /// Why the receiver's host may not be the subscriber's; absent where it matches.
    #[serde(skip_serializing_if = "str::is_empty")]
    #[schema(required = false)]
    doubt: &'a str,
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Record<'a> {
    Accounting(AccountingRecord<'a>),
    Invoicing(InvoicingRecord<'a>),
}

pub(super) fn record(webhook: &Webhook) -> Record<'_> {
    match webhook.family() {
        Family::Accounting => Record::Accounting(accounting(webhook)),
        Family::Invoicing => Record::Invoicing(invoicing(webhook)),
    }
}

fn accounting(webhook: &Webhook) -> AccountingRecord<'_> {
    let flags = webhook.flags();
    AccountingRecord {
        id: webhook.id,
        third_party_application_name: &webhook.name,
        url: &webhook.url,
        tenant_id: webhook.owner.tenant.as_str(),
        secret: webhook.secret.reveal(),
        is_active: flags.is_active(),
        is_deleted: flags.deleted,
        deleted_at: webhook.deleted_at.map(domain::Ticks::iso),
        events: webhook.kinds.iter().map(|kind| EventDescriptor::of(webhook.resource, kind)).collect(),
        user_identifier: webhook.user.as_str(),
    }
}

fn invoicing(webhook: &Webhook) -> InvoicingRecord<'_> {
    InvoicingRecord {
        id: webhook.id,
        uri: &webhook.url,
        entity: webhook.resource.as_str(),
        action: webhook.kinds.iter().next().map_or("", EventKind::as_str),
        is_paused: !webhook.enabled,
        application_name: &webhook.name,
        description: &webhook.description,
        status: webhook.flags().status(),
        doubt: &webhook.host_mismatch,
    }
}

impl Management {
    /// The caller's webhooks that are neither unsubscribed nor deleted, oldest first.
    pub(super) async fn list_records(&self, group: RouteGroup, request: &ManagementRequest) -> HandlerResult {
        let owner = request.owner();
        let (resource, family) = match group {
            RouteGroup::Resource(resource) => (Some(resource), None),
            RouteGroup::Invoicing => (None, Some(Family::Invoicing)),
        };
        let query = WebhookQuery {
            tenant: Some(owner.tenant),
            client: Some(owner.client),
            resource,
            family,
            rows_max: WEBHOOKS_MAX,
            ..WebhookQuery::default()
        };
        let found = self.ports.store.webhooks(&query).await.map_err(|error| errors::store_error(&error))?;
        let records: Vec<Record<'_>> = found.iter().map(record).collect();
        Ok(render(group, &records))
    }

    pub(super) async fn show_record(&self, group: RouteGroup, request: &ManagementRequest) -> HandlerResult {
        let webhook = self.find_owned(group, request).await?;
        Ok(render(group, &record(&webhook)))
    }
}

/// Records of the accounting family contain the secret and must not be stored.
fn render(group: RouteGroup, value: &impl Serialize) -> axum::response::Response {
    match group {
        RouteGroup::Resource(_) => response::uncached_json(value),
        RouteGroup::Invoicing => response::json(value),
    }
}
