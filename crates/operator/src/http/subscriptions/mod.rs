//! `/operator/v1/subscriptions`: which products a developer may call, and the keys to them.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use domain::Ticks;
use domain::subscription::Product as Kept;
use serde::{Deserialize, Serialize};
use store::KeySlot;
use utoipa::ToSchema;
use utoipa_axum::routes;

use super::document::{BadBody, BadQuery, Missing};
use super::input::{Asked, Body, BodyOrNone, Named};
use super::paging::{Listed, PageAsk, page};
use super::refusal::coded;
use super::words::{Few, Name, Overlap};
use super::{Answered, Desk, Routes, made, unkept};
use crate::admin::AdminError;

type ProductList = Few<Product, 1, 3>;

/// A subscription to products. Its keys are not shown: they are kept as hashes.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Subscription {
    #[schema(examples("7d0f3d2e-6f0b-4a39-8a55-0c8f6b1f8a52"))]
    id: String,
    #[schema(examples("Panel de ventas"))]
    name: String,
    products: Vec<Product>,
    standing: SubscriptionStanding,
    #[schema(format = DateTime)]
    created_at: String,
}

impl From<store::Subscription> for Subscription {
    fn from(kept: store::Subscription) -> Self {
        let products = Kept::ALL.into_iter().filter(|product| kept.products.contains(*product));
        Self {
            id: kept.id.to_string(),
            name: kept.name,
            products: products.map(Product::from).collect(),
            standing: kept.standing.into(),
            created_at: kept.created_at.iso(),
        }
    }
}

/// A family of APIs that a key opens.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Product {
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

/// Whether the keys of a subscription open anything.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum SubscriptionStanding {
    Active,
    Suspended,
}

impl From<store::Standing> for SubscriptionStanding {
    fn from(standing: store::Standing) -> Self {
        match standing {
            store::Standing::Active => Self::Active,
            store::Standing::Disabled => Self::Suspended,
        }
    }
}

impl From<SubscriptionStanding> for store::Standing {
    fn from(word: SubscriptionStanding) -> Self {
        match word {
            SubscriptionStanding::Active => Self::Active,
            SubscriptionStanding::Suspended => Self::Disabled,
        }
    }
}

/// Subscriptions, oldest first.
#[derive(Serialize, ToSchema)]
struct SubscriptionPage {
    subscriptions: Vec<Subscription>,
    /// Ask with `after` for what follows; null at the end.
    #[schema(required = true)]
    next: Option<String>,
}

/// A subscription to be made.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewSubscription {
    name: Name,
    #[schema(inline)]
    products: ProductList,
}

/// What is to be changed; what is not given stays.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SubscriptionChange {
    standing: Option<SubscriptionStanding>,
}

/// A new subscription with its keys, which are shown this once.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct SubscriptionMade {
    subscription: Subscription,
    #[schema(min_length = 32, max_length = 32, examples("3b1f8c5e9d2a4f60b7c8d9e0f1a2b3c4"))]
    primary_key: String,
    #[schema(min_length = 32, max_length = 32, examples("c4b3a2f1e0d9c8b7604f2a9d5e8c1f3b"))]
    secondary_key: String,
}

/// How a key is replaced.
#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct KeyAsk {
    overlap: Option<Overlap>,
}

/// One of a subscription's two keys; both open the same.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Slot {
    Primary,
    Secondary,
}

/// A new key, which is shown this once.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct KeyMade {
    slot: Slot,
    #[schema(min_length = 32, max_length = 32, examples("3b1f8c5e9d2a4f60b7c8d9e0f1a2b3c4"))]
    key: String,
    /// Until when the old key stays valid.
    #[schema(format = DateTime)]
    old_valid_until: String,
}

impl Listed for store::Subscription {
    fn place(&self) -> (Ticks, &str) {
        (self.created_at, self.id.as_str())
    }
}

pub(super) fn routes() -> Routes {
    vec![routes!(list, add), routes!(show, change), routes!(replace_key)]
}

