//! The listener against peers that are silent, slow, many or hostile: real sockets, short deadlines.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on stops")]

mod caps;
mod deadlines;
mod harness;
mod http2;
mod http2_frames;
mod shutdown;
