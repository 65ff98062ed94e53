//! The operator console over real HTTP.

mod accounts;
mod applications;
pub(crate) mod fixture;
mod overview;
mod roles;
mod shell;
mod webhooks;
