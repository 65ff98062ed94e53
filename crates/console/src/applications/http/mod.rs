//! The handlers of the area: extract, call the administration, render.

pub(super) mod client;
pub(super) mod clients;
mod form;
mod lists;
pub(super) mod requests;
pub(super) mod subscription;
pub(super) mod subscriptions;
pub(super) mod team;
pub(super) mod teams;
pub(super) mod tokens;
