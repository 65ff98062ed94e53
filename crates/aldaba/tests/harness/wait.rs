//! Polls for a condition, with a time limit.

use std::time::Duration;

use web::Stopwatch;

/// Upper limit for every wait, also for a debug build on a busy machine.
pub(crate) const WAIT_MAX: Duration = Duration::from_secs(30);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Polls until the probe returns a value, and panics after [`WAIT_MAX`].
#[track_caller]
pub(crate) fn wait_for<T>(condition: &str, probe: impl FnMut() -> Option<T>) -> T {
    poll_within(WAIT_MAX, probe).unwrap_or_else(|| panic!("{condition}: not within {} s", WAIT_MAX.as_secs()))
}

pub(crate) fn poll_within<T>(limit: Duration, mut probe: impl FnMut() -> Option<T>) -> Option<T> {
    let watch = Stopwatch::start();
    loop {
        if let Some(found) = probe() {
            return Some(found);
        }
        if watch.elapsed() > limit {
            return None;
        }
        pause();
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "another process cannot wake this one, so the poll sleeps between probes"
)]
fn pause() {
    std::thread::sleep(POLL_INTERVAL);
}
