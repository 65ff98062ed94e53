//! `/operator/v1/subscriptions`: a developer's products, their keys, quota and usage.

mod keys;
mod schemas;
mod usage;

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse as _;
use store::SubscriptionUpdate;
use utoipa_axum::routes;

use super::document::{BadBody, BadQuery, NotFound, SubscriptionConflict};
use super::input::{JsonBody, PathParams, QueryParams, RequestOrigin};
use super::paging::{SubscriptionListParams, next_text};
use super::product::products_of;
use super::{AppState, HandlerResult, Routes, SharedState, created, no_store};
use crate::admin;
use schemas::{
    CreatedSubscription, NewSubscription, QuotaChange, Subscription, SubscriptionChange, SubscriptionPage,
};

pub(super) fn routes() -> Routes {
    let own = [routes!(list, add), routes!(show, change), routes!(cancel)];
    own.into_iter().chain(keys::routes()).chain(usage::routes()).collect()
}

/// A subscription with its keys, without their secrets.
async fn subscription_response(state: &AppState, subscription: store::Subscription) -> HandlerResult {
    let keys = state.admin.keys_of(&subscription.id).await?;
    Ok(Json(Subscription::from(subscription).with(keys)).into_response())
}

/// List subscriptions
#[utoipa::path(
    get,
    path = "/operator/v1/subscriptions",
    operation_id = "listSubscriptions",
    tag = "Subscriptions",
    params(SubscriptionListParams),
    responses((status = 200, description = "A page of subscriptions", body = SubscriptionPage), BadQuery)
)]
async fn list(
    State(state): SharedState,
    QueryParams(params): QueryParams<SubscriptionListParams>,
) -> HandlerResult {
    let (filter, query) = params.into_parts();
    let page = state.admin.subscriptions(&filter, &query).await?;
    let next = next_text(page.next.as_ref());
    let subscriptions = page.rows.into_iter().map(Subscription::from).collect();
    Ok(Json(SubscriptionPage { subscriptions, next }).into_response())
}

/// Add a subscription
///
/// The response holds both keys.
#[utoipa::path(
    post,
    path = "/operator/v1/subscriptions",
    operation_id = "addSubscription",
    tag = "Subscriptions",
    request_body = NewSubscription,
    responses(
        (status = 201, description = "The new subscription", body = CreatedSubscription,
            headers(
                ("Location" = String, description = "The subscription's path"),
                ("Cache-Control" = String, description = "no-store")
            )),
        BadBody,
        NotFound
    )
)]
async fn add(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    JsonBody(new): JsonBody<NewSubscription>,
) -> HandlerResult {
    let new_subscription = admin::NewSubscription {
        name: new.name.0,
        products: products_of(new.products),
        daily_quota: new.daily_quota.map(|quota| quota.0),
        team: new.team.map(|team| team.0),
    };
    let (subscription, keys) = state.admin.acting(authority).add_subscription(new_subscription).await?;
    let key_infos = state.admin.keys_of(&subscription.id).await?;
    let response = CreatedSubscription {
        subscription: Subscription::from(subscription).with(key_infos),
        primary_key: keys.primary.reveal().to_owned(),
        secondary_key: keys.secondary.reveal().to_owned(),
    };
    Ok(no_store(created(&["subscriptions", &response.subscription.id], &response)))
}

/// Show a subscription
#[utoipa::path(
    get,
    path = "/operator/v1/subscriptions/{subscription}",
    operation_id = "getSubscription",
    tag = "Subscriptions",
    params(("subscription" = String, Path, description = "The subscription's id")),
    responses((status = 200, description = "The subscription", body = Subscription), NotFound)
)]
async fn show(State(state): SharedState, PathParams(id): PathParams<String>) -> HandlerResult {
    subscription_response(&state, state.admin.subscription(&id).await?).await
}

/// Suspend or resume a subscription, or set its quota
///
/// The keys of a suspended subscription are refused until it is resumed. Changes apply at once on the node that serves
/// this request, and within two seconds on the others.
#[utoipa::path(
    patch,
    path = "/operator/v1/subscriptions/{subscription}",
    operation_id = "changeSubscription",
    tag = "Subscriptions",
    params(("subscription" = String, Path, description = "The subscription's id")),
    request_body = SubscriptionChange,
    responses(
        (status = 200, description = "The changed subscription", body = Subscription),
        BadBody,
        NotFound,
        SubscriptionConflict
    )
)]
async fn change(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    PathParams(id): PathParams<String>,
    JsonBody(change): JsonBody<SubscriptionChange>,
) -> HandlerResult {
    let daily_quota = match change.daily_quota {
        QuotaChange::None => None,
        QuotaChange::To(quota) => Some(quota.map(|quota| quota.0)),
    };
    let update = SubscriptionUpdate {
        status: change.standing.map(Into::into),
        daily_quota,
        team: change.team.update(),
        is_sandbox: change.sandbox,
    };
    let revision = change.revision.map(|revision| revision.0);
    subscription_response(
        &state,
        state.admin.acting(authority).update_subscription(&id, update, revision).await?,
    )
    .await
}

/// Cancel a subscription
///
/// Final: its keys are deleted and cannot be restored. Its usage can still be read. Cancelling a cancelled subscription
/// changes nothing.
#[utoipa::path(
    post,
    path = "/operator/v1/subscriptions/{subscription}/cancel",
    operation_id = "cancelSubscription",
    tag = "Subscriptions",
    params(("subscription" = String, Path, description = "The subscription's id")),
    responses((status = 200, description = "The cancelled subscription", body = Subscription), NotFound)
)]
async fn cancel(
    State(state): SharedState,
    RequestOrigin(authority): RequestOrigin,
    PathParams(id): PathParams<String>,
) -> HandlerResult {
    subscription_response(&state, state.admin.acting(authority).cancel_subscription(&id).await?).await
}
