//! One webhook of the team: how it is doing, and what can be done to it.

use domain::delivery::ReplayRequest;
use domain::webhook::Family;
use domain::{Secret, Ticks, WebhookStatus};
use futures_util::try_join;
use operator::admin::{TeamWebhook, WebhookContent};
use pages::webhooks::figures::{Facts, ReplayRow};
use pages::webhooks::row::WebhookRow;
use pages::webhooks::text::webhooks::action_refusal;
use pages::webhooks::{Reader, read};
use pages::{PageContext, PageError, Params, Response};
use serde::Serialize;
use store::{AuditContext, Client, Webhook};
use webhooks::management::ActionError;

use super::subscriptions::overlap;
use crate::context::Context;
use crate::views::webhook::WebhookPage;

pub(crate) async fn one(context: &Context) -> Result<Response, PageError> {
    Ok(context.show(&page(context, None).await?))
}

/// The webhook and its client, if they are of the team in the URL.
async fn found(context: &Context) -> Result<(TeamWebhook, Client), PageError> {
    let one = context.developer().webhook(context.segment("webhook")).await?;
    let client = context.portal.ports.store.find_client(&one.webhook.owner.client).await?;
    let own = client.filter(|client| client.team.as_ref() == Some(&context.team.id));
    Ok((one, own.ok_or(PageError::NotFound)?))
}

async fn page(context: &Context, new_secret: Option<String>) -> Result<WebhookPage, PageError> {
    let (one, client) = found(context).await?;
    let (webhook, ports) = (&one.webhook, &context.portal.ports);
    let mut row = WebhookRow::new(&one, Some(client.name));
    let mut content = None;
    let visible = context.developer().may_see_content(webhook).await?;
    if let WebhookContent::Visible = visible {
        let tenant = async { Ok(ports.store.find_tenant(&webhook.owner.tenant).await?) };
        let (tenant, read) = try_join!(tenant, read::content(context, &ports.history, webhook))?;
        row.tenant_name = tenant.map(|tenant| tenant.name);
        content = Some(read);
    }
    let until = webhook.previous_secret.as_ref().map(|previous| previous.until);
    let previous_until = until.filter(|until| *until > context.now);
    let failing_since = row.failing_since_at;
    Ok(WebhookPage {
        row,
        facts: Facts::new(webhook),
        hidden: match visible {
            WebhookContent::Visible => None,
            WebhookContent::Hidden(why) => Some(why),
        },
        content,
        disabled_at: failing_since.map(|since| since + ports.history.retry_window()),
        has_lost_events: webhook.event_gap.is_some() && !one.status.is_final(),
        host_mismatch: Some(webhook.host_mismatch.clone()).filter(|why| !why.is_empty()),
        can_change_url: webhook.family() != Family::Invoicing,
        previous_secret_until: previous_until.map(Ticks::iso),
        previous_secret_until_at: previous_until,
        new_secret,
    })
}

/// What an action leaves, for programs.
#[derive(Debug, Serialize)]
struct Changed {
    id: String,
    url: String,
    status: WebhookStatus,
}

pub(crate) async fn post_one(context: &Context, form: &Params) -> Result<Response, PageError> {
    // Only through the pages of its own team.
    found(context).await?;
    let developer = context.developer();
    let (webhook, audit) = developer.changeable_webhook(context.segment("webhook")).await?;
    let management = &context.portal.ports.management;
    let (changed, code) = match form.get("do") {
        Some("enable") => (management.set_enabled(&webhook, true, audit).await, "webhook_enabled"),
        Some("pause") => (management.set_enabled(&webhook, false, audit).await, "webhook_paused"),
        Some("change_url") => {
            context.require_fresh()?;
            let url = form.get("url").unwrap_or_default().trim();
            (management.change_url(&webhook, url, audit).await, "webhook_url_changed")
        }
        Some("delete") => {
            context.require_fresh()?;
            (management.delete_webhook(&webhook, audit).await, "webhook_deleted")
        }
        Some("rotate") => return rotate(context, form, &webhook, audit).await,
        Some("test") => {
            return replay(context, &webhook, ReplayRequest::TestEvent, audit, "webhook_test_sent").await;
        }
        Some("replay") => {
            let span = read::replay_span(context.lang(), form)?;
            return replay(context, &webhook, span, audit, "webhook_replay_started").await;
        }
        _ => return Err(PageError::no_action()),
    };
    let webhook = changed.map_err(|error| refused(context, error))?;
    let status = WebhookStatus::of(webhook.flags(), false);
    let values = Changed { id: webhook.id.to_string(), url: webhook.url, status };
    Ok(context.done(context.path(), code, &values))
}

async fn rotate(
    context: &Context,
    form: &Params,
    webhook: &Webhook,
    audit: &AuditContext,
) -> Result<Response, PageError> {
    context.require_fresh()?;
    let ports = &context.portal.ports;
    let secret = form.get("secret").map_or_else(|| ports.random.token(), str::to_owned);
    let when = (context.now, overlap(form));
    let rotated = ports.management.rotate_secret(webhook, Secret::new(secret.clone()), when, audit).await;
    rotated.map_err(|error| refused(context, error))?;
    Ok(context.show(&page(context, Some(secret)).await?))
}

async fn replay(
    context: &Context,
    webhook: &Webhook,
    request: ReplayRequest,
    audit: &AuditContext,
    code: &'static str,
) -> Result<Response, PageError> {
    let requested = context.portal.ports.history.request_replay(webhook, request, audit).await;
    let replay = requested.map_err(|error| read::not_replayed(context.lang(), Reader::Developer, error))?;
    Ok(context.done(context.path(), code, &ReplayRow::new(&replay)))
}

fn refused(context: &Context, error: ActionError) -> PageError {
    match action_refusal(context.lang(), &error) {
        Some(why) => PageError::Refused(why),
        None => error.into(),
    }
}
