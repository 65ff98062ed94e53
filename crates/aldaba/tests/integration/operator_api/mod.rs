//! The operator's API over HTTP: administration, validation and the OpenAPI document.

mod approval;
mod audited_commands;
mod audited_routes;
mod bodies;
mod clients;
mod foreign_ids;
mod named_tokens;
mod openapi;
mod records;
mod roles;
mod subscriptions;
mod tenants;
mod users;
mod webhook_commands;
mod webhook_fixture;
mod webhooks;
