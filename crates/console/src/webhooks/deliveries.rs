//! The deliveries of a webhook. Operators see what they contain whatever access the application has: it is their data.

use domain::Guid;
use operator::admin::Permission;
use pages::webhooks::read;
use pages::{PageContext, PageError, Params, Response};
use store::Webhook;

use super::one::not_replayed;
use crate::context::Context;

pub(crate) async fn list(context: &Context) -> Result<Response, PageError> {
    let webhook = webhook(context).await?;
    Ok(context.show(&read::deliveries(context, &context.console.ports.history, &webhook).await?))
}

pub(crate) async fn one(context: &Context) -> Result<Response, PageError> {
    let (webhook, ports) = (webhook(context).await?, &context.console.ports);
    Ok(context.show(&read::delivery(context, &ports.history, &*ports.store, &webhook).await?))
}

pub(crate) async fn post_one(context: &Context, form: &Params) -> Result<Response, PageError> {
    if form.get("do") != Some("replay") {
        return Err(PageError::no_action());
    }
    let by = &context.authority();
    by.require(Permission::Webhooks)?;
    let (webhook, sequence) = (webhook(context).await?.id.to_string(), read::sequence(context)?.to_string());
    let admin = &context.console.ports.webhook_admin;
    let replay = admin.replay_delivery(&webhook, &sequence, by).await;
    let replay = replay.map_err(not_replayed)?;
    Ok(context.done(&context.here(&[], []), "webhook_delivery_replayed", &replay))
}

async fn webhook(context: &Context) -> Result<Webhook, PageError> {
    let id = Guid::parse(context.segment("webhook")).ok_or(PageError::NotFound)?;
    Ok(context.console.ports.history.webhook(id).await?)
}
