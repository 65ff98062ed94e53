//! One webhook: how it is doing, why it is behind, and what can be done to it.

use domain::WebhookStatus;
use domain::delivery::ReplayRequest;
use futures_util::try_join;
use operator::admin::{AdminError, FoundWebhook, Permission};
use pages::webhooks::figures::Facts;
use pages::webhooks::read;
use pages::{PageContext, PageError, Params, Response};
use serde::Serialize;

use super::filter::named_rows;
use super::text::WebhooksText;
use super::views::one::WebhookPage;
use crate::context::Context;

pub(crate) async fn get(context: &Context) -> Result<Response, PageError> {
    let ports = &context.console.ports;
    let found = ports.webhook_admin.found(context.segment("webhook")).await?;
    let webhook = &found.webhook;
    let causes = async { Ok(ports.history.backlog(webhook).await?) };
    let content = read::content(context, &ports.history, webhook);
    let (causes, content, rows) =
        try_join!(causes, content, named_rows(context, std::slice::from_ref(&found)))?;
    let listed = rows.into_iter().next().ok_or(PageError::NotFound)?;
    let FoundWebhook { webhook, failing_since, .. } = &found;
    Ok(context.show(&WebhookPage {
        listed,
        facts: Facts::new(webhook),
        causes,
        content,
        disabled_at: failing_since.map(|since| since + ports.history.retry_window()),
        host_mismatch: Some(webhook.host_mismatch.clone()).filter(|why| !why.is_empty()),
    }))
}

/// What an action leaves, for programs.
#[derive(Debug, Serialize)]
struct Changed {
    id: String,
    url: String,
    status: WebhookStatus,
}

pub(crate) async fn post(context: &Context, form: &Params) -> Result<Response, PageError> {
    let (id, by) = (context.segment("webhook"), &context.authority());
    by.require(Permission::Webhooks)?;
    let admin = &context.console.ports.webhook_admin;
    let (changed, code) = match form.get("do") {
        Some("enable") => (admin.enable(id, by).await?, "webhook_enabled"),
        Some("pause") => (admin.disable(id, by).await?, "webhook_paused"),
        Some("delete") => {
            if form.get("confirm").map(str::trim) != Some(id) {
                let why = WebhooksText::of(context.lang()).not_confirmed;
                return Err(PageError::Refused(why.to_owned()));
            }
            (admin.delete(id, by).await?, "webhook_deleted")
        }
        Some("test") => {
            let replay = admin.send_test_event(id, by).await.map_err(not_replayed)?;
            return Ok(context.done(context.path(), "webhook_test_sent", &replay));
        }
        Some("replay") => {
            let ReplayRequest::Span { from, to } = read::replay_span(context.lang(), form)? else {
                return Err(PageError::no_action());
            };
            let replay = admin.replay_span(id, from, to, by).await.map_err(not_replayed)?;
            return Ok(context.done(context.path(), "webhook_replay_started", &replay));
        }
        _ => return Err(PageError::no_action()),
    };
    let values = Changed { id: changed.id, url: changed.url, status: changed.status };
    Ok(context.done(context.path(), code, &values))
}

/// Why a test or a replay was refused. The page exists: what does not is an event to send.
pub(super) fn not_replayed(error: AdminError) -> PageError {
    match error {
        AdminError::NotFound(_) => PageError::Refused(error.to_string()),
        error => error.into(),
    }
}
