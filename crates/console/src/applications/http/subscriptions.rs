//! The list of subscriptions, and new ones.

use operator::admin::{NewSubscription, Permission};
use pages::{PageContext, PageError, Params, Response};

use super::form::{named, optional, products, quota, require, text};
use super::lists::{filter, read, team_names, team_ref};
use crate::applications::text::subscriptions::SubscriptionText;
use crate::applications::views::secrets::{SecretsPage, ShownSecret};
use crate::applications::views::subscriptions::{SubscriptionRow, SubscriptionsPage};
use crate::context::Context;
use crate::shell::Section;

pub(crate) async fn list(context: &Context) -> Result<Response, PageError> {
    let (admin, filter) = (context.admin(), filter(context));
    let (rows, next) = read(context, |query| {
        let (admin, filter) = (admin.clone(), filter.clone());
        async move { admin.subscriptions(&filter, &query).await }
    })
    .await?;
    let names = team_names(context, rows.iter().filter_map(|one| one.team.as_ref())).await?;
    let row = |one| SubscriptionRow::new(one, one.team.as_ref().map(|team| team_ref(team, &names)));
    Ok(context.show(&SubscriptionsPage { subscriptions: rows.iter().map(row).collect(), next }))
}

pub(crate) async fn post_list(context: &Context, form: &Params) -> Result<Response, PageError> {
    require(context, Permission::Keys)?;
    if form.get("do") != Some("add") {
        return Err(PageError::no_action());
    }
    let new = NewSubscription {
        name: text(form, "name"),
        products: products(form),
        daily_quota: quota(form)?,
        team: optional(form, "team"),
    };
    let (subscription, keys) = named(context.admin().add_subscription(new).await)?;
    Ok(context.show(&SecretsPage {
        section: Section::Subscriptions,
        title: |lang| SubscriptionText::of(lang).new_subscription,
        back: context.console_path(&format!("subscriptions/{}", subscription.id)),
        id: subscription.id.to_string(),
        name: subscription.name,
        secrets: vec![
            ShownSecret::new("primaryKey", |lang| SubscriptionText::of(lang).primary, &keys.primary),
            ShownSecret::new("secondaryKey", |lang| SubscriptionText::of(lang).secondary, &keys.secondary),
        ],
        old_valid_until: None,
    }))
}
