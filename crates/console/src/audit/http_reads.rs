//! Who read what: the reads of one tenant, which is chosen first.

use std::collections::{BTreeMap, BTreeSet};

use domain::{ClientId, TenantId, Ticks};
use futures_util::future::try_join_all;
use operator::admin::{AdminError, ReadPageJson, ReadsRequest, parse_read_target};
use pages::{Format, PageContext, PageError, Params, Response};
use store::ListQuery;

use super::view_reads::{ChooseTenant, ListedTenant, ReadsView};
use crate::context::Context;

const ROWS: usize = 50;
/// How many days, clients, resources and companies one CSV file holds, and how many are read at once.
const CSV_ROWS: usize = 10_000;
const CSV_READ: usize = 1_000;

pub(crate) async fn list(context: &Context) -> Result<Response, PageError> {
    let Some(id) = context.query.get("tenant").map(str::trim).filter(|id| !id.is_empty()) else {
        return choose(context, false).await;
    };
    let admin = context.admin();
    let tenant = match admin.tenant(&TenantId::new(id)).await {
        Err(AdminError::NotFound(_)) => return choose(context, true).await,
        found => found?,
    };
    let rows_max = if context.format == Format::Csv { CSV_READ } else { ROWS };
    let (page, is_refused) = match request(&context.query, rows_max) {
        Some(request) => (read(context, &tenant.id, request).await?, false),
        None => (ReadPageJson { reads: Vec::new(), next: None }, true),
    };
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
        is_refused,
    }))
}

/// A page, or as many pages as a file holds.
async fn read(
    context: &Context,
    tenant: &TenantId,
    mut request: ReadsRequest,
) -> Result<ReadPageJson, PageError> {
    let admin = context.admin();
    let mut page = admin.reads(tenant, &request).await?;
    while context.format == Format::Csv && page.reads.len() < CSV_ROWS && page.next.is_some() {
        request.before = page.next.take();
        let more = admin.reads(tenant, &request).await?;
        page.reads.extend(more.reads);
        page.next = more.next;
    }
    Ok(page)
}

/// The filters of the page; none if one of them cannot be read: leaving it out would show too much.
fn request(query: &Params, rows_max: usize) -> Option<ReadsRequest> {
    let text = |name| query.get(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    let time = |name| text(name).map(|text| Ticks::parse_iso(&text).ok_or(())).transpose().ok();
    let target = text("resource").map(|name| parse_read_target(&name).ok_or(())).transpose().ok()?;
    Some(ReadsRequest {
        client: text("client"),
        target,
        company: text("company"),
        since: time("since")?,
        until: time("until")?,
        before: text("before"),
        rows_max: Some(rows_max),
    })
}

async fn choose(context: &Context, is_unknown: bool) -> Result<Response, PageError> {
    let query =
        ListQuery { after: context.query.get("after").and_then(|text| text.parse().ok()), rows_max: ROWS };
    let page = context.admin().store.list_tenants(&query).await?;
    let real = page.rows.into_iter().filter(|tenant| tenant.sandbox_of.is_none());
    let tenants = real.map(|tenant| ListedTenant { id: tenant.id.to_string(), name: tenant.name }).collect();
    let next = page.next.map(|cursor| cursor.to_string());
    Ok(context.show(&ChooseTenant { tenants, next, is_unknown }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filter_that_cannot_be_read_is_refused() {
        let read = |query: &str| request(&Params::parse(query.as_bytes()), 7);
        let found =
            read("resource=accounting/customers&since=2026-11-15&until=2026-11-16&company=&client=panel");
        let found = found.unwrap();
        assert_eq!(found.since, Ticks::parse_iso("2026-11-15T00:00:00Z"));
        assert!(found.since.is_some() && found.until.is_some() && found.target.is_some());
        assert_eq!((found.client.as_deref(), found.company), (Some("panel"), None));
        for wrong in ["resource=accounting/jounals", "since=15/11/2026", "until=yesterday"] {
            assert!(read(wrong).is_none(), "{wrong}");
        }
    }
}
