//! One subscription: its keys, limits and usage.

use operator::admin::Permission;
use pages::{PageContext, PageError, Params, Response};
use store::{KeySlot, Status, SubscriptionUpdate};

use super::form::{confirmed, named, overlap, quota, require, revision, team};
use crate::applications::text::subscriptions::SubscriptionText;
use crate::applications::views::parts::TeamRef;
use crate::applications::views::secrets::{SecretsPage, ShownSecret};
use crate::applications::views::subscription::{KeyRow, SubscriptionPage};
use crate::applications::views::subscriptions::SubscriptionRow;
use crate::context::Context;
use crate::shell::Section;

pub(crate) async fn one(context: &Context) -> Result<Response, PageError> {
    let admin = context.admin();
    let found = admin.subscription_in_use(context.segment("subscription")).await?;
    let team = match &found.subscription.team {
        Some(id) => {
            let team = context.console.ports.store.find_team(id).await?;
            Some(TeamRef { id: id.to_string(), name: team.map(|team| team.name) })
        }
        None => None,
    };
    let usage = admin.usage(found.subscription.id.as_str(), None, None).await?;
    Ok(context.show(&SubscriptionPage {
        row: SubscriptionRow::new(&found.subscription, team),
        keys: found.keys.iter().map(KeyRow::new).collect(),
        rate_per_minute: found.limits.rate_per_minute,
        calls_per_day: found.limits.calls_per_day,
        daily_quota: found.subscription.daily_quota,
        calls_today: found.calls_today,
        days: usage.every_day(),
        routes: usage.by_route(),
        revision: found.subscription.revision,
    }))
}

pub(crate) async fn post_one(context: &Context, form: &Params) -> Result<Response, PageError> {
    require(context, Permission::Keys)?;
    let (admin, id) = (context.admin(), context.segment("subscription"));
    let (changed, code) = match form.get("do") {
        Some("change") => (change(context, form).await?, "subscription_changed"),
        Some("suspend") => {
            (admin.set_subscription_status(id, Status::Disabled).await?, "subscription_suspended")
        }
        Some("resume") => (admin.set_subscription_status(id, Status::Active).await?, "subscription_resumed"),
        Some("cancel") => {
            admin.subscription(id).await?;
            confirmed(form, id)?;
            (admin.cancel_subscription(id).await?, "subscription_cancelled")
        }
        Some("regenerate") => return regenerate(context, form).await,
        _ => return Err(PageError::no_action()),
    };
    let team = changed.team.as_ref().map(|id| TeamRef { id: id.to_string(), name: None });
    Ok(context.done(&here(context), code, &SubscriptionRow::new(&changed, team)))
}

fn here(context: &Context) -> String {
    context.console_path(&format!("subscriptions/{}", context.segment("subscription")))
}

async fn change(context: &Context, form: &Params) -> Result<store::Subscription, PageError> {
    let (admin, id) = (context.admin(), context.segment("subscription"));
    admin.subscription(id).await?;
    let update = SubscriptionUpdate {
        status: None,
        daily_quota: Some(quota(form)?),
        team: Some(team(form)),
        is_sandbox: Some(form.is_set("sandbox")),
    };
    named(admin.update_subscription(id, update, revision(form)).await)
}

async fn regenerate(context: &Context, form: &Params) -> Result<Response, PageError> {
    let (admin, id) = (context.admin(), context.segment("subscription"));
    let subscription = admin.subscription(id).await?;
    let (slot, title): (KeySlot, fn(ui::Lang) -> &'static str) = match form.get("slot") {
        Some("secondary") => (KeySlot::Secondary, |lang| SubscriptionText::of(lang).new_secondary),
        _ => (KeySlot::Primary, |lang| SubscriptionText::of(lang).new_primary),
    };
    let rotated = admin.rotate_key(id, slot, overlap(form)).await?;
    Ok(context.show(&SecretsPage {
        section: Section::Subscriptions,
        title,
        back: here(context),
        id: subscription.id.to_string(),
        name: subscription.name,
        secrets: vec![ShownSecret::new("key", |lang| SubscriptionText::of(lang).key, &rotated.secret)],
        old_valid_until: Some(rotated.previous_valid_until),
    }))
}
