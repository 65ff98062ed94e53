//! The default clock and source of randomness.

use std::time::SystemTime;

use domain::{Clock, Ticks};

/// The clock of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods, reason = "the only place that reads the system clock")]
    fn now(&self) -> Ticks {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Ticks::from_unix_nanos(i128::try_from(since.as_nanos()).unwrap_or(0))
    }
}

/// Cryptographically secure random bytes.
#[cfg(feature = "api")]
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemRandom;

#[cfg(feature = "api")]
impl domain::Random for SystemRandom {
    #[allow(clippy::disallowed_methods, reason = "the only place that reads system randomness")]
    fn fill(&self, bytes: &mut [u8]) {
        // This fails only on a system without randomness, where it is unsafe to continue.
        if aws_lc_rs::rand::fill(bytes).is_err() {
            std::process::abort();
        }
    }
}