/// List subscriptions
#[utoipa::path(
    get,
    path = "/operator/v1/subscriptions",
    operation_id = "listSubscriptions",
    tag = "Subscriptions",
    params(PageAsk),
    responses((status = 200, description = "A page of subscriptions", body = SubscriptionPage), BadQuery)
)]
async fn list(State(desk): Desk, Asked(ask): Asked<PageAsk>) -> Answered {
    let all = desk.admin.store.subscriptions().await.map_err(AdminError::from)?;
    let (some, next) = page(all, &ask);
    let subscriptions = some.into_iter().map(Subscription::from).collect();
    Ok(Json(SubscriptionPage { subscriptions, next }).into_response())
}

/// Make a subscription
///
/// Both keys are shown in this answer and never again.
#[utoipa::path(
    post,
    path = "/operator/v1/subscriptions",
    operation_id = "addSubscription",
    tag = "Subscriptions",
    request_body = NewSubscription,
    responses(
        (status = 201, description = "The subscription is there", body = SubscriptionMade,
            headers(
                ("Location" = String, description = "The subscription's path"),
                ("Cache-Control" = String, description = "no-store")
            )),
        BadBody
    )
)]
async fn add(State(desk): Desk, Body(new): Body<NewSubscription>) -> Answered {
    let products = new.products.0.into_iter().map(Kept::from).collect();
    let (one, keys) = desk.admin.add_subscription(&new.name.0, products).await?;
    let shown = SubscriptionMade {
        subscription: one.into(),
        primary_key: keys.primary.reveal().to_owned(),
        secondary_key: keys.secondary.reveal().to_owned(),
    };
    Ok(unkept(made(&["subscriptions", &shown.subscription.id], &shown)))
}

/// Show a subscription
#[utoipa::path(
    get,
    path = "/operator/v1/subscriptions/{subscription}",
    operation_id = "getSubscription",
    tag = "Subscriptions",
    params(("subscription" = String, Path, description = "The subscription's id")),
    responses((status = 200, description = "The subscription", body = Subscription), Missing)
)]
async fn show(State(desk): Desk, Named(id): Named<String>) -> Answered {
    Ok(Json(Subscription::from(desk.admin.subscription(&id).await?)).into_response())
}

/// Suspend or resume a subscription
///
/// The keys of a suspended subscription are refused within two seconds, and open again when it is resumed.
#[utoipa::path(
    patch,
    path = "/operator/v1/subscriptions/{subscription}",
    operation_id = "changeSubscription",
    tag = "Subscriptions",
    params(("subscription" = String, Path, description = "The subscription's id")),
    request_body = SubscriptionChange,
    responses(
        (status = 200, description = "The subscription as it is now", body = Subscription),
        BadBody,
        Missing
    )
)]
async fn change(
    State(desk): Desk,
    Named(id): Named<String>,
    Body(change): Body<SubscriptionChange>,
) -> Answered {
    if let Some(standing) = change.standing {
        desk.admin.set_subscription_standing(&id, standing.into()).await?;
    }
    Ok(Json(Subscription::from(desk.admin.subscription(&id).await?)).into_response())
}

/// Replace a key
///
/// The new key is shown in this answer and never again. The old one stays valid for the overlap.
#[utoipa::path(
    post,
    path = "/operator/v1/subscriptions/{subscription}/keys/{slot}",
    operation_id = "replaceSubscriptionKey",
    tag = "Subscriptions",
    params(
        ("subscription" = String, Path, description = "The subscription's id"),
        ("slot" = inline(Slot), Path, description = "Which of the two keys")
    ),
    request_body = Option<KeyAsk>,
    responses(
        (status = 200, description = "The new key", body = KeyMade,
            headers(("Cache-Control" = String, description = "no-store"))),
        BadBody,
        Missing
    )
)]
async fn replace_key(
    State(desk): Desk,
    Named((id, slot)): Named<(String, String)>,
    BodyOrNone(ask): BodyOrNone<KeyAsk>,
) -> Answered {
    let (slot, kept) = match slot.as_str() {
        "primary" => (Slot::Primary, KeySlot::Primary),
        "secondary" => (Slot::Secondary, KeySlot::Secondary),
        other => {
            let message = format!("There is no key {other:?}; a subscription has primary and secondary.");
            return Err(coded(404, "not_found", message));
        }
    };
    let new = desk.admin.rotate_key(&id, kept, ask.overlap.unwrap_or_default().0).await?;
    let (key, old_valid_until) = (new.secret.reveal().to_owned(), new.old_until.iso());
    Ok(unkept(Json(KeyMade { slot, key, old_valid_until }).into_response()))
}
