//! The operator console over real HTTP.

mod accounts;
pub(crate) mod fixture;
mod shell;
