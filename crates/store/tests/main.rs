//! The conformance suite: one set of stories that memory, SQLite and PostgreSQL all pass whole, and a
//! section for the two that keep what they are given when the program ends.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a story that cannot go on stops where it stands"
)]

mod suite;
