//! The engine under a fake clock, with everything around it scripted; the management over a store in memory; and the
//! stories of the way out, told against real sockets.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a story that cannot go on stops where it stands"
)]

mod egress;
mod management;
mod simulation;
