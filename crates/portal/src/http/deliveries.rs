//! The deliveries of a webhook of the team.

use domain::delivery::{DeliveryName, ReplayRequest};
use operator::admin::WebhookContent;
use pages::webhooks::delivery::ReplayJson;
use pages::webhooks::{Reader, read};
use pages::{PageContext, PageError, Params, Response};
use store::Webhook;

use crate::context::Context;
use crate::views::suspended::SuspendedPage;

pub(crate) async fn list(context: &Context) -> Result<Response, PageError> {
    let webhook = team_webhook(context).await?;
    if let Some(hidden) = suspended(context, &webhook).await? {
        return Ok(context.show(&hidden));
    }
    Ok(context.show(&read::deliveries(context, &context.portal.ports.history, &webhook).await?))
}

pub(crate) async fn one(context: &Context) -> Result<Response, PageError> {
    let webhook = team_webhook(context).await?;
    if let Some(hidden) = suspended(context, &webhook).await? {
        return Ok(context.show(&hidden));
    }
    let ports = &context.portal.ports;
    Ok(context.show(&read::delivery(context, &ports.history, &*ports.store, &webhook).await?))
}

pub(crate) async fn post_one(context: &Context, form: &Params) -> Result<Response, PageError> {
    if form.get("do") != Some("replay") {
        return Err(PageError::no_action());
    }
    team_webhook(context).await?;
    let developer = context.developer();
    let (webhook, audit) = developer.changeable_webhook(context.segment("webhook")).await?;
    let request = ReplayRequest::Delivery(DeliveryName::Sequence(read::sequence(context)?));
    let requested = context.portal.ports.history.request_replay(&webhook, request, audit).await;
    let replay = requested.map_err(|error| read::not_replayed(context.lang(), Reader::Developer, error))?;
    Ok(context.done(&context.here(&[], []), "replay_started", &ReplayJson::new(&replay)))
}

/// The webhook that the URL names, if its client is of the URL's team: a developer may belong to several.
async fn team_webhook(context: &Context) -> Result<Webhook, PageError> {
    let webhook = context.developer().require_webhook(context.segment("webhook")).await?;
    let client = context.portal.ports.store.find_client(&webhook.owner.client).await?;
    let is_of_team = client.is_some_and(|client| client.team.as_ref() == Some(&context.team.id));
    if is_of_team { Ok(webhook) } else { Err(PageError::NotFound) }
}

/// What is shown instead of any delivery while the client may not receive the tenant's data.
async fn suspended(context: &Context, webhook: &Webhook) -> Result<Option<SuspendedPage>, PageError> {
    Ok(match context.developer().may_see_content(webhook).await? {
        WebhookContent::Visible => None,
        WebhookContent::Hidden(suspension) => Some(SuspendedPage::new(webhook, suspension)),
    })
}
