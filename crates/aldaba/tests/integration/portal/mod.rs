//! The developer portal over real HTTP.

mod events;
mod fixture;
mod notices;
mod reference;
