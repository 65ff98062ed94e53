//! What the way out does with receivers of every kind, and whom it refuses to call.

mod addresses;
mod answers;
mod connections;
mod desk;
mod server;
mod tls;
