//! The program's tests: they run the real program over real HTTP, as its operator would. `cargo xtask test`
//! runs them with a PostgreSQL server beside.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a story that cannot go on stops where it stands"
)]

mod harness;
mod stories;
