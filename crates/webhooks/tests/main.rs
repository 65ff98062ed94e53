//! The stories of the webhooks room: the way out against real sockets, the engine under a fake clock with everything
//! around it scripted, and the management over a store in memory.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a story that cannot go on stops where it stands"
)]

mod egress;
mod management;
mod simulation;
