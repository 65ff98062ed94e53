//! The cases, by what they are about.

mod diagnosis;
mod events;
mod fake;
mod feed;
mod filter;
mod inbox;
mod layer;
mod reads;
mod refresh;
mod sign_in;
mod tokens;
mod verification;
