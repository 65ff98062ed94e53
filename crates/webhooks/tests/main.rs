//! The stories of the webhooks room: the way out against real sockets, and the engine under a fake clock with everything
//! around it scripted.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a story that cannot go on stops where it stands"
)]

mod egress;
mod simulation;
