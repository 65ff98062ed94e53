//! The developer portal over real HTTP.

mod deliveries;
mod events;
pub(crate) mod fixture;
mod live;
mod notices;
mod reference;
mod team_pages;
mod webhooks;
