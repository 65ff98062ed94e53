//! The operator console over real HTTP.

mod audit;
pub(crate) mod fixture;
mod shell;
