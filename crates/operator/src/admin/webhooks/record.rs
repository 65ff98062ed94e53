//! A webhook as it is shown, and the words for how it stands.

use domain::event::semantic_name;
use domain::webhook::{Family, WebhookFlags};
use domain::{Resource, Ticks};
use serde::Serialize;
use store::{DisabledOwners, Webhook};
use utoipa::ToSchema;
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{RefOr, Schema};

use super::Health;

/// How a webhook stands. Only an active one is sent anything; unsubscribed and deleted are final.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum WebhookStatus {
    Active,
    /// The receiver has not accepted the handshake yet.
    AwaitingContract,
    /// Its tenant or its client is disabled.
    Suspended,
    /// By its owner, or by the operator.
    Disabled,
    /// Deliveries failed until the end of the window.
    DisabledByService,
    Unsubscribed,
    Deleted,
}

impl WebhookStatus {
    pub const ALL: [Self; 7] = [
        Self::Active,
        Self::AwaitingContract,
        Self::Suspended,
        Self::Disabled,
        Self::DisabledByService,
        Self::Unsubscribed,
        Self::Deleted,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::AwaitingContract => "awaiting_contract",
            Self::Suspended => "suspended",
            Self::Disabled => "disabled",
            Self::DisabledByService => "disabled_by_service",
            Self::Unsubscribed => "unsubscribed",
            Self::Deleted => "deleted",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }

    pub(super) fn is_final(self) -> bool {
        matches!(self, Self::Unsubscribed | Self::Deleted)
    }

    pub(crate) fn of(webhook: &Webhook, disabled_owners: &DisabledOwners) -> Self {
        let owner = &webhook.owner;
        let is_suspended = disabled_owners.tenants.contains(&owner.tenant)
            || disabled_owners.clients.contains(&owner.client);
        match webhook.flags() {
            WebhookFlags { deleted: true, .. } => Self::Deleted,
            WebhookFlags { unsubscribed: true, .. } => Self::Unsubscribed,
            WebhookFlags { disabled: true, .. } => Self::DisabledByService,
            WebhookFlags { enabled: false, .. } => Self::Disabled,
            _ if is_suspended => Self::Suspended,
            WebhookFlags { handshake_accepted: false, .. } => Self::AwaitingContract,
            _ => Self::Active,
        }
    }

    /// What that means, and what to do.
    fn explained(self, webhook: &Webhook) -> String {
        match self {
            Self::Active => "Events are delivered.".into(),
            Self::AwaitingContract if webhook.initial_cursor.is_none() => {
                "The receiver has not accepted the handshake yet; events count from its acceptance on.".into()
            }
            Self::AwaitingContract => {
                "The receiver has not accepted the handshake yet; events wait until it does.".into()
            }
            Self::Suspended => {
                "Its tenant or its client is disabled; it keeps its place, and nothing is sent until that is enabled."
                    .into()
            }
            Self::Disabled => {
                "Disabled by its owner or by the operator; once enabled, it goes on with the next event.".into()
            }
            Self::DisabledByService => {
                let why = webhook.disabled.as_ref().map_or("", |disabled| &disabled.reason);
                format!(
                    "The service gave up: {why}. See that the receiver answers, then enable it: it goes on with the \
                     first event that was not delivered."
                )
            }
            Self::Unsubscribed => "Unsubscribed by its owner, which is final.".into(),
            Self::Deleted => "Deleted, which is final.".into(),
        }
    }
}

/// Which form a webhook has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = WebhookFamily)]
pub enum FamilyWord {
    Accounting,
    Invoicing,
}

impl FamilyWord {
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "accounting" => Some(Self::Accounting),
            "invoicing" => Some(Self::Invoicing),
            _ => None,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accounting => "accounting",
            Self::Invoicing => "invoicing",
        }
    }
}

impl From<FamilyWord> for Family {
    fn from(word: FamilyWord) -> Self {
        match word {
            FamilyWord::Accounting => Self::Accounting,
            FamilyWord::Invoicing => Self::Invoicing,
        }
    }
}

/// A webhook. Its secret is never shown.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Webhook)]
pub struct WebhookShown {
    #[schema(format = "uuid", examples("0b9f6c1e-3c58-4d2f-9a51-6f6f2b1d7c40"))]
    pub id: String,
    #[schema(examples("asesoria-penalver"))]
    pub tenant: String,
    #[schema(examples("panel-de-ventas"))]
    pub client: String,
    /// Who subscribed.
    pub user: String,
    pub family: FamilyWord,
    #[schema(schema_with = resources)]
    pub resource: &'static str,
    /// What it is told of, by semantic names.
    #[schema(examples(json!(["Svc.ACC.Customers.CustomerCreated"])))]
    pub events: Vec<String>,
    /// The application's name, as its owner wrote it.
    #[schema(examples("Panel de ventas"))]
    pub name: String,
    pub description: String,
    #[schema(examples("https://app.example/hook"))]
    pub url: String,
    pub status: WebhookStatus,
    /// What the status means, and what to do.
    #[schema(examples("Events are delivered."))]
    pub explanation: String,
    #[schema(format = DateTime)]
    pub created_at: String,
    /// When the service gave up.
    #[schema(required = true, format = DateTime)]
    pub disabled_at: Option<String>,
    /// Why the service gave up.
    #[schema(required = true)]
    pub disabled_why: Option<String>,
    /// Why the receiver's host may not be the subscriber's.
    #[schema(required = true)]
    pub doubt: Option<String>,
    #[schema(required = true, format = DateTime)]
    pub unsubscribed_at: Option<String>,
    #[schema(required = true, format = DateTime)]
    pub deleted_at: Option<String>,
    /// How it does. Not in lists.
    #[schema(required = false, nullable = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health: Option<Health>,
}

impl WebhookShown {
    pub(super) fn of(kept: Webhook, disabled_owners: &DisabledOwners) -> Self {
        let status = WebhookStatus::of(&kept, disabled_owners);
        let resource = kept.resource;
        Self {
            explanation: status.explained(&kept),
            status,
            id: kept.id.to_string(),
            family: match kept.family() {
                Family::Accounting => FamilyWord::Accounting,
                Family::Invoicing => FamilyWord::Invoicing,
            },
            resource: resource.as_str(),
            events: kept.kinds.iter().map(|kind| semantic_name(resource, kind)).collect(),
            tenant: kept.owner.tenant.to_string(),
            client: kept.owner.client.to_string(),
            user: kept.user.to_string(),
            name: kept.name,
            description: kept.description,
            url: kept.url,
            created_at: kept.created_at.iso(),
            disabled_at: kept.disabled.as_ref().map(|disabled| disabled.at.iso()),
            disabled_why: kept.disabled.map(|disabled| disabled.reason),
            doubt: Some(kept.host_mismatch).filter(|host_mismatch| !host_mismatch.is_empty()),
            unsubscribed_at: kept.unsubscribed_at.map(Ticks::iso),
            deleted_at: kept.deleted_at.map(Ticks::iso),
            health: None,
        }
    }
}

/// The resources that webhooks can be about; their words are unique among them.
pub fn subscribable() -> impl Iterator<Item = Resource> {
    Resource::accounting_family().chain(Resource::invoicing())
}

/// Their words.
pub(crate) fn resources() -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(SchemaType::new(Type::String))
        .enum_values(Some(subscribable().map(Resource::as_str)))
        .build()
        .into()
}
