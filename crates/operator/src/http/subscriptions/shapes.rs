//! What a subscription looks like from outside, and what is asked to make or change one.

use domain::Ticks;
use domain::subscription::Product as Kept;
use serde::{Deserialize, Deserializer, Serialize};
use store::{KeyInfo, KeySlot, Status};
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{KnownFormat, RefOr, Schema, SchemaFormat};
use utoipa::{PartialSchema, ToSchema};

use crate::admin::DAILY_QUOTA_MAX;
use crate::http::paging::Listed;
use crate::http::words::{Few, Name};

type ProductList = Few<Product, 1, 3>;

/// A subscription to products. Its keys are not shown: they are kept as hashes.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Subscription {
    #[schema(examples("7d0f3d2e-6f0b-4a39-8a55-0c8f6b1f8a52"))]
    pub(super) id: String,
    #[schema(examples("Panel de ventas"))]
    name: String,
    products: Vec<Product>,
    standing: SubscriptionStanding,
    /// How many calls it may make a day (UTC); null: as many as `gateway.quota_per_day` of the configuration says.
    #[schema(required = true, minimum = 1, examples(50000))]
    daily_quota: Option<u64>,
    #[schema(format = DateTime)]
    created_at: String,
    /// Since when it is over.
    #[schema(required = true, format = DateTime)]
    cancelled_at: Option<String>,
    /// By slot, the one in use first. Not in lists.
    #[schema(required = false, nullable = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    keys: Option<Vec<Key>>,
}

/// What is known of a key.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Key {
    slot: Slot,
    /// One that was replaced is good until then; null for the one in use.
    #[schema(required = true, format = DateTime)]
    valid_until: Option<String>,
    /// Told within some seconds; null where it never was.
    #[schema(required = true, format = DateTime)]
    last_used_at: Option<String>,
}

impl From<store::Subscription> for Subscription {
    fn from(kept: store::Subscription) -> Self {
        let products = Kept::ALL.into_iter().filter(|product| kept.products.contains(*product));
        Self {
            standing: SubscriptionStanding::of(&kept),
            id: kept.id.to_string(),
            name: kept.name,
            products: products.map(Product::from).collect(),
            daily_quota: kept.daily_quota,
            created_at: kept.created_at.iso(),
            cancelled_at: kept.cancelled_at.map(Ticks::iso),
            keys: None,
        }
    }
}

impl Subscription {
    pub(super) fn with(self, keys: Vec<KeyInfo>) -> Self {
        let key = |kept: KeyInfo| Key {
            slot: kept.slot.into(),
            valid_until: kept.valid_until.map(Ticks::iso),
            last_used_at: kept.last_used_at.map(Ticks::iso),
        };
        Self { keys: Some(keys.into_iter().map(key).collect()), ..self }
    }
}

/// A family of APIs that a key opens.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Product {
    Accounting,
    Payroll,
    Invoicing,
}

impl From<Kept> for Product {
    fn from(kept: Kept) -> Self {
        match kept {
            Kept::Accounting => Self::Accounting,
            Kept::Payroll => Self::Payroll,
            Kept::Invoicing => Self::Invoicing,
        }
    }
}

impl From<Product> for Kept {
    fn from(word: Product) -> Self {
        match word {
            Product::Accounting => Self::Accounting,
            Product::Payroll => Self::Payroll,
            Product::Invoicing => Self::Invoicing,
        }
    }
}

/// Whether the keys of a subscription open anything. One that is cancelled has none, for good.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum SubscriptionStanding {
    Active,
    Suspended,
    Cancelled,
}

impl SubscriptionStanding {
    fn of(kept: &store::Subscription) -> Self {
        match (kept.cancelled_at, kept.status) {
            (Some(_), _) => Self::Cancelled,
            (None, Status::Active) => Self::Active,
            (None, Status::Disabled) => Self::Suspended,
        }
    }
}

/// What a subscription can be changed to, and back.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum NewStanding {
    Active,
    Suspended,
}

impl From<NewStanding> for Status {
    fn from(word: NewStanding) -> Self {
        match word {
            NewStanding::Active => Self::Active,
            NewStanding::Suspended => Self::Disabled,
        }
    }
}

/// One of a subscription's two keys; both open the same.
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

/// How many calls a subscription may make a day.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "serde_json::Number")]
pub(super) struct DailyQuota(pub(super) u64);

impl TryFrom<serde_json::Number> for DailyQuota {
    type Error = String;

    fn try_from(number: serde_json::Number) -> Result<Self, String> {
        // 5.0 is a whole number too.
        let text = number.to_string();
        let whole = text.strip_suffix(".0").unwrap_or(&text).parse().ok();
        let quota = whole.filter(|calls| (1..=DAILY_QUOTA_MAX).contains(calls));
        quota
            .map(Self)
            .ok_or_else(|| format!("it must be a whole number from 1 to {DAILY_QUOTA_MAX}, not {number}"))
    }
}

impl PartialSchema for DailyQuota {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(SchemaType::new(Type::Integer))
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
            .description(Some("How many calls it may make a day (UTC)."))
            .minimum(Some(1))
            .maximum(Some(1_000_000_000_000_i64))
            .examples([50_000])
            .build()
            .into()
    }
}

impl ToSchema for DailyQuota {}

/// A quota to be changed: null takes it away.
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
    /// Ask with `after` for what follows; null at the end.
    #[schema(required = true)]
    pub(super) next: Option<String>,
}

/// A subscription to be made.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct NewSubscription {
    pub(super) name: Name,
    #[schema(inline)]
    pub(super) products: ProductList,
    /// Where it has one of its own.
    pub(super) daily_quota: Option<DailyQuota>,
}

/// What is to be changed; what is not given stays.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SubscriptionChange {
    pub(super) standing: Option<NewStanding>,
    /// Null: as many as the configuration says.
    #[serde(default)]
    #[schema(value_type = Option<DailyQuota>)]
    pub(super) daily_quota: QuotaChange,
}

/// A new subscription with its keys, which are shown this once.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SubscriptionMade {
    pub(super) subscription: Subscription,
    #[schema(min_length = 32, max_length = 32, examples("3b1f8c5e9d2a4f60b7c8d9e0f1a2b3c4"))]
    pub(super) primary_key: String,
    #[schema(min_length = 32, max_length = 32, examples("c4b3a2f1e0d9c8b7604f2a9d5e8c1f3b"))]
    pub(super) secondary_key: String,
}

impl Listed for store::Subscription {
    fn place(&self) -> (Ticks, &str) {
        (self.created_at, self.id.as_str())
    }
}
