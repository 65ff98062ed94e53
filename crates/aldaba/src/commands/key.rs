//! `aldaba key`: manages subscriptions, their keys, quotas and usage.

use domain::Ticks;
use domain::subscription::Products;
use operator::admin::{Admin, NewSubscription, Usage};
use serde::Serialize;
use serde_json::json;
use store::{KeyInfo, KeySlot, ListFilter, Status, Subscription, SubscriptionUpdate};

use super::{all_pages, existing_team, overlap, products_named, team_or_none, team_phrase};
use crate::cli::{Key, KeySlotArg};
use crate::config::Sources;
use crate::exit::{CommandResult, Failure};
use crate::output::{Output, table};

#[derive(Serialize)]
struct SubscriptionView {
    id: String,
    name: String,
    products: Vec<&'static str>,
    team: Option<String>,
    sandbox: bool,
    standing: &'static str,
    daily_quota: Option<u64>,
    created_at: String,
    cancelled_at: Option<String>,
}

impl From<Subscription> for SubscriptionView {
    fn from(subscription: Subscription) -> Self {
        Self {
            standing: match subscription.cancelled_at {
                Some(_) => "cancelled",
                None => status_name(subscription.status),
            },
            id: subscription.id.to_string(),
            name: subscription.name,
            products: subscription.products.names(),
            team: subscription.team.map(|team| team.to_string()),
            sandbox: subscription.is_sandbox,
            daily_quota: subscription.daily_quota,
            created_at: subscription.created_at.iso(),
            cancelled_at: subscription.cancelled_at.map(Ticks::iso),
        }
    }
}

impl SubscriptionView {
    fn team_text(&self) -> String {
        let team = or_dash(self.team.as_ref());
        if self.sandbox { format!("{team} (sandbox)") } else { team }
    }
}

/// A disabled subscription is called suspended.
fn status_name(status: Status) -> &'static str {
    match status {
        Status::Active => "active",
        Status::Disabled | Status::Unconfirmed => "suspended",
    }
}

/// A subscription with the validity and last use of its keys.
#[derive(Serialize)]
struct SubscriptionWithKeys {
    #[serde(flatten)]
    subscription: SubscriptionView,
    keys: Vec<KeyView>,
}

#[derive(Serialize)]
struct KeyView {
    slot: &'static str,
    valid_until: Option<String>,
    last_used_at: Option<String>,
}

impl From<KeyInfo> for KeyView {
    fn from(key: KeyInfo) -> Self {
        Self {
            slot: key.slot.as_str(),
            valid_until: key.valid_until.map(Ticks::iso),
            last_used_at: key.last_used_at.map(Ticks::iso),
        }
    }
}

impl SubscriptionWithKeys {
    /// All members as text.
    fn text(&self) -> String {
        let SubscriptionView { id, name, products, standing, daily_quota, created_at, cancelled_at, .. } =
            &self.subscription;
        let quota = daily_quota.map_or_else(|| "-".into(), |calls| calls.to_string());
        let keys = self.keys.iter().map(|key| {
            vec![key.slot.to_owned(), or_dash(key.valid_until.as_ref()), or_dash(key.last_used_at.as_ref())]
        });
        format!(
            "subscription  {id}\nname          {name}\nproducts      {}\nteam          {}\nstatus        {standing}\n\
             daily_quota   {quota}\ncreated_at    {created_at}\ncancelled_at  {}\n\n{}",
            products.join(" "),
            self.subscription.team_text(),
            or_dash(cancelled_at.as_ref()),
            table(&["KEY", "VALID_UNTIL", "LAST_USED"], keys.collect())
        )
    }
}

fn or_dash(text: Option<&String>) -> String {
    text.cloned().unwrap_or_else(|| "-".into())
}

