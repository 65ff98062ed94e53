//! `/operator/v1/subscriptions`: which products a developer may call, the keys to them, and how much of it was used.

mod keys;
mod shapes;
mod usage;

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use domain::subscription::Product as Kept;
use utoipa_axum::routes;

use super::document::{BadBody, BadQuery, Missing, Over};
use super::input::{Asked, Body, Named};
use super::paging::{PageAsk, page};
use super::{Answered, Desk, Operator, Routes, made, unkept};
use crate::admin::{AdminError, NewSubscription as Wanted};
use shapes::{
    NewSubscription, QuotaChange, Subscription, SubscriptionChange, SubscriptionMade, SubscriptionPage,
};

pub(super) fn routes() -> Routes {
    let own = [routes!(list, add), routes!(show, change), routes!(cancel)];
    own.into_iter().chain(keys::routes()).chain(usage::routes()).collect()
}

/// A subscription with what is known of its keys.
async fn shown(desk: &Operator, one: store::Subscription) -> Answered {
    let keys = desk.admin.keys_of(&one.id).await?;
    Ok(Json(Subscription::from(one).with(keys)).into_response())
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
    let wanted = Wanted { name: new.name.0, products, daily_quota: new.daily_quota.map(|quota| quota.0) };
    let (one, keys) = desk.admin.add_subscription(wanted).await?;
    let kept = desk.admin.keys_of(&one.id).await?;
    let shown = SubscriptionMade {
        subscription: Subscription::from(one).with(kept),
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
    shown(&desk, desk.admin.subscription(&id).await?).await
}

/// Suspend, resume, or give a quota
///
/// The keys of a suspended subscription are refused, and open again when it is resumed: at once at the node that
/// is asked, and within two seconds at others. So does a quota.
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
        Missing,
        Over
    )
)]
async fn change(
    State(desk): Desk,
    Named(id): Named<String>,
    Body(change): Body<SubscriptionChange>,
) -> Answered {
    if let Some(standing) = change.standing {
        desk.admin.set_subscription_status(&id, standing.into()).await?;
    }
    if let QuotaChange::To(quota) = change.daily_quota {
        desk.admin.set_daily_quota(&id, quota.map(|quota| quota.0)).await?;
    }
    shown(&desk, desk.admin.subscription(&id).await?).await
}

/// Cancel a subscription
///
/// For good: its keys are gone, and nothing brings them back. What it has used can still be read. One that is
/// cancelled already stays as it is.
#[utoipa::path(
    post,
    path = "/operator/v1/subscriptions/{subscription}/cancel",
    operation_id = "cancelSubscription",
    tag = "Subscriptions",
    params(("subscription" = String, Path, description = "The subscription's id")),
    responses((status = 200, description = "The subscription, which is over", body = Subscription), Missing)
)]
async fn cancel(State(desk): Desk, Named(id): Named<String>) -> Answered {
    shown(&desk, desk.admin.cancel_subscription(&id).await?).await
}
