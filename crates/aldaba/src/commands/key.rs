//! `aldaba key`.

use domain::subscription::{Product, Products};
use operator::admin::Admin;
use serde::Serialize;
use serde_json::json;
use store::{KeySlot, Standing, Subscription};

use super::{overlap, standing_word};
use crate::cli::{Key, Slot};
use crate::config::Sources;
use crate::exit::Outcome;
use crate::output::Output;

#[derive(Serialize)]
struct Shown {
    id: String,
    name: String,
    products: Vec<&'static str>,
    standing: String,
}

impl From<Subscription> for Shown {
    fn from(one: Subscription) -> Self {
        Self {
            id: one.id.to_string(),
            name: one.name,
            products: one.products.words(),
            standing: standing_word(one.standing),
        }
    }
}

pub(crate) async fn run(command: Key, sources: &Sources, output: Output) -> Outcome {
    let admin = super::admin(sources).await?;
    match command {
        Key::Add { name, products } => {
            let products: Products = if products.is_empty() {
                Products::all()
            } else {
                products.iter().filter_map(|word| Product::parse(word)).collect()
            };
            let (one, keys) = admin.add_subscription(&name, products).await?;
            output.say("The keys are shown once; keep them safe.");
            let (primary, secondary) = (keys.primary.reveal(), keys.secondary.reveal());
            let data = json!({
                "subscription": Shown::from(one.clone()), "primary_key": primary, "secondary_key": secondary
            });
            output.result(&data, || {
                format!("subscription   {}\nprimary_key    {primary}\nsecondary_key  {secondary}", one.id)
            });
        }
        Key::List => {
            let all: Vec<Shown> = admin.store.subscriptions().await?.into_iter().map(Shown::from).collect();
            output.list(&all, &["SUBSCRIPTION", "NAME", "PRODUCTS", "STANDING"], |one| {
                vec![one.id.clone(), one.name.clone(), one.products.join(" "), one.standing.clone()]
            });
        }
        Key::Suspend { id } => set_standing(&admin, &id, Standing::Disabled, output).await?,
        Key::Resume { id } => set_standing(&admin, &id, Standing::Active, output).await?,
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

async fn set_standing(admin: &Admin, id: &str, standing: Standing, output: Output) -> Outcome {
    admin.set_subscription_standing(id, standing).await?;
    let word = standing.word();
    output.done(&json!({"id": id, "standing": word}), &format!("subscription {id} is {word}"));
    Ok(())
}
