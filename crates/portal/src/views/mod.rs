//! The views of the pages: what they show, as markup, JSON and CSV.

mod application_forms;
pub(crate) mod applications;
pub(crate) mod calls;
mod errors;
pub(crate) mod event;
pub(crate) mod events;
pub(crate) mod front;
pub(crate) mod home;
mod home_steps;
pub(crate) mod notices;
pub(crate) mod overlap;
pub(crate) mod reference;
pub(crate) mod requests;
pub(crate) mod sandbox;
pub(crate) mod sandbox_received;
pub(crate) mod sandbox_receiver;
pub(crate) mod sandbox_token;
pub(crate) mod sign_in;
mod sign_in_steps;
pub(crate) mod signature;
pub(crate) mod subscriptions;
pub(crate) mod suspended;
pub(crate) mod team;
pub(crate) mod webhook;
pub(crate) mod webhook_actions;
pub(crate) mod webhooks;
