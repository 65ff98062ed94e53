//! Waits for a condition, with a bound.

use std::time::{Duration, Instant};

const TIME_MAX: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(5);

/// Asks until there is an answer. Fails with the condition's description after 30 s.
#[track_caller]
#[allow(clippy::disallowed_methods, reason = "the condition is in another thread or process")]
pub fn wait_for<T>(condition: &str, mut probe: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = probe() {
            return found;
        }
        assert!(start.elapsed() < TIME_MAX, "not within {TIME_MAX:?}: {condition}");
        std::thread::sleep(PAUSE);
    }
}
