//! Subscriptions of both families, and the engine that delivers to them.

pub mod engine;

use async_trait::async_trait;
use domain::WebhookId;

/// Who has to know that a webhook was changed, before the change is answered: nothing that follows from what it was
/// before starts after this has returned.
#[async_trait]
pub trait Nudge: Send + Sync + 'static {
    async fn touched(&self, webhook: WebhookId);
}
