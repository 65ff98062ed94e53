//! Deliveries, replays and test events of any webhook, through the history port.

use domain::delivery::{
    DELIVERIES_PER_PAGE_MAX, DeliveryName, DeliveryPageQuery, HistoryError, ReplayRequest,
};
use domain::event::{EventKind, parse_semantic_name, semantic_name};
use domain::{ErrorCode, Guid, Resource, Ticks, WebhookId};
use store::StoreError;

use super::{DeliveryJson, DeliveryPageJson, ReplayJson, ReplayPageJson, WebhookAdmin, missing_webhook};
use crate::admin::{AdminError, Authority, Permission, Result};

impl WebhookAdmin {
    /// Events that were sent at least once. Events before their first attempt are counted in the health. `event`: only
    /// those with this semantic name, instead of the query's kind.
    pub async fn deliveries(
        &self,
        id: &str,
        mut query: DeliveryPageQuery,
        event: Option<&str>,
    ) -> Result<DeliveryPageJson> {
        if !(1..=DELIVERIES_PER_PAGE_MAX).contains(&query.page_size) {
            let why =
                format!("a page has 1 to {DELIVERIES_PER_PAGE_MAX} deliveries, not {}", query.page_size);
            return Err(AdminError::Invalid(why));
        }
        if let Some(name) = event {
            query.kind = Some(event_kind(self.find(id).await?.resource, name)?);
        }
        let page = self.history.deliveries(webhook_id(id)?, &query).await;
        Ok(page.map_err(|error| admin_error(error, id))?.into())
    }

    /// A delivery, named by its `OutgoingId` or by its event's number in the log.
    pub async fn delivery(&self, id: &str, name: &str) -> Result<DeliveryJson> {
        let (webhook, parsed) = (webhook_id(id)?, delivery_name(id, name)?);
        let delivery = self.history.delivery(webhook, parsed).await;
        Ok(delivery.map_err(|error| delivery_error(error, id, name))?.into())
    }

    /// Sends one generated event.
    pub async fn send_test_event(&self, id: &str, by: &Authority) -> Result<ReplayJson> {
        self.request_replay(id, ReplayRequest::TestEvent, by, |error| admin_error(error, id)).await
    }

    /// Sends one event again, named by its `OutgoingId` or by its number in the log.
    pub async fn replay_delivery(&self, id: &str, name: &str, by: &Authority) -> Result<ReplayJson> {
        by.require(Permission::Webhooks)?;
        webhook_id(id)?;
        let request = ReplayRequest::Delivery(delivery_name(id, name)?);
        self.request_replay(id, request, by, |error| delivery_error(error, id, name)).await
    }

    /// Sends all events of a span of time again; without an end, up to the end of the log.
    pub async fn replay_span(
        &self,
        id: &str,
        from: Ticks,
        to: Option<Ticks>,
        by: &Authority,
    ) -> Result<ReplayJson> {
        let request = ReplayRequest::Span { from, to };
        self.request_replay(id, request, by, |error| admin_error(error, id)).await
    }

    /// Newest first.
    pub async fn replays(&self, id: &str) -> Result<ReplayPageJson> {
        let replays = self.history.replays(webhook_id(id)?).await.map_err(|error| admin_error(error, id))?;
        Ok(ReplayPageJson { replays: replays.iter().map(ReplayJson::from).collect() })
    }

    async fn request_replay(
        &self,
        id: &str,
        request: ReplayRequest,
        by: &Authority,
        refused: impl FnOnce(HistoryError<StoreError>) -> AdminError,
    ) -> Result<ReplayJson> {
        let context = by.require(Permission::Webhooks)?;
        let replay = self.history.request_replay(webhook_id(id)?, request, context).await;
        Ok(ReplayJson::from(&replay.map_err(refused)?))
    }
}

fn webhook_id(id: &str) -> Result<WebhookId> {
    Guid::parse(id).ok_or_else(|| missing_webhook(id))
}

/// The kind of the event that has this name among those of the webhook's resource.
fn event_kind(resource: Resource, name: &str) -> Result<EventKind> {
    parse_semantic_name(resource, name).ok_or_else(|| {
        let kinds = resource.event_kinds().into_iter();
        let names: Vec<String> = kinds.map(|kind| semantic_name(resource, kind)).collect();
        AdminError::Invalid(format!("event: it must be one of {}; not {name:?}", names.join(", ")))
    })
}

fn delivery_name(id: &str, name: &str) -> Result<DeliveryName> {
    DeliveryName::parse(name).ok_or_else(|| missing_delivery(id, name))
}

fn missing_delivery(id: &str, name: &str) -> AdminError {
    AdminError::NotFound(format!("delivery \"{name}\" of webhook {id}"))
}

fn delivery_error(error: HistoryError<StoreError>, id: &str, name: &str) -> AdminError {
    match error {
        HistoryError::NoDelivery => missing_delivery(id, name),
        HistoryError::EventPruned => AdminError::NotFound(format!("event \"{name}\" in the log any more")),
        other => admin_error(other, id),
    }
}

pub(in crate::admin) fn admin_error(error: HistoryError<StoreError>, id: &str) -> AdminError {
    let refused = |code, why| AdminError::Conflict { code, why };
    match error {
        HistoryError::NoWebhook => missing_webhook(id),
        HistoryError::NoDelivery | HistoryError::EventPruned => {
            AdminError::NotFound(format!("such delivery of webhook {id}"))
        }
        HistoryError::SpanReversed => AdminError::Invalid(error.to_string()),
        HistoryError::NothingToReplay => AdminError::NotFound(format!(
            "event of webhook {id} between from and to that is still in the log"
        )),
        HistoryError::NotSubscribed => {
            refused(ErrorCode::NotSubscribed, format!("webhook {id} does not subscribe to this event"))
        }
        HistoryError::NotEntitled => refused(
            ErrorCode::NotEntitled,
            format!("all events between from and to are older than the contract of webhook {id}"),
        ),
        HistoryError::Inactive(status) => {
            let status = status.as_str();
            refused(
                ErrorCode::Inactive,
                format!("webhook {id} is {status}; events are sent only to an active one"),
            )
        }
        HistoryError::Suspended(suspension) => {
            refused(ErrorCode::Suspended, format!("webhook {id} is suspended: {}", suspension.cause()))
        }
        HistoryError::TooManyReplays(open) => refused(
            ErrorCode::TooManyReplays,
            format!("{open} replays of webhook {id} are running; wait until one has finished"),
        ),
        HistoryError::Store(error) => error.into(),
    }
}
