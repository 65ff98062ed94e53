//! The history of webhooks: deliveries and their attempts, health, replays and test events. The owner's API calls it after
//! checking the owner; the operator's API, the portal and the console call it for any webhook.

mod backlog;
mod figures;
mod health;
mod page;
mod replay;
mod status;
mod view;

use std::sync::Arc;
use std::time::Duration;

use domain::delivery::{DeliveryName, DeliveryPage, DeliveryPageQuery, DeliveryView};
use domain::outgoing_id::IdKey;
use domain::{Clock, Suspension, WebhookId, WebhookStatus};
use store::{Lane, LogEvent, Store, StoreError, Webhook};

pub use backlog::{BacklogCause, BacklogFacts};
use view::DeliveryViews;

use crate::EngineNotifier;

pub type HistoryError = domain::delivery::HistoryError<StoreError>;
type Result<T> = std::result::Result<T, HistoryError>;

/// As many lanes as a webhook can have.
const LANES_MAX: usize = 2_000;

/// What the history needs from outside.
#[derive(Clone)]
pub struct HistoryPorts {
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    /// Notified of every replay before the response is sent.
    pub notifier: Arc<dyn EngineNotifier>,
}

impl std::fmt::Debug for HistoryPorts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HistoryPorts")
    }
}

/// Reads the history of webhooks and starts replays.
#[derive(Clone, Debug)]
pub struct History {
    ports: HistoryPorts,
    /// How long after its first failure a delivery is retried before the webhook is disabled.
    retry_window: Duration,
}

impl History {
    pub fn new(ports: HistoryPorts, retry_window: Duration) -> Self {
        Self { ports, retry_window }
    }

    pub fn retry_window(&self) -> Duration {
        self.retry_window
    }

    /// Any webhook, also one that is unsubscribed or deleted.
    pub async fn webhook(&self, id: WebhookId) -> Result<Webhook> {
        self.ports.store.find_webhook(id).await?.ok_or(HistoryError::NoWebhook)
    }

    /// Events that were sent at least once, each at its newest attempt or success, newest first.
    pub async fn deliveries(&self, webhook: &Webhook, query: &DeliveryPageQuery) -> Result<DeliveryPage> {
        let views = self.views(webhook).await?;
        page::read(&*self.ports.store, &views, query).await
    }

    /// One delivery with its attempts and the body of its notification.
    pub async fn delivery(&self, webhook: &Webhook, name: DeliveryName) -> Result<DeliveryView> {
        let (sequence, event) = self.find_event(webhook, name).await?;
        let delivery = self.ports.store.delivery_history(webhook.id, sequence).await?;
        if event.is_none() && delivery.delivered.is_none() && delivery.attempts.is_empty() {
            return Err(HistoryError::NoDelivery);
        }
        let views = self.views(webhook).await?;
        let body = event.as_ref().map(|event| views.body(event));
        Ok(DeliveryView { body, ..views.view(delivery, event.as_ref()) })
    }

    /// The deliveries of these events of the webhook's resource, in their order, without bodies. The caller knows the
    /// webhook's status, because it reads many webhooks.
    pub async fn deliveries_of(
        &self,
        webhook: &Webhook,
        status: WebhookStatus,
        events: &[LogEvent],
    ) -> Result<Vec<DeliveryView>> {
        if events.is_empty() {
            return Ok(Vec::new());
        }
        let store = &self.ports.store;
        let sequences: Vec<u64> = events.iter().map(|event| event.entry.sequence).collect();
        let (lanes, deliveries) = tokio::try_join!(
            store.lanes(webhook.id, LANES_MAX),
            store.find_deliveries(webhook.id, &sequences)
        )?;
        let views = self.views_with(webhook, status, lanes);
        let view = |(delivery, event)| views.view(delivery, Some(event));
        Ok(deliveries.into_iter().zip(events).map(view).collect())
    }

    /// The webhook's status and, if its owner's access does not stand, why.
    async fn status(&self, webhook: &Webhook) -> Result<(WebhookStatus, Option<Suspension>)> {
        let access = self.ports.store.owner_access(&webhook.owner).await?;
        let suspension = access.suspension(webhook.resource.area());
        let status = WebhookStatus::of(webhook.flags(), suspension.is_some());
        Ok((status, suspension.filter(|_| status == WebhookStatus::Suspended)))
    }

    async fn views<'a>(&self, webhook: &'a Webhook) -> Result<DeliveryViews<'a>> {
        let (status, _) = self.status(webhook).await?;
        let lanes = self.ports.store.lanes(webhook.id, LANES_MAX).await?;
        Ok(self.views_with(webhook, status, lanes))
    }

    fn views_with<'a>(
        &self,
        webhook: &'a Webhook,
        status: WebhookStatus,
        lanes: Vec<Lane>,
    ) -> DeliveryViews<'a> {
        DeliveryViews {
            webhook,
            status,
            lanes,
            ids: IdKey::new(&self.ports.store.outgoing_id_key(webhook.id)),
        }
    }

    /// The sequence that a name stands for, and its event where the log still has it. Only events after the webhook's
    /// first contract were ever meant for it.
    async fn find_event(&self, webhook: &Webhook, name: DeliveryName) -> Result<(u64, Option<LogEvent>)> {
        let ids = IdKey::new(&self.ports.store.outgoing_id_key(webhook.id));
        let sequence = match name {
            DeliveryName::Outgoing(id) => ids.sequence_from_id(id),
            DeliveryName::Sequence(sequence) => Some(sequence),
        };
        let is_entitled =
            |sequence: &u64| webhook.initial_cursor.is_some_and(|initial_cursor| *sequence > initial_cursor);
        let sequence = sequence.filter(is_entitled).ok_or(HistoryError::NoDelivery)?;
        let found =
            self.ports.store.find_events(&webhook.owner.tenant, webhook.resource, &[sequence]).await?;
        let event = found.into_iter().find(|event| webhook.kinds.contains(event.entry.kind));
        if let (DeliveryName::Outgoing(id), Some(event)) = (name, &event)
            && ids.event_id(sequence, event.entry.conversation) != id
        {
            return Err(HistoryError::NoDelivery);
        }
        Ok((sequence, event))
    }
}
