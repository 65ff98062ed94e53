//! The words of the pages of webhooks and deliveries, in Spanish and English side by side.

pub mod deliveries;
pub mod diagnosis;
mod diagnosis_responses;
pub mod service_reason;
pub mod shared;
pub mod suspension;
pub mod webhooks;
