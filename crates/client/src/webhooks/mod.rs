//! Webhook management for both families: subscriptions, delivery history, health and replays.

mod accounting;
mod history;
mod invoicing;

pub use accounting::{EventDescriptor, Subscription, Webhook, Webhooks};
pub use history::{
    Attempt, AttemptTimes, Deliveries, Delivery, DeliveryStatus, EventGap, Handshake, History, Replay,
    RotatedSecret, WebhookHealth,
};
pub use invoicing::{InvoicingAction, InvoicingSubscription, InvoicingWebhook, InvoicingWebhooks};
