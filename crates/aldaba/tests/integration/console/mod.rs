//! The operator console over real HTTP.

mod accounts;
mod applications;
mod audit;
pub(crate) mod fixture;
mod overview;
mod roles;
mod shell;
