//! The machine's own clock and randomness, for who hands in no others.

use std::time::SystemTime;

use domain::{Clock, Ticks};

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods, reason = "this is the clock that everything else is given")]
    fn now(&self) -> Ticks {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Ticks::from_unix_nanos(i128::try_from(since.as_nanos()).unwrap_or(0))
    }
}

/// The machine's randomness.
#[cfg(feature = "api")]
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemRandom;

#[cfg(feature = "api")]
impl domain::Random for SystemRandom {
    #[allow(clippy::disallowed_methods, reason = "this is the randomness that everything else is given")]
    fn fill(&self, bytes: &mut [u8]) {
        // It fails only where the machine has no randomness at all, and then nothing may go on.
        if aws_lc_rs::rand::fill(bytes).is_err() {
            std::process::abort();
        }
    }
}