pub(crate) async fn run(command: Key, sources: &Sources, output: Output) -> CommandResult {
    if let Key::Cancel { id, yes: false } = &command {
        let why = "cancelling deletes its keys and cannot be undone; add --yes to confirm";
        return Err(Failure::Usage(format!("subscription {id}: {why}")));
    }
    let admin = super::admin(sources).await?;
    match command {
        Key::Add { name, products, team } => {
            let products = products_named(&products).unwrap_or_else(Products::all);
            add(&admin, NewSubscription { name, products, daily_quota: None, team }, output).await?;
        }
        Key::List { team } => list(&admin, team.as_deref(), output).await?,
        Key::Show { id } => {
            let subscription = admin.subscription(&id).await?;
            let keys = admin.keys_of(&subscription.id).await?.into_iter().map(KeyView::from).collect();
            let view = SubscriptionWithKeys { subscription: subscription.into(), keys };
            output.result(&view, || view.text());
        }
        Key::Team { id, team } => {
            let update =
                SubscriptionUpdate { team: Some(team_or_none(&team)), ..SubscriptionUpdate::default() };
            let changed = SubscriptionView::from(admin.update_subscription(&id, update, None).await?);
            output.done(&changed, &format!("subscription {id} belongs to {}", team_phrase(&team)));
        }
        Key::Suspend { id } => set_status(&admin, &id, Status::Disabled, output).await?,
        Key::Resume { id } => set_status(&admin, &id, Status::Active, output).await?,
        Key::Cancel { id, .. } => {
            let cancelled = SubscriptionView::from(admin.cancel_subscription(&id).await?);
            output.done(&cancelled, &format!("subscription {id} is cancelled"));
        }
        Key::Quota { id, calls } => {
            admin.set_daily_quota(&id, calls.0).await?;
            let quota = calls.0.map_or_else(
                || "the configured quota".into(),
                |calls| format!("a quota of {calls} calls per day"),
            );
            output
                .done(&json!({"id": id, "daily_quota": calls.0}), &format!("subscription {id} has {quota}"));
        }
        Key::Usage { id, from, to } => {
            let usage = admin.usage(&id, from, to).await?;
            output.result(&usage, || usage_text(&usage));
        }
        Key::Reveal { id, slot } => {
            let key = admin.reveal_key(&id, slot.into()).await?;
            output.result(&json!({"key": key.reveal()}), || key.reveal().to_owned());
        }
        Key::Rotate { id, slot, overlap: text } => {
            let key = admin.rotate_key(&id, slot.into(), overlap(&text)?).await?.secret;
            output.print_message(&format!("The old key remains valid for {text}."));
            output.result(&json!({"key": key.reveal()}), || key.reveal().to_owned());
        }
    }
    admin.store.close().await;
    Ok(())
}

impl From<KeySlotArg> for KeySlot {
    fn from(slot: KeySlotArg) -> Self {
        match slot {
            KeySlotArg::Primary => Self::Primary,
            KeySlotArg::Secondary => Self::Secondary,
        }
    }
}

async fn add(admin: &Admin, new: NewSubscription, output: Output) -> CommandResult {
    let (subscription, keys) = admin.add_subscription(new).await?;
    output.print_message("Store the keys safely. aldaba key reveal shows them again.");
    let (primary, secondary) = (keys.primary.reveal(), keys.secondary.reveal());
    let data = json!({
        "subscription": SubscriptionView::from(subscription.clone()), "primary_key": primary, "secondary_key": secondary
    });
    output.result(&data, || {
        format!("subscription   {}\nprimary_key    {primary}\nsecondary_key  {secondary}", subscription.id)
    });
    Ok(())
}

async fn list(admin: &Admin, team: Option<&str>, output: Output) -> CommandResult {
    let filter = ListFilter { team: existing_team(admin, team).await?, ..ListFilter::default() };
    let subscriptions =
        all_pages(async |query| admin.store.list_subscriptions(&filter, &query).await).await?;
    let all: Vec<SubscriptionView> = subscriptions.into_iter().map(SubscriptionView::from).collect();
    output.list(&all, &["SUBSCRIPTION", "NAME", "PRODUCTS", "TEAM", "STATUS"], |subscription| {
        vec![
            subscription.id.clone(),
            subscription.name.clone(),
            subscription.products.join(" "),
            subscription.team_text(),
            subscription.standing.to_owned(),
        ]
    });
    Ok(())
}

async fn set_status(admin: &Admin, id: &str, status: Status, output: Output) -> CommandResult {
    admin.set_subscription_status(id, status).await?;
    let status = status_name(status);
    output.done(&json!({"id": id, "standing": status}), &format!("subscription {id} is {status}"));
    Ok(())
}

/// One row per day and route, and a row with the total.
fn usage_text(usage: &Usage) -> String {
    let row = |day: &str, route: &str, calls: u64, failed: u64| {
        vec![day.to_owned(), route.to_owned(), calls.to_string(), failed.to_string()]
    };
    let mut rows = Vec::new();
    for day in &usage.days {
        rows.extend(day.routes.iter().map(|route| row(&day.day, &route.route, route.calls, route.failed)));
    }
    rows.push(row("all", &format!("{} to {}", usage.from, usage.to), usage.calls, usage.failed));
    table(&["DAY", "ROUTE", "CALLS", "FAILED"], rows)
}
