//! What the tests of all crates share: a clock that a test moves, and seeded randomness.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

mod clock;
mod random;

pub use clock::TestClock;
pub use random::SeededRandom;
