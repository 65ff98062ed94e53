//! The management of webhooks, over a store in memory: every operation, every answer.

mod accounting;
mod bodies;
mod deliveries;
mod invoicing;
mod mending;
mod stage;
