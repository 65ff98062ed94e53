//! The stories of the webhooks room, told against real sockets.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a story that cannot go on stops where it stands"
)]

mod egress;
