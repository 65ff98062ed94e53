//! The client by itself: signatures, the layer, the inbox, the filter, sign-in and reads over a network that a test
//! makes up. Against the real service it is tested in the program's stories.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a story that cannot go on stops where it stands"
)]

mod cases;
