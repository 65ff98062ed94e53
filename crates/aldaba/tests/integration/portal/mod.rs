//! The developer portal over real HTTP.

mod events;
mod fixture;
mod reference;
mod webhooks;
