//! The words of the pages, in Spanish and English side by side: one file per area.

pub(crate) mod applications;
pub(crate) mod calls;
pub(crate) mod common;
pub(crate) mod done;
pub(crate) mod errors;
pub(crate) mod events;
pub(crate) mod front;
pub(crate) mod home;
pub(crate) mod notices;
pub(crate) mod oauth;
mod oauth_claims;
pub(crate) mod reference;
pub(crate) mod refusals;
pub(crate) mod sandbox;
pub(crate) mod sign_in;
pub(crate) mod signature;
pub(crate) mod subscriptions;
pub(crate) mod team;
