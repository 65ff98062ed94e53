//! The operator console over real HTTP.

mod accounts;
mod applications;
mod audit;
mod data;
pub(crate) mod fixture;
mod foreign_forms;
mod foreign_ids;
mod operations;
mod overview;
mod path_prefix;
mod roles;
mod shell;
mod webhooks;
