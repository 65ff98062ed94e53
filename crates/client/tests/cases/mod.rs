//! The cases, by what they are about.

mod diagnosis;
mod events;
mod fake_network;
mod feed;
mod filter;
mod inbox;
mod layer;
mod reads;
mod refresh;
mod sign_in;
mod tokens;
mod verification;
