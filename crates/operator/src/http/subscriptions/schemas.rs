//! The JSON bodies of subscriptions.

use domain::Ticks;
use serde::{Deserialize, Deserializer, Serialize};
use store::{KeyInfo, KeySlot, Status};
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{KnownFormat, RefOr, Schema, SchemaFormat};
use utoipa::{PartialSchema, ToSchema};

use crate::admin::DAILY_QUOTA_MAX;
use crate::http::product::{Product, ProductList, product_list};
use crate::http::schema_types::{ChosenId, Name, Revision, whole_number};
use crate::http::team_change::TeamChange;

/// A subscription to products. Its keys cannot be read: only their hashes are stored.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Subscription {
    #[schema(examples("7d0f3d2e-6f0b-4a39-8a55-0c8f6b1f8a52"))]
    pub(super) id: String,
    #[schema(examples("Panel de ventas"))]
    name: String,
    products: Vec<Product>,
    /// The id of the team that owns the subscription: it opens for that team's clients alone. Null: it opens for every client.
    #[schema(required = true, examples("panel"))]
    team: Option<String>,
    /// It opens sandbox tenants alone.
    sandbox: bool,
    standing: SubscriptionStatus,
    /// Calls per day (UTC); null applies `gateway.quota_per_day` of the configuration.
    #[schema(required = true, minimum = 1, examples(50000))]
    daily_quota: Option<u64>,
    #[schema(format = DateTime)]
    created_at: String,
    /// When it was cancelled.
    #[schema(required = true, format = DateTime)]
    cancelled_at: Option<String>,
    /// Incremented by every update; send it with a change to make sure that nothing changed in between.
    #[schema(minimum = 1, examples(1))]
    revision: u64,
    /// By slot, the current key first. Not in lists.
    #[schema(required = false, nullable = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    keys: Option<Vec<Key>>,
}

/// A key, without its secret.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Key {
    slot: Slot,
    /// The end of a replaced key's validity; null for the current key.
    #[schema(required = true, format = DateTime)]
    valid_until: Option<String>,
    /// Updated within a few seconds; null if it was never used.
    #[schema(required = true, format = DateTime)]
    last_used_at: Option<String>,
}

impl From<store::Subscription> for Subscription {
    fn from(stored: store::Subscription) -> Self {
        Self {
            standing: SubscriptionStatus::of(&stored),
            id: stored.id.to_string(),
            name: stored.name,
            products: product_list(stored.products),
            team: stored.team.map(|team| team.to_string()),
            sandbox: stored.is_sandbox,
            daily_quota: stored.daily_quota,
            created_at: stored.created_at.iso(),
            cancelled_at: stored.cancelled_at.map(Ticks::iso),
            revision: stored.revision,
            keys: None,
        }
    }
}

impl Subscription {
    pub(super) fn with(self, keys: Vec<KeyInfo>) -> Self {
        let key = |stored: KeyInfo| Key {
            slot: stored.slot.into(),
            valid_until: stored.valid_until.map(Ticks::iso),
            last_used_at: stored.last_used_at.map(Ticks::iso),
        };
        Self { keys: Some(keys.into_iter().map(key).collect()), ..self }
    }
}

/// Whether the keys of a subscription are accepted. A cancelled subscription has none; cancellation is final.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = SubscriptionStanding)]
enum SubscriptionStatus {
    Active,
    Suspended,
    Cancelled,
}

impl SubscriptionStatus {
    fn of(stored: &store::Subscription) -> Self {
        match (stored.cancelled_at, stored.status) {
            (Some(_), _) => Self::Cancelled,
            (None, Status::Active) => Self::Active,
            (None, Status::Disabled | Status::Unconfirmed) => Self::Suspended,
        }
    }
}

/// The status to set.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = NewStanding)]
pub(super) enum NewSubscriptionStatus {
    Active,
    Suspended,
}

impl From<NewSubscriptionStatus> for Status {
    fn from(status: NewSubscriptionStatus) -> Self {
        match status {
            NewSubscriptionStatus::Active => Self::Active,
            NewSubscriptionStatus::Suspended => Self::Disabled,
        }
    }
}

/// One of a subscription's two keys; both give the same access.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Slot {
    Primary,
    Secondary,
}

impl From<KeySlot> for Slot {
    fn from(slot: KeySlot) -> Self {
        match slot {
            KeySlot::Primary => Self::Primary,
            KeySlot::Secondary => Self::Secondary,
        }
    }
}

/// The calls per day of a subscription.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "serde_json::Number")]
pub(super) struct DailyQuota(pub(super) u64);

impl TryFrom<serde_json::Number> for DailyQuota {
    type Error = String;

    fn try_from(number: serde_json::Number) -> Result<Self, String> {
        whole_number(&number, DAILY_QUOTA_MAX).map(Self)
    }
}

impl PartialSchema for DailyQuota {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(SchemaType::new(Type::Integer))
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
            .description(Some("Calls per day (UTC)."))
            .minimum(Some(1))
            .maximum(Some(1_000_000_000_000_i64))
            .examples([50_000])
            .build()
            .into()
    }
}

impl ToSchema for DailyQuota {}

/// A change of the quota: null removes it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum QuotaChange {
    #[default]
    None,
    To(Option<DailyQuota>),
}

impl<'de> Deserialize<'de> for QuotaChange {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        Option::deserialize(reader).map(Self::To)
    }
}

/// Subscriptions, oldest first.
#[derive(Serialize, ToSchema)]
pub(super) struct SubscriptionPage {
    pub(super) subscriptions: Vec<Subscription>,
    /// Send it as `after` to get the next page; null on the last page.
    #[schema(required = true)]
    pub(super) next: Option<String>,
}

/// A new subscription.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct NewSubscription {
    pub(super) name: Name,
    #[schema(inline)]
    pub(super) products: ProductList,
    /// `gateway.quota_per_day` by default.
    pub(super) daily_quota: Option<DailyQuota>,
    /// The id of the team that owns the subscription: it opens for that team's clients alone. None by default.
    pub(super) team: Option<ChosenId>,
}

/// Changes; a member that is left out stays as it is.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SubscriptionChange {
    pub(super) standing: Option<NewSubscriptionStatus>,
    /// Null applies `gateway.quota_per_day` of the configuration.
    #[serde(default)]
    #[schema(value_type = Option<DailyQuota>)]
    pub(super) daily_quota: QuotaChange,
    /// The id of the team that owns the subscription; null: it opens for every client.
    #[serde(default)]
    #[schema(value_type = Option<ChosenId>)]
    pub(super) team: TeamChange,
    /// False opens real tenants to a subscription that was approved for the sandbox alone.
    pub(super) sandbox: Option<bool>,
    /// The revision that you read: with another one stored, nothing changes and the response is 409
    /// (`revision_conflict`). Without it, the change is applied to whatever is stored.
    pub(super) revision: Option<Revision>,
}

/// A new subscription with its keys, which are returned only once.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SubscriptionMade)]
pub(super) struct CreatedSubscription {
    pub(super) subscription: Subscription,
    #[schema(min_length = 32, max_length = 32, examples("3b1f8c5e9d2a4f60b7c8d9e0f1a2b3c4"))]
    pub(super) primary_key: String,
    #[schema(min_length = 32, max_length = 32, examples("c4b3a2f1e0d9c8b7604f2a9d5e8c1f3b"))]
    pub(super) secondary_key: String,
}
