//! The developer portal over real HTTP.

mod deliveries;
mod events;
pub(crate) mod fixture;
pub(crate) mod foreign_ids;
mod fresh_sign_in;
mod live;
mod notices;
mod reference;
mod sandbox;
mod sandbox_receiver;
mod sign_in_tester;
mod team_pages;
mod webhooks;
