//! The conformance suite: memory, SQLite and PostgreSQL all pass the same tests. The folder `durable` adds the tests of the
//! two stores that keep their data when the program ends.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]
#![allow(clippy::too_many_lines, reason = "a test describes a whole flow")]

mod suite;
