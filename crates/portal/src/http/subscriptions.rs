//! The subscriptions of the team: products, keys, usage.

use std::time::Duration;

use domain::Ticks;
use domain::subscription::Product;
use operator::admin::{DayUsage, RouteUsage};
use pages::{PageContext, PageError, Params, Response};
use store::{KeySlot, ListQuery, RequestKind, RequestState, Status, Subscription};

use crate::context::Context;
use crate::views::requests::RequestRow;
use crate::views::subscriptions::{
    KeyRow, ShownKey, SubscriptionPage, SubscriptionRow, SubscriptionsPage, UsageDay, UsageRoute,
};

const USAGE_DAYS: u16 = 30;
/// How many of the team's latest requests a page lists.
const REQUESTS_MAX: usize = 10;

pub(crate) async fn list(context: &Context) -> Result<Response, PageError> {
    let (developer, team) = (context.developer(), context.team.id.as_str());
    let subscriptions = developer.subscriptions(team, &ListQuery::default()).await?;
    let requests = open_requests(context, |kind| matches!(kind, RequestKind::Subscription { .. })).await?;
    Ok(context
        .show(&SubscriptionsPage { subscriptions: subscriptions.rows.iter().map(row).collect(), requests }))
}

pub(crate) async fn post_list(context: &Context, form: &Params) -> Result<Response, PageError> {
    match form.get("do") {
        Some("ask") => ask(context, form).await,
        Some("withdraw") => withdraw(context, form, "subscriptions").await,
        _ => Err(PageError::no_action()),
    }
}

async fn ask(context: &Context, form: &Params) -> Result<Response, PageError> {
    let product = form.get("product").and_then(Product::from_name);
    let product = product.ok_or_else(|| PageError::Refused("choose a product".into()))?;
    let kind = RequestKind::Subscription {
        name: form.get("name").unwrap_or_default().to_owned(),
        product,
        is_sandbox: form.is_set("sandbox"),
    };
    let note = form.get("note").unwrap_or_default();
    let request = context.developer().ask(context.team.id.as_str(), kind, note).await?;
    let code = if request.state == RequestState::Approved { "approved" } else { "asked" };
    Ok(context.done(&context.team_path("subscriptions"), code, &RequestRow::new(&request)))
}

/// Withdraws a request of the team, from the page that lists it.
pub(crate) async fn withdraw(context: &Context, form: &Params, page: &str) -> Result<Response, PageError> {
    let (developer, id) = (context.developer(), form.get("request").unwrap_or_default());
    // Only through the pages of its own team: a developer may belong to several.
    if developer.request(id).await?.team != context.team.id {
        return Err(PageError::NotFound);
    }
    let request = developer.withdraw(id).await?;
    Ok(context.done(&context.team_path(page), "withdrawn", &RequestRow::new(&request)))
}

/// The pending requests of a kind, and the latest refused ones.
pub(crate) async fn open_requests(
    context: &Context,
    is_wanted: impl Fn(&RequestKind) -> bool,
) -> Result<Vec<RequestRow>, PageError> {
    let (developer, team) = (context.developer(), context.team.id.as_str());
    let mut rows = Vec::new();
    for state in [RequestState::Pending, RequestState::Refused] {
        let page = developer.requests(team, Some(state), &ListQuery::default()).await?;
        let wanted = page.rows.iter().rev().filter(|request| is_wanted(&request.kind));
        rows.extend(wanted.take(REQUESTS_MAX).map(RequestRow::new));
    }
    Ok(rows)
}

fn row(subscription: &Subscription) -> SubscriptionRow {
    SubscriptionRow {
        id: subscription.id.to_string(),
        name: subscription.name.clone(),
        products: subscription.products.names(),
        is_sandbox: subscription.is_sandbox,
        status: match (subscription.cancelled_at, subscription.status) {
            (Some(_), _) => "cancelled",
            (None, Status::Active) => "active",
            (None, _) => "suspended",
        },
        since: subscription.created_at.iso(),
        since_at: subscription.created_at,
    }
}

pub(crate) async fn one(context: &Context) -> Result<Response, PageError> {
    Ok(context.show(&page(context, None).await?))
}

async fn page(context: &Context, shown_key: Option<ShownKey>) -> Result<SubscriptionPage, PageError> {
    let id = context.segment("subscription");
    let developer = context.developer();
    let found = developer.subscription(id).await?;
    if found.subscription.team.as_ref() != Some(&context.team.id) {
        return Err(PageError::NotFound);
    }
    let usage = developer.usage(id, USAGE_DAYS).await?;
    let day = |one: DayUsage| UsageDay { day: one.day, calls: one.calls, failed: one.failed };
    let route = |one: RouteUsage| UsageRoute { route: one.route, calls: one.calls, failed: one.failed };
    let key = |key: &store::KeyInfo| KeyRow {
        slot: key.slot.as_str(),
        valid_until: key.valid_until.map(Ticks::iso),
        valid_until_at: key.valid_until,
        last_used: key.last_used_at.map(Ticks::iso),
        last_used_at: key.last_used_at,
    };
    Ok(SubscriptionPage {
        subscription: row(&found.subscription),
        keys: found.keys.iter().map(key).collect(),
        rate_per_minute: found.limits.rate_per_minute.map(u64::from),
        daily_quota: found.limits.calls_per_day,
        calls_today: found.calls_today,
        days: usage.every_day().into_iter().map(day).collect(),
        routes: usage.by_route().into_iter().map(route).collect(),
        shown_key,
    })
}

pub(crate) async fn post_one(context: &Context, form: &Params) -> Result<Response, PageError> {
    let id = context.segment("subscription");
    let slot = match form.get("slot") {
        Some("secondary") => KeySlot::Secondary,
        _ => KeySlot::Primary,
    };
    context.require_fresh()?;
    // Only through the pages of its own team.
    page(context, None).await?;
    let shown = match form.get("do") {
        Some("reveal") => {
            let key = context.developer().reveal_key(id, slot).await?;
            ShownKey { slot: slot.as_str(), key: key.reveal().to_owned(), is_new: false }
        }
        Some("regenerate") => {
            let rotated = context.developer().regenerate_key(id, slot, overlap(form)).await?;
            ShownKey { slot: slot.as_str(), key: rotated.secret.reveal().to_owned(), is_new: true }
        }
        _ => return Err(PageError::no_action()),
    };
    Ok(context.show(&page(context, Some(shown)).await?))
}

/// How long the old key or secret stays valid.
pub(crate) fn overlap(form: &Params) -> Duration {
    const HOUR: u64 = 60 * 60;
    match form.get("overlap") {
        Some("none") => Duration::ZERO,
        Some("hour") => Duration::from_secs(HOUR),
        Some("week") => Duration::from_secs(7 * 24 * HOUR),
        _ => Duration::from_secs(24 * HOUR),
    }
}
