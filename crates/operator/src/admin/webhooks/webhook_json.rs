//! A webhook as JSON for the operator.

use std::collections::{HashMap, HashSet};

use domain::event::semantic_name;
use domain::webhook::Family;
use domain::{Resource, Suspension, Ticks, WebhookStatus};
use serde::Serialize;
use store::{OwnerAccess, Store, Webhook, WebhookOwner};
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::HealthJson;

/// The status of a webhook, for the document.
pub(crate) struct WebhookStatusSchema;

impl PartialSchema for WebhookStatusSchema {
    fn schema() -> RefOr<Schema> {
        let description = "The status of a webhook. Only an active one receives events; unsubscribed and deleted are final.";
        names_schema(Some(description), WebhookStatus::ALL.map(WebhookStatus::as_str))
    }
}

impl ToSchema for WebhookStatusSchema {
    fn name() -> std::borrow::Cow<'static, str> {
        "WebhookStatus".into()
    }
}

/// Which of the two families of APIs a webhook belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum WebhookFamily {
    Accounting,
    Invoicing,
}

impl WebhookFamily {
    pub const ALL: [Self; 2] = [Self::Accounting, Self::Invoicing];

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|family| family.as_str() == text)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accounting => "accounting",
            Self::Invoicing => "invoicing",
        }
    }
}

impl From<WebhookFamily> for Family {
    fn from(family: WebhookFamily) -> Self {
        match family {
            WebhookFamily::Accounting => Self::Accounting,
            WebhookFamily::Invoicing => Self::Invoicing,
        }
    }
}

impl From<Family> for WebhookFamily {
    fn from(family: Family) -> Self {
        match family {
            Family::Accounting => Self::Accounting,
            Family::Invoicing => Self::Invoicing,
        }
    }
}

/// A webhook without its secret.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Webhook)]
pub struct WebhookJson {
    #[schema(format = "uuid", examples("0b9f6c1e-3c58-4d2f-9a51-6f6f2b1d7c40"))]
    pub id: String,
    #[schema(examples("asesoria-penalver"))]
    pub tenant: String,
    #[schema(examples("panel-de-ventas"))]
    pub client: String,
    /// The user who subscribed.
    pub user: String,
    pub family: WebhookFamily,
    #[schema(schema_with = resource_schema)]
    pub resource: &'static str,
    /// The semantic names of the events that it receives.
    #[schema(examples(json!(["Svc.ACC.Customers.CustomerCreated"])))]
    pub events: Vec<String>,
    /// The application's name, as its owner wrote it.
    #[schema(examples("Panel de ventas"))]
    pub name: String,
    pub description: String,
    #[schema(examples("https://app.example/hook"))]
    pub url: String,
    #[schema(value_type = WebhookStatusSchema)]
    pub status: WebhookStatus,
    /// What the status means, and what to do.
    #[schema(examples("Events are delivered."))]
    pub explanation: String,
    #[schema(format = DateTime)]
    pub created_at: String,
    /// When the service disabled it.
    #[schema(required = true, format = DateTime)]
    pub disabled_at: Option<String>,
    /// Why the service disabled it.
    #[schema(required = true)]
    pub disabled_why: Option<String>,
    /// Why the receiver's host may not be the subscriber's.
    #[schema(required = true)]
    pub doubt: Option<String>,
    #[schema(required = true, format = DateTime)]
    pub unsubscribed_at: Option<String>,
    #[schema(required = true, format = DateTime)]
    pub deleted_at: Option<String>,
    /// Not in lists.
    #[schema(required = false, nullable = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health: Option<HealthJson>,
}

impl WebhookJson {
    /// `suspension`: why its owner may not receive anything now.
    pub(super) fn new(webhook: Webhook, suspension: Option<Suspension>) -> Self {
        let status = WebhookStatus::of(webhook.flags(), suspension.is_some());
        let disabled_reason = webhook.disabled.as_ref().map_or("", |disabled| &disabled.reason);
        let resource = webhook.resource;
        Self {
            explanation: status.explanation(webhook.initial_cursor.is_some(), disabled_reason, suspension),
            status,
            id: webhook.id.to_string(),
            family: webhook.family().into(),
            resource: resource.as_str(),
            events: webhook.kinds.iter().map(|kind| semantic_name(resource, kind)).collect(),
            tenant: webhook.owner.tenant.to_string(),
            client: webhook.owner.client.to_string(),
            user: webhook.user.to_string(),
            name: webhook.name,
            description: webhook.description,
            url: webhook.url,
            created_at: webhook.created_at.iso(),
            disabled_at: webhook.disabled.as_ref().map(|disabled| disabled.at.iso()),
            disabled_why: webhook.disabled.map(|disabled| disabled.reason),
            doubt: Some(webhook.host_mismatch).filter(|mismatch| !mismatch.is_empty()),
            unsubscribed_at: webhook.unsubscribed_at.map(Ticks::iso),
            deleted_at: webhook.deleted_at.map(Ticks::iso),
            health: None,
        }
    }
}

/// Why the webhooks of a page are suspended: the access of their owners, read together.
pub(crate) struct Suspensions(HashMap<WebhookOwner, OwnerAccess>);

impl Suspensions {
    pub(crate) async fn of(store: &dyn Store, webhooks: &[Webhook]) -> store::Result<Self> {
        let owners: HashSet<&WebhookOwner> = webhooks.iter().map(|webhook| &webhook.owner).collect();
        let owners: Vec<WebhookOwner> = owners.into_iter().cloned().collect();
        Ok(Self(store.owners_access(&owners).await?))
    }

    pub(crate) fn get(&self, webhook: &Webhook) -> Option<Suspension> {
        let unknown = OwnerAccess::default();
        self.0.get(&webhook.owner).unwrap_or(&unknown).suspension(webhook.resource.area())
    }
}

/// The resources that a webhook can be about; their names are unique among them.
pub fn subscribable_resources() -> impl Iterator<Item = Resource> {
    Resource::accounting_family().chain(Resource::invoicing())
}

/// Their names, for the document.
pub(crate) fn resource_schema() -> RefOr<Schema> {
    names_schema(None, subscribable_resources().map(Resource::as_str))
}

/// A text that is one of these names, for the document.
pub(crate) fn names_schema(
    description: Option<&str>,
    names: impl IntoIterator<Item = &'static str>,
) -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(SchemaType::new(Type::String))
        .description(description)
        .enum_values(Some(names))
        .build()
        .into()
}
