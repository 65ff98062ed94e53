//! The filter of webhooks in the URL, and the names that lists of webhooks show.

use std::collections::{BTreeMap, BTreeSet};

use domain::{ClientId, TenantId};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use operator::admin::{FoundWebhook, WebhookFamily, WebhookFilter, WebhookState, subscribable_resources};
use pages::webhooks::row::WebhookRow;
use pages::{PageError, PageRequest};
use serde::Serialize;
use store::{Store, receiver_host};

use super::text::WebhooksText;
use crate::context::Context;

/// The parameters of a filter.
pub(super) const FILTERS: [&str; 7] = ["host", "tenant", "client", "team", "state", "family", "resource"];
/// Names that are read at once.
const READS_AT_ONCE: usize = 8;

/// What the URL asks for. A condition that cannot be understood is refused: leaving it out would show, and touch, too much.
pub(super) fn filter(context: &PageRequest) -> Result<WebhookFilter, PageError> {
    let query = &context.query;
    let text = |name| query.get(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    let wrong = || PageError::Refused(WebhooksText::of(context.lang()).wrong_filter.to_owned());
    let resource = |name: &str| subscribable_resources().find(|one| one.as_str() == name);
    Ok(WebhookFilter {
        host: text("host"),
        tenant: text("tenant"),
        client: text("client"),
        team: text("team"),
        family: query.get("family").map(|name| WebhookFamily::parse(name).ok_or_else(wrong)).transpose()?,
        resource: query.get("resource").map(|name| resource(name).ok_or_else(wrong)).transpose()?,
        state: query.get("state").map(|name| WebhookState::parse(name).ok_or_else(wrong)).transpose()?,
    })
}

/// A webhook in a list.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListedRow {
    #[serde(flatten)]
    pub(super) row: WebhookRow,
    /// Of the receiver.
    pub(super) host: String,
}

/// The rows with the names of their tenants and clients.
pub(super) async fn named_rows(
    context: &Context,
    found: &[FoundWebhook],
) -> Result<Vec<ListedRow>, PageError> {
    let store = &*context.console.ports.store;
    let owners = || found.iter().map(|one| &one.webhook.owner);
    let tenants = tenant_names(store, owners().map(|owner| owner.tenant.clone()).collect()).await?;
    let clients = client_names(store, owners().map(|owner| owner.client.clone()).collect()).await?;
    let row = |one: &FoundWebhook| {
        let owner = &one.webhook.owner;
        let names = (clients.get(&owner.client).cloned(), tenants.get(&owner.tenant).cloned());
        ListedRow {
            host: receiver_host(&one.webhook.url),
            row: WebhookRow::of_operator(one, names.0, names.1),
        }
    };
    Ok(found.iter().map(row).collect())
}

async fn tenant_names(
    store: &dyn Store,
    ids: BTreeSet<TenantId>,
) -> Result<BTreeMap<TenantId, String>, PageError> {
    let names = stream::iter(ids).map(|id| async move {
        let tenant = store.find_tenant(&id).await?;
        Ok::<_, PageError>(tenant.map(|tenant| (id, tenant.name)))
    });
    let names: Vec<Option<(TenantId, String)>> = names.buffered(READS_AT_ONCE).try_collect().await?;
    Ok(names.into_iter().flatten().collect())
}

async fn client_names(
    store: &dyn Store,
    ids: BTreeSet<ClientId>,
) -> Result<BTreeMap<ClientId, String>, PageError> {
    let names = stream::iter(ids).map(|id| async move {
        let client = store.find_client(&id).await?;
        Ok::<_, PageError>(client.map(|client| (id, client.name)))
    });
    let names: Vec<Option<(ClientId, String)>> = names.buffered(READS_AT_ONCE).try_collect().await?;
    Ok(names.into_iter().flatten().collect())
}
