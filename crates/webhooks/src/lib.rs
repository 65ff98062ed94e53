//! Subscriptions of both families, the engine that delivers to them, and the one way out to receivers. It may use the
//! store, the web and the domain, and none of its neighbours.

pub mod egress;
pub mod engine;
pub mod history;
pub mod management;

use async_trait::async_trait;
use domain::WebhookId;

pub use management::{asyncapi, openapi};

/// Who has to know that a webhook was changed, before the change is answered: nothing that follows from what it was
/// before starts after this has returned.
#[async_trait]
pub trait Nudge: Send + Sync + 'static {
    async fn touched(&self, webhook: WebhookId);
}
