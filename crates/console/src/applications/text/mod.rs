//! The words of the area, in Spanish and English side by side.

pub(super) mod area;
pub(super) mod clients;
pub(super) mod done;
pub(super) mod refusals;
pub(super) mod requests;
pub(super) mod subscriptions;
pub(super) mod teams;
pub(super) mod tokens;
