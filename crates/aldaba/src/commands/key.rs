//! `aldaba key`.

use domain::Ticks;
use domain::subscription::{Product, Products};
use operator::admin::{Admin, NewSubscription, Usage};
use serde::Serialize;
use serde_json::json;
use store::{KeyInfo, KeySlot, Status, Subscription};

use super::{all_pages, overlap};
use crate::cli::{Key, Slot};
use crate::config::Sources;
use crate::exit::{Failure, Outcome};
use crate::output::{Output, table};

#[derive(Serialize)]
struct Shown {
    id: String,
    name: String,
    products: Vec<&'static str>,
    standing: &'static str,
    daily_quota: Option<u64>,
    created_at: String,
    cancelled_at: Option<String>,
}

impl From<Subscription> for Shown {
    fn from(one: Subscription) -> Self {
        Self {
            standing: match one.cancelled_at {
                Some(_) => "cancelled",
                None => word(one.status),
            },
            id: one.id.to_string(),
            name: one.name,
            products: one.products.names(),
            daily_quota: one.daily_quota,
            created_at: one.created_at.iso(),
            cancelled_at: one.cancelled_at.map(Ticks::iso),
        }
    }
}

fn word(standing: Status) -> &'static str {
    match standing {
        Status::Active => "active",
        Status::Disabled => "suspended",
    }
}

/// A subscription with what is known of its keys.
#[derive(Serialize)]
struct Whole {
    #[serde(flatten)]
    subscription: Shown,
    keys: Vec<ShownKey>,
}

#[derive(Serialize)]
struct ShownKey {
    slot: &'static str,
    valid_until: Option<String>,
    last_used_at: Option<String>,
}

impl From<KeyInfo> for ShownKey {
    fn from(key: KeyInfo) -> Self {
        Self {
            slot: key.slot.as_str(),
            valid_until: key.valid_until.map(Ticks::iso),
            last_used_at: key.last_used_at.map(Ticks::iso),
        }
    }
}

impl Whole {
    /// Everything, for people.
    fn text(&self) -> String {
        let Shown { id, name, products, standing, daily_quota, created_at, cancelled_at } =
            &self.subscription;
        let quota = daily_quota.map_or_else(|| "-".into(), |calls| calls.to_string());
        let keys = self.keys.iter().map(|key| {
            vec![key.slot.to_owned(), or_dash(key.valid_until.as_ref()), or_dash(key.last_used_at.as_ref())]
        });
        format!(
            "subscription  {id}\nname          {name}\nproducts      {}\nstanding      {standing}\n\
             daily_quota   {quota}\ncreated_at    {created_at}\ncancelled_at  {}\n\n{}",
            products.join(" "),
            or_dash(cancelled_at.as_ref()),
            table(&["KEY", "VALID_UNTIL", "LAST_USED"], keys.collect())
        )
    }
}

fn or_dash(text: Option<&String>) -> String {
    text.cloned().unwrap_or_else(|| "-".into())
}

pub(crate) async fn run(command: Key, sources: &Sources, output: Output) -> Outcome {
    if let Key::Cancel { id, yes: false } = &command {
        let why = "its keys are gone for good, and nothing brings them back; give --yes if you mean it";
        return Err(Failure::Usage(format!("cancelling {id} is final: {why}")));
    }
    let admin = super::admin(sources).await?;
    match command {
        Key::Add { name, products } => add(&admin, name, &products, output).await?,
        Key::List => list(&admin, output).await?,
        Key::Show { id } => {
            let one = admin.subscription(&id).await?;
            let keys = admin.keys_of(&one.id).await?.into_iter().map(ShownKey::from).collect();
            let whole = Whole { subscription: one.into(), keys };
            output.result(&whole, || whole.text());
        }
        Key::Suspend { id } => set_status(&admin, &id, Status::Disabled, output).await?,
        Key::Resume { id } => set_status(&admin, &id, Status::Active, output).await?,
        Key::Cancel { id, .. } => {
            let one = Shown::from(admin.cancel_subscription(&id).await?);
            output.done(&one, &format!("subscription {id} is cancelled"));
        }
        Key::Quota { id, calls } => {
            admin.set_daily_quota(&id, calls.0).await?;
            let said = calls
                .0
                .map_or_else(|| "the configuration's quota".into(), |calls| format!("{calls} calls a day"));
            output.done(&json!({"id": id, "daily_quota": calls.0}), &format!("subscription {id} has {said}"));
        }
        Key::Usage { id, from, to } => {
            let usage = admin.usage(&id, from, to).await?;
            output.result(&usage, || usage_text(&usage));
        }
        Key::Rotate { id, slot, overlap: text } => {
            let slot = match slot {
                Slot::Primary => KeySlot::Primary,
                Slot::Secondary => KeySlot::Secondary,
            };
            let key = admin.rotate_key(&id, slot, overlap(&text)?).await?.secret;
            output.say(&format!("The old key stays valid for {text}."));
            output.result(&json!({"key": key.reveal()}), || key.reveal().to_owned());
        }
    }
    admin.store.close().await;
    Ok(())
}

async fn add(admin: &Admin, name: String, products: &[String], output: Output) -> Outcome {
    let products: Products = if products.is_empty() {
        Products::all()
    } else {
        products.iter().filter_map(|word| Product::parse(word)).collect()
    };
    let (one, keys) = admin.add_subscription(NewSubscription { name, products, daily_quota: None }).await?;
    output.say("The keys are shown once; keep them safe.");
    let (primary, secondary) = (keys.primary.reveal(), keys.secondary.reveal());
    let data = json!({
        "subscription": Shown::from(one.clone()), "primary_key": primary, "secondary_key": secondary
    });
    output.result(&data, || {
        format!("subscription   {}\nprimary_key    {primary}\nsecondary_key  {secondary}", one.id)
    });
    Ok(())
}

async fn list(admin: &Admin, output: Output) -> Outcome {
    let subscriptions = all_pages(async |query| admin.store.list_subscriptions(&query).await).await?;
    let all: Vec<Shown> = subscriptions.into_iter().map(Shown::from).collect();
    output.list(&all, &["SUBSCRIPTION", "NAME", "PRODUCTS", "STANDING"], |one| {
        vec![one.id.clone(), one.name.clone(), one.products.join(" "), one.standing.to_owned()]
    });
    Ok(())
}

async fn set_status(admin: &Admin, id: &str, standing: Status, output: Output) -> Outcome {
    admin.set_subscription_status(id, standing).await?;
    let word = word(standing);
    output.done(&json!({"id": id, "standing": word}), &format!("subscription {id} is {word}"));
    Ok(())
}

/// A line for each day and route, and one for all of it.
fn usage_text(usage: &Usage) -> String {
    let line = |day: &str, route: &str, calls: u64, failed: u64| {
        vec![day.to_owned(), route.to_owned(), calls.to_string(), failed.to_string()]
    };
    let mut rows = Vec::new();
    for day in &usage.days {
        rows.extend(day.routes.iter().map(|one| line(&day.day, &one.route, one.calls, one.failed)));
    }
    rows.push(line("all", &format!("{} to {}", usage.from, usage.to), usage.calls, usage.failed));
    table(&["DAY", "ROUTE", "CALLS", "FAILED"], rows)
}
