//! What is sent to the management and comes back from it, as the document names it. What is read by hand elsewhere has
//! its form here alone.

use domain::Resource;
use domain::event::EventKind;
use serde::Serialize;
use serde_json::Value;
use utoipa::openapi::schema::Type;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::management::invoicing::ACTIONS;

/// What a subscription asks for; to unsubscribe, the same again.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WebhookSubscription {
    /// The name of the receiving application.
    #[schema(max_length = 200, pattern = r"\S")]
    third_party_application_name: String,
    /// The receiver: https, port 443, an address that everybody can reach.
    #[schema(min_length = 1, max_length = 2048, format = "receiver-url")]
    url: String,
    /// Deliveries are signed with it: 1 to 256 bytes.
    #[schema(min_length = 1, max_length = 256, format = "webhook-secret")]
    secret: String,
    /// Names that the events address tells.
    #[schema(min_items = 1)]
    event_types: Vec<String>,
}

/// Whether a webhook is wanted.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WebhookStatus {
    /// The one of the address again; may be left out.
    #[schema(format = "uuid")]
    webhook_id: Option<String>,
    enable: bool,
}

/// A new address for a webhook.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WebhookMove {
    /// The one of the address again; may be left out.
    #[schema(format = "uuid")]
    webhook_id: Option<String>,
    #[schema(min_length = 1, max_length = 2048, format = "receiver-url")]
    url: String,
}

/// What has become of an operation.
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

/// An operation that was refused; also an error body.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WebhookRefused {
    /// Always 1.
    #[schema(minimum = 1, maximum = 1)]
    response_state: u8,
    /// The one of the address; all zeros where there is none.
    #[schema(format = "uuid")]
    webhook_id: String,
    /// What was wrong, all of it.
    #[schema(min_items = 1)]
    errors: Vec<WebhookFault>,
    status_code: u16,
    message: String,
    request_id: String,
}

/// One thing that was refused.
#[derive(Serialize, ToSchema)]
pub(super) struct WebhookFault {
    /// For programs; never changes.
    code: String,
    /// For people.
    message: String,
    /// Which member, parameter or header it is about.
    #[schema(required = false)]
    field: String,
}

/// What an invoicing subscription asks for. Members that nobody knows are passed over.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct InvoicingSubscription {
    /// `https://<host>/api/webhooks/incoming/Invoicing`, the host being the address that the call comes from.
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

/// Which entity.
pub(super) struct InvoicingEntity;

/// What has happened to it. CompanyData and CompanySettings offer `Updated` alone.
pub(super) struct InvoicingAction;

impl PartialSchema for InvoicingEntity {
    fn schema() -> RefOr<Schema> {
        one_of("Which entity.", Resource::invoicing().map(Resource::as_str))
    }
}

impl ToSchema for InvoicingEntity {}

impl PartialSchema for InvoicingAction {
    fn schema() -> RefOr<Schema> {
        let about = "What has happened to it. CompanyData and CompanySettings offer `Updated` alone.";
        one_of(about, ACTIONS.into_iter().map(EventKind::as_str))
    }
}

impl ToSchema for InvoicingAction {}

/// One of these texts.
pub(super) fn one_of<T: Into<Value>>(about: &str, words: impl IntoIterator<Item = T>) -> RefOr<Schema> {
    ObjectBuilder::new().schema_type(Type::String).description(Some(about)).enum_values(Some(words)).into()
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
    /// For how long the old one signs beside it.
    #[schema(minimum = 0, maximum = 168, default = 24)]
    overlap_hours: Option<u16>,
}

/// A span of time, both ends in it.
#[derive(Serialize, ToSchema)]
pub(super) struct WebhookReplaySpan {
    #[schema(format = DateTime)]
    from: String,
    /// Now, where it is left out.
    #[schema(format = DateTime)]
    to: Option<String>,
}

/// What a receiver of the accounting family is sent.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Notification {
    #[schema(format = "uuid")]
    webhook_id: String,
    /// The same on every attempt.
    #[schema(format = "uuid")]
    outgoing_id: String,
    /// The same for all deliveries of one change.
    #[schema(format = "uuid")]
    conversation_id: String,
    tenant_id: String,
    extra_partition_information: Partition,
    event_type: NotificationEvent,
    /// Ticks of 100 ns since the year 1, UTC.
    timestamp: i64,
    /// A JSON document as text: `CorrelationId`, `Version`, `SequenceVersion`, `SvcSourceInterface`, `SvcProcessId`,
    /// `SvcSourceAction`; of an Acknowledge `{"Arguments":"Acknowledge"}`.
    json_data: String,
    /// Who subscribed.
    user_identifier: String,
}

/// Empty in an Acknowledge.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Partition {
    /// The company's `correlationId`.
    #[schema(required = false)]
    partition_client_id: String,
    /// Who made the change.
    #[schema(required = false)]
    user_name: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub(super) struct NotificationEvent {
    app_name: String,
    domain: String,
    resource: String,
    event_type: String,
    semantic_name: String,
}

/// What a receiver of invoicing is sent.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub(super) struct InvoicingNotification {
    entity: String,
    entity_id: String,
    tenant_id: String,
    user: String,
    changes: Vec<InvoicingChange>,
}

/// A member that changed, and what it is now, as text.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub(super) struct InvoicingChange {
    name: String,
    value: String,
}
