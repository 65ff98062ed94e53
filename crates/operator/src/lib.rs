//! The operator's side: the changes door, through which records come in, and the administration of
//! tenants, users, clients, subscriptions and webhooks.

pub mod admin;
pub mod audit;
mod checks;
pub mod door;
mod http;
pub mod ports;
mod token;

pub use http::{Operator, openapi, router};
pub use token::OperatorToken;
