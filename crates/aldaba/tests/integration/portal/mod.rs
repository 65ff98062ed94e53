//! The developer portal over real HTTP.

mod deliveries;
mod events;
mod fixture;
mod reference;
mod webhooks;
