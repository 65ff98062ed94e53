//! Integration tests of webhooks: egress against real sockets, the engine in a simulation with a fake clock, the management
//! API and the history over a memory store.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on stops")]

mod egress;
mod fixture;
mod history;
mod management;
mod simulation;
