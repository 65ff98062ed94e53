//! Waits for the thing itself, within a bound.

use std::time::Duration;

use web::Stopwatch;

/// Nothing that is waited for here takes this long, even in a debug build on a busy machine.
pub(crate) const WAIT_MAX: Duration = Duration::from_secs(30);
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// Looks again and again until there is something to see.
#[track_caller]
pub(crate) fn wait_for<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    poll_within(WAIT_MAX, look).unwrap_or_else(|| panic!("{what}: not within {} s", WAIT_MAX.as_secs()))
}

pub(crate) fn poll_within<T>(bound: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let watch = Stopwatch::start();
    loop {
        if let Some(seen) = look() {
            return Some(seen);
        }
        if watch.elapsed() > bound {
            return None;
        }
        pause();
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "another process cannot wake us: between two looks there is a pause"
)]
fn pause() {
    std::thread::sleep(BETWEEN_LOOKS);
}
