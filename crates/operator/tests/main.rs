//! The operator's API in process, over a store in memory.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on stops")]

mod administration;
