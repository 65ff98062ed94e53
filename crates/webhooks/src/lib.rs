//! Webhooks of both families: managing subscriptions, the delivery engine, and the egress that sends requests to
//! receivers. Depends on the crates store, web and domain only.

pub mod egress;
pub mod engine;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
pub mod history;
pub mod management;
mod receiver_address;

use async_trait::async_trait;
use domain::WebhookId;

pub use management::{asyncapi, openapi};
pub use receiver_address::{AddressedReceiver, ReceiverAddresses};

/// Tells the delivery engine that a webhook has changed. Callers await it before they respond: once it has
/// returned, the engine starts no attempt from the webhook's old state.
#[async_trait]
pub trait EngineNotifier: Send + Sync + 'static {
    async fn webhook_changed(&self, webhook: WebhookId);
}
