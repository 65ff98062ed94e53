//! The program's tests: they run the real program over real HTTP, as its operator would. `cargo xtask test` runs
//! them with a PostgreSQL server beside.

mod harness;
mod stories;
