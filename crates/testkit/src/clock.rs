//! A clock that stands still until a test moves it.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use domain::{Clock, Ticks};

/// 2026-01-01T00:00:00Z.
const START_UNIX_SECONDS: i64 = 1_767_225_600;

#[derive(Debug)]
pub struct TestClock(AtomicI64);

impl TestClock {
    pub fn at(now: Ticks) -> Self {
        Self(AtomicI64::new(now.0))
    }

    /// Moves the clock forward and returns its new time.
    pub fn advance(&self, time: Duration) -> Ticks {
        self.set(self.now() + time);
        self.now()
    }

    /// Moves the clock back and returns its new time.
    pub fn rewind(&self, time: Duration) -> Ticks {
        self.set(self.now().minus(time));
        self.now()
    }

    pub fn set(&self, now: Ticks) {
        self.0.store(now.0, Ordering::SeqCst);
    }
}

impl Default for TestClock {
    fn default() -> Self {
        Self::at(Ticks::from_unix_seconds(START_UNIX_SECONDS))
    }
}

impl Clock for TestClock {
    fn now(&self) -> Ticks {
        Ticks(self.0.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_moves_only_when_the_test_moves_it() {
        let clock = TestClock::default();
        let start = clock.now();
        assert_eq!(clock.now(), start);
        assert_eq!(clock.advance(Duration::from_secs(5)), start + Duration::from_secs(5));
        assert_eq!(clock.rewind(Duration::from_secs(7)), start.minus(Duration::from_secs(2)));
        clock.set(start);
        assert_eq!(clock.now(), start);
    }
}
