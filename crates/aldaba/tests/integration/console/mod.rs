//! The operator console over real HTTP.

mod applications;
pub(crate) mod fixture;
mod operations;
mod path_prefix;
mod shell;
