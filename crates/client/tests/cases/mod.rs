//! The tests, by module of the client.

mod api;
mod diagnose;
mod events;
mod fake_network;
mod feed;
mod filter;
mod inbox;
mod layer;
mod session;
mod sign_in;
mod tokens;
mod verify;
