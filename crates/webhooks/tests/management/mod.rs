//! The management API over a memory store: every operation and every response.

mod accounting;
mod actions;
mod audit;
mod bodies;
mod deliveries;
mod invoicing;
mod replays_health_secrets;
