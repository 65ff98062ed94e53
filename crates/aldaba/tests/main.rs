//! The program's tests: they run the real program over real HTTP, as its operator would. `cargo xtask test`
//! runs them with a PostgreSQL server beside.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test panics at the first thing that goes wrong"
)]
#![allow(clippy::too_many_lines, reason = "a test describes a whole flow")]

mod harness;
mod integration;
