//! The operator's API: ingest of changes, administration of tenants, users, clients, subscriptions and webhooks, and
//! the audit.

pub mod admin;
pub mod audit;
mod checks;
mod error;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod http;
pub mod ingest;
pub mod operations;
mod page_size;
pub mod ports;
mod token;

pub use http::{AppState, openapi, router};
pub use token::OperatorToken;
