//! The operator's API over HTTP: what is administered with it works, and it says what it does.

mod bodies;
mod clients;
mod knocks;
mod openapi;
mod subscriptions;
mod tenants;
mod users;
mod webhook_commands;
mod webhooks;
