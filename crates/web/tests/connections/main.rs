//! The listener against peers that are silent, slow, many or hostile: real sockets, short deadlines.

mod caps;
mod deadlines;
mod harness;
mod http2;
mod http2_frames;
mod shutdown;
