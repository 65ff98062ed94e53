//! The list of all webhooks.

use operator::admin::WebhookCursor;
use pages::{Format, PageContext, PageError, Response};
use store::TEAM_WEBHOOKS_MAX;

use super::filter::{filter, named_rows};
use super::views::list::WebhooksPage;
use crate::context::Context;

const ROWS: usize = 25;
/// The pages of the store that one CSV file holds.
const CSV_PAGES: usize = 5;

pub(crate) async fn list(context: &Context) -> Result<Response, PageError> {
    let (filter, admin) = (filter(context)?, &context.console.ports.webhook_admin);
    let after = context.query.get("after").map(str::parse::<WebhookCursor>).transpose();
    let mut after = after.map_err(PageError::Refused)?;
    let (reads, size) =
        if context.format == Format::Csv { (CSV_PAGES, TEAM_WEBHOOKS_MAX) } else { (1, ROWS) };
    let mut found = Vec::new();
    for _ in 0..reads {
        let page = admin.search(&filter, after, size).await?;
        found.extend(page.rows);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let webhooks = named_rows(context, &found).await?;
    Ok(context.show(&WebhooksPage { webhooks, next: after.map(|next| next.to_string()) }))
}
