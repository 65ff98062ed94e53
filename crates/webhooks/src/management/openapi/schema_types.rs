//! Schemas of the document for bodies that are not serialized from a type of their own: request bodies, operation results
//! and notifications.

use domain::Resource;
use domain::event::EventKind;
use serde::Serialize;
use serde_json::Value;
use utoipa::openapi::schema::Type;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::management::invoicing::ACTIONS;

/// The body of a subscription; unsubscribing takes the same. Each resource has a schema with its own event types.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WebhookSubscription {
    /// The name of the receiving application.
    #[schema(max_length = 200, pattern = r"\S")]
    third_party_application_name: String,
    /// The receiver: https, port 443, a public address.
    #[schema(min_length = 1, max_length = 2048, format = "receiver-url")]
    url: String,
    /// Deliveries are signed with it: 1 to 256 bytes.
    #[schema(min_length = 1, max_length = 256, format = "webhook-secret")]
    secret: String,
    /// Semantic names, as `GET …/events` lists them.
    #[schema(min_items = 1)]
    event_types: Vec<String>,
}

/// Enables or disables a webhook.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WebhookStatus {
    /// The same as in the path; may be left out.
    #[schema(format = "uuid")]
    webhook_id: Option<String>,
    enable: bool,
}

/// A new url for a webhook.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WebhookMove {
    /// The same as in the path; may be left out.
    #[schema(format = "uuid")]
    webhook_id: Option<String>,
    #[schema(min_length = 1, max_length = 2048, format = "receiver-url")]
    url: String,
}

/// The result of an operation.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WebhookResult {
    /// 3 subscribed, 4 unsubscribed, 5 deleted, 6 changed, 7 enabled or disabled.
    #[schema(minimum = 3, maximum = 7)]
    response_state: u8,
    #[schema(format = "uuid")]
    webhook_id: String,
    /// Empty.
    #[schema(value_type = Vec<Object>, max_items = 0)]
    errors: Vec<String>,
}

/// A failed operation; also an error body.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WebhookRefused {
    /// Always 1.
    #[schema(minimum = 1, maximum = 1)]
    response_state: u8,
    /// The one in the path; all zeros where there is none.
    #[schema(format = "uuid")]
    webhook_id: String,
    /// Every fault.
    #[schema(min_items = 1)]
    errors: Vec<ApiFault>,
    status_code: u16,
    /// What is wrong, for programs: as in every error.
    code: String,
    message: String,
    request_id: String,
}

/// One fault: a schema of the gateway's document.
#[derive(Serialize, ToSchema)]
pub(super) struct ApiFault {
    code: String,
}

/// The body of an invoicing subscription. Unknown members are ignored.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct InvoicingSubscription {
    /// `https://<host>/api/webhooks/incoming/Invoicing`, whose host is the caller's.
    #[schema(min_length = 1, max_length = 2048, format = "invoicing-receiver-url")]
    uri: String,
    #[schema(value_type = InvoicingEntity)]
    entity: String,
    #[schema(value_type = InvoicingAction)]
    action: String,
    /// Deliveries are signed with it: 1 to 256 bytes.
    #[schema(min_length = 1, max_length = 256, format = "webhook-secret")]
    secret: String,
    /// Whether it starts paused.
    #[schema(default = false)]
    is_paused: Option<bool>,
    /// The name of the receiving application.
    #[schema(max_length = 200)]
    application_name: Option<String>,
    #[schema(max_length = 1000)]
    description: Option<String>,
}

/// The entity.
pub(super) struct InvoicingEntity;

/// The kind of change. CompanyData and CompanySettings offer `Updated` alone.
pub(super) struct InvoicingAction;

impl PartialSchema for InvoicingEntity {
    fn schema() -> RefOr<Schema> {
        one_of("The entity.", Resource::invoicing().map(Resource::as_str))
    }
}

impl ToSchema for InvoicingEntity {}

impl PartialSchema for InvoicingAction {
    fn schema() -> RefOr<Schema> {
        let description = "The kind of change. CompanyData and CompanySettings offer `Updated` alone.";
        one_of(description, ACTIONS.into_iter().map(EventKind::as_str))
    }
}

