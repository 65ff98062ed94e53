//! Webhooks of both families: subscribe, look after, and ask for deliveries again.

mod accounting;
mod history;
mod invoicing;

pub use accounting::{EventDescriptor, Subscription, Webhook, Webhooks};
pub use history::{
    Attempt, AttemptTimes, Deliveries, Delivery, DeliveryStatus, Handshake, Health, History, Lost, Replay,
    RotatedSecret,
};
pub use invoicing::{Action, InvoicingSubscription, InvoicingWebhook, InvoicingWebhooks};
