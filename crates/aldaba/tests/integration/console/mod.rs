//! The operator console over real HTTP.

pub(crate) mod fixture;
mod shell;
mod webhooks;