impl ToSchema for InvoicingAction {}

/// One of these texts.
pub(super) fn one_of<T: Into<Value>>(description: &str, names: impl IntoIterator<Item = T>) -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(description))
        .enum_values(Some(names))
        .into()
}

/// Whether an invoicing subscription is paused.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct InvoicingPause {
    is_paused: bool,
}

/// A new secret.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WebhookSecret {
    #[schema(min_length = 1, max_length = 256, format = "webhook-secret")]
    secret: String,
    /// How long the old secret keeps signing beside the new one.
    #[schema(minimum = 0, maximum = 168, default = 24)]
    overlap_hours: Option<u16>,
}

/// A span of time, both ends included.
#[derive(Serialize, ToSchema)]
pub(super) struct WebhookReplaySpan {
    #[schema(format = DateTime)]
    from: String,
    /// The end of the log, where it is left out.
    #[schema(format = DateTime)]
    to: Option<String>,
}

/// The notification that a receiver of the accounting family gets.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub(super) struct AccountingNotification {
    /// The webhook that it is delivered to.
    #[schema(format = "uuid")]
    webhook_id: String,
    /// The same on every attempt.
    #[schema(format = "uuid")]
    outgoing_id: String,
    /// The same for all deliveries of one change.
    #[schema(format = "uuid")]
    conversation_id: String,
    /// The tenant whose record changed.
    tenant_id: String,
    extra_partition_information: NotificationPartition,
    event_type: NotificationEventType,
    /// Ticks of 100 ns since the year 1, UTC.
    timestamp: i64,
    /// A JSON document as text: `CorrelationId`, `Version`, `SequenceVersion`, `SvcSourceInterface`, `SvcProcessId`,
    /// `SvcSourceAction`; of an Acknowledge `{"Arguments":"Acknowledge"}`.
    json_data: String,
    /// The user who subscribed.
    user_identifier: String,
}

/// Where the record is. Empty in an Acknowledge.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub(super) struct NotificationPartition {
    /// The company's `correlationId`.
    #[schema(required = false)]
    partition_client_id: String,
    /// The user who made the change.
    #[schema(required = false)]
    user_name: String,
}

/// What happened, in parts and as one name.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub(super) struct NotificationEventType {
    /// The first part of the name.
    app_name: String,
    /// `ACC`, `COR` or `IMP`: the API that the resource belongs to.
    domain: String,
    /// The resource, in the plural.
    resource: String,
    /// The record and what happened to it.
    event_type: String,
    /// The four parts, joined by dots: the name that a subscription lists in `eventTypes`.
    semantic_name: String,
}

/// The document in `JsonData` of a change.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub(super) struct NotificationData {
    /// The record that changed: read it by this id.
    correlation_id: String,
    /// When it changed, UTC: `MM/dd/yyyy HH:mm:ss`.
    version: String,
    /// The position of the change in the log; it only grows within a tenant, so it tells which of two changes is later.
    sequence_version: String,
    /// The system that made the change.
    svc_source_interface: String,
    /// The process that made the change.
    #[schema(format = "uuid")]
    svc_process_id: String,
    /// What that system did.
    svc_source_action: String,
}

/// The document in `JsonData` of an Acknowledge.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub(super) struct AcknowledgeData {
    /// `Acknowledge`.
    arguments: String,
}

/// The notification that a receiver of invoicing gets.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub(super) struct InvoicingNotification {
    /// The kind of record that changed.
    entity: String,
    /// The record.
    entity_id: String,
    /// The tenant whose record changed.
    tenant_id: String,
    /// The user who made the change.
    user: String,
    /// The members that changed: all of them for a new record, none for a deleted one.
    changes: Vec<InvoicingChange>,
}

/// A member that changed, with its new value as text.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub(super) struct InvoicingChange {
    /// The member's name.
    name: String,
    /// Its new value as text; empty if it was removed.
    value: String,
}
