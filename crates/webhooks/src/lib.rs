//! Subscriptions of both families, and the engine that delivers to them.

pub mod egress;
pub mod engine;
pub mod management;

use domain::WebhookId;

pub use management::openapi;

/// Who has to know at once that a webhook was changed.
pub trait Nudge: Send + Sync + 'static {
    /// The change is committed, and its answer has not been given yet: from when this returns, nothing that was known
    /// of the webhook before may start an attempt.
    fn touched(&self, webhook: WebhookId);
}
