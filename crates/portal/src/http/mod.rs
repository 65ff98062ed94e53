//! The handlers of the pages: each reads what the page shows and calls one function per action.

pub(crate) mod applications;
pub(crate) mod calls;
pub(crate) mod deliveries;
pub(crate) mod errors;
pub(crate) mod events;
pub(crate) mod front;
pub(crate) mod home;
pub(crate) mod notices;
pub(crate) mod reference;
pub(crate) mod sandbox;
pub(crate) mod sandbox_receiver;
pub(crate) mod sign_in;
pub(crate) mod signature;
pub(crate) mod subscriptions;
pub(crate) mod team;
pub(crate) mod webhook;
pub(crate) mod webhooks;
