//! The event catalogue, and one event.

use domain::delivery::ReplayRequest;
use domain::event::EventKind;
use domain::{Resource, WebhookStatus};
use operator::admin::TeamWebhookFilter;
use pages::{PageContext, PageError, Params, Response};
use webhooks::history::HistoryError;

use super::sandbox;
use crate::catalogue::{Event, catalogue};
use crate::context::Context;
use crate::views::event::{EventPage, SentTestEvent, SubscribedWebhook};
use crate::views::events::EventsPage;

/// Longer searches find nothing.
const SEARCH_CHARS_MAX: usize = 100;
/// How many webhooks the form of test events offers.
const WEBHOOKS_MAX: usize = 100;

#[allow(clippy::unused_async, reason = "every page is asynchronous")]
pub(crate) async fn list(context: &Context) -> Result<Response, PageError> {
    let search = context.query.get("q").map(str::trim).unwrap_or_default();
    let area = context.query.get("area").unwrap_or_default();
    let is_wanted = |event: &&Event| {
        (area.is_empty() || event.area == area)
            && search.chars().count() <= SEARCH_CHARS_MAX
            && event.matches(search)
    };
    let events = catalogue().all().filter(is_wanted).collect();
    Ok(context.show(&EventsPage { search: search.to_owned(), area: area.to_owned(), events }))
}

pub(crate) async fn get(context: &Context) -> Result<Response, PageError> {
    let event = find(context)?;
    let (webhooks, has_more_webhooks) = match event.subscribable() {
        Some(wanted) => subscribed(context, wanted).await?,
        None => (Vec::new(), false),
    };
    let (sandbox, _) = sandbox::found(context).await?;
    Ok(context.show(&EventPage { event, webhooks, has_more_webhooks, sandbox }))
}

fn find(context: &Context) -> Result<&'static Event, PageError> {
    catalogue().find(context.segment("event")).ok_or(PageError::NotFound)
}

/// The active webhooks of the team that subscribe to the event, and whether there are more.
async fn subscribed(
    context: &Context,
    event: (Resource, EventKind),
) -> Result<(Vec<SubscribedWebhook>, bool), PageError> {
    let filter = TeamWebhookFilter {
        event: Some(event),
        status: Some(WebhookStatus::Active),
        rows_max: Some(WEBHOOKS_MAX),
        ..TeamWebhookFilter::default()
    };
    let page = context.developer().webhooks(context.team.id.as_str(), &filter).await?;
    let webhooks = page.rows.into_iter().map(|one| SubscribedWebhook {
        id: one.webhook.id.to_string(),
        name: one.webhook.name,
        url: one.webhook.url,
        tenant: one.webhook.owner.tenant.to_string(),
    });
    Ok((webhooks.collect(), page.next.is_some()))
}

/// Sends a test event to a webhook of the team.
pub(crate) async fn post(context: &Context, form: &Params) -> Result<Response, PageError> {
    let event = find(context)?;
    if form.get("do") != Some("send") {
        return Err(PageError::no_action());
    }
    let (resource, kind) = event.subscribable().ok_or(PageError::NotFound)?;
    let id = form.get("other").or_else(|| form.get("webhook")).map(str::trim).unwrap_or_default();
    let developer = context.developer();
    let (webhook, by) = developer.changeable_webhook(id).await?;
    let client = developer.client(webhook.owner.client.as_str()).await?.client;
    if client.team.as_ref() != Some(&context.team.id) {
        return Err(PageError::NotFound);
    }
    if webhook.resource != resource {
        return Err(HistoryError::NotSubscribed.into());
    }
    let request = ReplayRequest::TestEventOf(kind);
    let replay = context.portal.ports.history.request_replay(&webhook, request, by).await?;
    let sent = SentTestEvent { webhook: id.to_owned(), event: event.name.clone(), replay: replay.number };
    Ok(context.done(&context.here(&[], []), "test_sent", &sent))
}
