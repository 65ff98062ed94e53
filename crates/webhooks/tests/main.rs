//! Tests of the webhooks crate: the egress against real sockets, the engine in a deterministic simulation and with its real
//! tasks, and the management API over the memory store.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed expectation fails the test")]

mod egress;
mod engine;
mod management;
mod simulation;
