//! What the operator's API needs from its neighbours. The program supplies it, so that this crate imports none of them.

use async_trait::async_trait;
use domain::WebhookId;
use domain::delivery::{
    DeliveryName, DeliveryPage, DeliveryPageQuery, DeliveryView, HistoryError, ReplayRequest, ReplayView,
    WebhookHealth,
};
use store::{AuditContext, StoreError};

pub type HistoryResult<T> = Result<T, HistoryError<StoreError>>;

/// The history of any webhook: its deliveries, health and replays.
#[async_trait]
pub trait WebhookHistory: Send + Sync + 'static {
    /// Over the last 24 hours.
    async fn health(&self, webhook: WebhookId) -> HistoryResult<WebhookHealth>;

    async fn deliveries(&self, webhook: WebhookId, query: &DeliveryPageQuery) -> HistoryResult<DeliveryPage>;

    async fn delivery(&self, webhook: WebhookId, name: DeliveryName) -> HistoryResult<DeliveryView>;

    /// Newest first.
    async fn replays(&self, webhook: WebhookId) -> HistoryResult<Vec<ReplayView>>;

    /// Starts a replay, or sends a test event, for the operator.
    async fn request_replay(
        &self,
        webhook: WebhookId,
        request: ReplayRequest,
        context: &AuditContext,
    ) -> HistoryResult<ReplayView>;
}
