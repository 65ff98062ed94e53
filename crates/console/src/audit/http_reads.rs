//! Who read what: the reads of one tenant, which is chosen first.

use std::collections::{BTreeMap, BTreeSet};

use domain::{ClientId, TenantId, Ticks};
use futures_util::future::try_join_all;
use operator::admin::{AdminError, ReadsRequest, parse_read_target};
use pages::{Format, PageContext, PageError, Params, Response};
use store::{ListCursor, ListQuery};

use super::view_reads::{ChooseTenant, ListedTenant, ReadsView};
use crate::context::Context;

const ROWS: usize = 50;
const CSV_ROWS: usize = 1000;

pub(crate) async fn list(context: &Context) -> Result<Response, PageError> {
    let Some(id) = context.query.get("tenant").map(str::trim).filter(|id| !id.is_empty()) else {
        return choose(context, false).await;
    };
    let admin = context.admin();
    let tenant = match admin.tenant(&TenantId::new(id)).await {
        Err(AdminError::NotFound(_)) => return choose(context, true).await,
        found => found?,
    };
    let rows_max = if context.format == Format::Csv { CSV_ROWS } else { ROWS };
    let page = admin.reads(&tenant.id, &request(&context.query, rows_max)).await?;
    let clients: BTreeSet<ClientId> =
        page.reads.iter().map(|row| ClientId::new(row.client.as_str())).collect();
    let found = try_join_all(clients.iter().map(|client| admin.store.find_client(client))).await?;
    let names: BTreeMap<String, String> =
        found.into_iter().flatten().map(|client| (client.id.to_string(), client.name)).collect();
    Ok(context.show(&ReadsView {
        tenant: tenant.id.to_string(),
        tenant_name: tenant.name,
        is_sandbox: tenant.sandbox_of.is_some(),
        reads: page.reads,
        next: page.next,
        client_names: names,
    }))
}

/// The filters of the page; what cannot be read is left out.
fn request(query: &Params, rows_max: usize) -> ReadsRequest {
    let text = |name| query.get(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    ReadsRequest {
        client: text("client"),
        target: text("resource").as_deref().and_then(parse_read_target),
        company: text("company"),
        since: text("since").as_deref().and_then(Ticks::parse_iso),
        until: text("until").as_deref().and_then(Ticks::parse_iso),
        before: text("before"),
        rows_max: Some(rows_max),
    }
}

async fn choose(context: &Context, is_unknown: bool) -> Result<Response, PageError> {
    let query = ListQuery { after: context.query.get("after").and_then(parse_cursor), rows_max: ROWS };
    let page = context.admin().store.list_tenants(&query).await?;
    let real = page.rows.into_iter().filter(|tenant| tenant.sandbox_of.is_none());
    let tenants = real.map(|tenant| ListedTenant { id: tenant.id.to_string(), name: tenant.name }).collect();
    let next = page.next.map(|cursor| format!("{}.{}", cursor.created_at.0, cursor.id));
    Ok(context.show(&ChooseTenant { tenants, next, is_unknown }))
}

/// `<ticks>.<id>`
fn parse_cursor(text: &str) -> Option<ListCursor> {
    let (ticks, id) = text.split_once('.')?;
    Some(ListCursor { created_at: Ticks(ticks.parse().ok()?), id: id.to_owned() })
}
