//! The webhooks of the team's clients.

use std::collections::{BTreeMap, BTreeSet};

use domain::{TenantId, WebhookStatus};
use futures_util::future::try_join_all;
use operator::admin::{TeamWebhookFilter, WebhookCursor};
use pages::webhooks::row::WebhookRow;
use pages::{Format, PageContext, PageError, Response};
use store::{ListQuery, TEAM_WEBHOOKS_MAX};

use crate::context::Context;
use crate::views::webhooks::WebhooksPage;

/// The pages of the store that one CSV file holds.
const CSV_PAGES: usize = 5;

pub(crate) async fn list(context: &Context) -> Result<Response, PageError> {
    let (developer, team) = (context.developer(), context.team.id.as_str());
    let clients = developer.clients(team, &ListQuery::default()).await?.rows;
    let is_csv = context.format == Format::Csv;
    let (mut filter, mut rows) = (filter(context)?, Vec::new());
    if is_csv {
        filter.rows_max = Some(TEAM_WEBHOOKS_MAX);
    }
    for _ in 0..if is_csv { CSV_PAGES } else { 1 } {
        let page = developer.webhooks(team, &filter).await?;
        rows.extend(page.rows.iter().map(|one| {
            let client = clients.iter().find(|client| client.id == one.webhook.owner.client);
            WebhookRow::new(one, client.map(|client| client.name.clone()))
        }));
        filter.after = page.next;
        if filter.after.is_none() {
            break;
        }
    }
    if !is_csv {
        name_tenants(context, &mut rows).await?;
    }
    let clients = clients.iter().map(|client| (client.id.to_string(), client.name.clone())).collect();
    Ok(context.show(&WebhooksPage {
        webhooks: rows,
        next: filter.after.map(|next| next.to_string()),
        clients,
    }))
}

/// Looks up the names of the tenants whose data the developer may see.
async fn name_tenants(context: &Context, rows: &mut [WebhookRow]) -> Result<(), PageError> {
    let store = &context.portal.ports.store;
    let seen = rows.iter().filter(|row| row.is_visible());
    let ids: BTreeSet<String> = seen.map(|row| row.tenant.clone()).collect();
    let named = try_join_all(ids.into_iter().map(|id| async move {
        let tenant = store.find_tenant(&TenantId::new(id.as_str())).await?;
        Ok::<_, PageError>(tenant.map(|tenant| (id, tenant.name)))
    }));
    let names: BTreeMap<String, String> = named.await?.into_iter().flatten().collect();
    for row in rows.iter_mut().filter(|row| row.is_visible()) {
        row.tenant_name = names.get(&row.tenant).cloned();
    }
    Ok(())
}

fn filter(context: &Context) -> Result<TeamWebhookFilter, PageError> {
    let query = &context.query;
    let text = |name| query.get(name).map(|text| text.trim().to_owned());
    let status = query.get("state").and_then(WebhookStatus::parse);
    let after: Option<WebhookCursor> =
        query.get("after").map(str::parse).transpose().map_err(PageError::Refused)?;
    Ok(TeamWebhookFilter {
        event: None,
        client: text("client"),
        tenant: text("tenant"),
        url_contains: text("url"),
        status,
        only_failing: query.is_set("failing"),
        include_ended: status.is_some_and(WebhookStatus::is_final),
        after,
        rows_max: None,
    })
}
