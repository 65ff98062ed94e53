//! Who was notified of a record: the webhooks of its resource, with their deliveries of its changes.

use domain::{Resource, WebhookStatus};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use serde::Serialize;
use store::{LogEvent, Webhook, WebhookQuery};
use utoipa::ToSchema;

use super::super::webhooks::{Suspensions, WebhookStatusSchema, admin_error};
use super::super::{AdminError, DeliveryJson, Result, WebhookAdmin, WebhookCursor};
use super::RecordName;

/// How many webhooks a page reads; each costs a few reads.
const WEBHOOKS_PER_PAGE_DEFAULT: usize = 20;
const WEBHOOKS_PER_PAGE_MAX: usize = 50;
/// How many of them are read at the same time: most of the time passes on the way to the database.
const WEBHOOKS_AT_ONCE: usize = 4;
/// The newest changes whose deliveries are shown.
const CHANGES_MAX: usize = 20;

/// Which notifications a page shows.
#[derive(Clone, Debug, Default)]
pub struct NotifiedQuery {
    /// Only those of the change with this number; without it, those of the newest 20 changes.
    pub change: Option<u64>,
    pub after: Option<WebhookCursor>,
    pub rows_max: Option<usize>,
}

/// Webhooks of the record's resource, oldest first.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = NotifiedPage)]
pub struct NotifiedPageJson {
    /// Those that were to get one of these changes. A page may have none and still have a next.
    pub webhooks: Vec<NotifiedWebhookJson>,
    /// The changes in question, newest first: their numbers in the log.
    pub changes: Vec<String>,
    /// Send it as `after` to get further webhooks; null at the end.
    #[schema(required = true)]
    pub next: Option<String>,
}

/// A webhook that was notified, or is to be.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = NotifiedWebhook)]
pub struct NotifiedWebhookJson {
    #[schema(format = "uuid", examples("0b9f6c1e-3c58-4d2f-9a51-6f6f2b1d7c40"))]
    pub id: String,
    #[schema(examples("panel-de-ventas"))]
    pub client: String,
    /// The application's name, as its owner wrote it.
    #[schema(examples("Panel de ventas"))]
    pub name: String,
    #[schema(examples("https://app.example/hook"))]
    pub url: String,
    #[schema(value_type = WebhookStatusSchema)]
    pub status: WebhookStatus,
    /// The deliveries of these changes, newest change first.
    pub deliveries: Vec<DeliveryJson>,
}

impl WebhookAdmin {
    /// The webhooks that were to get the changes of a record, and what became of it.
    pub async fn notified(&self, name: &RecordName, query: &NotifiedQuery) -> Result<NotifiedPageJson> {
        let size = query.rows_max.unwrap_or(WEBHOOKS_PER_PAGE_DEFAULT).clamp(1, WEBHOOKS_PER_PAGE_MAX);
        let events = self.changes(name, query.change).await?;
        let of = &name.collection;
        let selected = WebhookQuery {
            tenant: Some(of.tenant.clone()),
            resource: Some(of.resource),
            include_ended: true,
            after: query.after.map(|cursor| (cursor.0, cursor.1)),
            rows_max: size + 1,
            ..WebhookQuery::default()
        };
        let mut found = if events.is_empty() || of.resource == Resource::payroll_companies() {
            Vec::new()
        } else {
            self.store.webhooks(&selected).await?
        };
        let has_more = found.len() > size;
        found.truncate(size);
        let last = found.last().filter(|_| has_more);
        let next = last.map(|last| WebhookCursor(last.created_at, last.id).to_string());
        found.retain(|webhook| events.iter().any(|event| is_meant_for(webhook, event)));
        let suspensions = Suspensions::of(&*self.store, &found).await?;
        let reads = found.into_iter().map(async |webhook| {
            let is_suspended = suspensions.get(&webhook).is_some();
            self.notified_webhook(webhook, is_suspended, &events).await
        });
        let webhooks = stream::iter(reads).buffered(WEBHOOKS_AT_ONCE).try_collect().await?;
        let changes = events.iter().map(|event| event.entry.sequence.to_string()).collect();
        Ok(NotifiedPageJson { webhooks, changes, next })
    }

    async fn notified_webhook(
        &self,
        webhook: Webhook,
        is_suspended: bool,
        events: &[LogEvent],
    ) -> Result<NotifiedWebhookJson> {
        let status = WebhookStatus::of(webhook.flags(), is_suspended);
        let meant: Vec<LogEvent> =
            events.iter().filter(|event| is_meant_for(&webhook, event)).cloned().collect();
        let deliveries = self.history.deliveries_of(&webhook, status, &meant).await;
        let deliveries = deliveries.map_err(|error| admin_error(error, &webhook.id.to_string()))?;
        Ok(NotifiedWebhookJson {
            id: webhook.id.to_string(),
            client: webhook.owner.client.to_string(),
            status,
            name: webhook.name,
            url: webhook.url,
            deliveries: deliveries.into_iter().map(DeliveryJson::from).collect(),
        })
    }

    /// The changes of the record in question, newest first.
    async fn changes(&self, name: &RecordName, change: Option<u64>) -> Result<Vec<LogEvent>> {
        let of = &name.collection;
        if self.store.find_tenant(&of.tenant).await?.is_none() {
            return Err(AdminError::NotFound(format!("tenant \"{}\"", of.tenant)));
        }
        let (before, rows_max) = match change {
            Some(sequence) => (Some(sequence.saturating_add(1)), 1),
            None => (None, CHANGES_MAX),
        };
        let events = self.store.read_record_log(&name.log_query(before, rows_max)).await?;
        match change {
            Some(sequence) if events.first().is_none_or(|event| event.entry.sequence != sequence) => {
                Err(AdminError::NotFound(format!("version {sequence} of record \"{}\"", name.id)))
            }
            None if events.is_empty() => {
                let company = of.company.as_deref();
                let found = self.store.find_record(&of.tenant, company, of.resource, &name.id).await?;
                found.map(|_| events).ok_or_else(|| name.missing())
            }
            _ => Ok(events),
        }
    }
}

/// Whether the webhook subscribes to the event and had a contract before it.
fn is_meant_for(webhook: &Webhook, event: &LogEvent) -> bool {
    webhook.kinds.contains(event.entry.kind)
        && webhook.initial_cursor.is_some_and(|cursor| event.entry.sequence > cursor)
}
