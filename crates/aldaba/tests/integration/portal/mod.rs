//! The developer portal over real HTTP.

mod deliveries;
mod events;
pub(crate) mod fixture;
mod notices;
mod reference;
mod sign_in_tester;
mod team_pages;
mod webhooks;
