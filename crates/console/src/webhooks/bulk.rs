//! One action on all webhooks that match a filter: a page that lists exactly the webhooks that it would change, and the result of each.

use domain::ErrorCode;
use domain::delivery::ReplayRequest;
use operator::admin::{AdminError, BulkAction, BulkSelection, Permission};
use pages::webhooks::read;
use pages::{PageContext, PageError, Params, Response};

use super::filter::{filter, named_rows};
use super::views::bulk::{Action, BulkPage, ResultsPage};
use crate::context::Context;

pub(crate) async fn get(context: &Context) -> Result<Response, PageError> {
    let selected = context.console.ports.webhook_admin.select(&filter(context)?).await;
    let (selection, is_too_wide) = match selected {
        Ok(selection) => (selection, false),
        // The page says how to narrow it.
        Err(AdminError::Conflict { code: ErrorCode::TooManyWebhooks, .. }) => {
            (BulkSelection { webhooks: Vec::new(), digest: String::new() }, true)
        }
        Err(error) => return Err(error.into()),
    };
    let webhooks = named_rows(context, &selection.webhooks).await?;
    let named = context.query.get("action").and_then(Action::parse);
    let action = named.unwrap_or(Action::Disable);
    Ok(context.show(&BulkPage { action, digest: selection.digest, webhooks, is_too_wide }))
}

pub(crate) async fn post(context: &Context, form: &Params) -> Result<Response, PageError> {
    let by = &context.authority();
    by.require(Permission::Webhooks)?;
    let action = form.get("do").and_then(Action::parse).ok_or_else(PageError::no_action)?;
    let wanted = match action {
        Action::Enable => BulkAction::Enable,
        Action::Disable => BulkAction::Disable,
        Action::Replay => match read::replay_span(context.lang(), form)? {
            ReplayRequest::Span { from, to } => BulkAction::Replay { from, to },
            _ => return Err(PageError::no_action()),
        },
    };
    let (filter, admin) = (filter(context)?, &context.console.ports.webhook_admin);
    let digest = form.get("digest").unwrap_or_default();
    let done = admin.act_on_all(&filter, digest, wanted, by).await?;
    Ok(context.show(&ResultsPage { action, results: done.results }))
}
