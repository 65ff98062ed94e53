//! The operator's API over HTTP: what is administered with it works, and it says what it does.

mod bodies;
mod clients;
mod openapi;
mod subscriptions;
mod tenants;
mod users;
mod webhook_commands;
mod webhook_fixture;
mod webhooks;
