//! Tests of the webhooks crate: the egress against real sockets, the engine in a deterministic simulation and with its real
//! tasks, the management API and the history over the memory store.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on stops")]

mod authorization;
mod egress;
mod engine;
mod fixture;
mod history;
mod management;
mod simulation;
